"""`roost publish` and `roost record` against a running server: what is in the files, when it was, and what they end with."""

import asyncio
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import recorded
from cli_parts import cli, environment
from limits import FULL, LimitedAsyncTest, LimitedTest, full
from lossy_relay import LossyRelay
from recording_parts import APART, LONG, Synchrony, publisher, published
from roost import BINARY, Roost, token
from signaller import hear, say

HERE = pathlib.Path(__file__).parent
PICTURES = ["-f", "lavfi", "-i", "testsrc=size=320x240:rate=25:duration=3"]
SOUND = ["-f", "lavfi", "-i", "sine=frequency=440:duration=3"]
# No two frames of it are the same.
SWEEP = ["-f", "lavfi", "-i", "aevalsrc=0.5*sin(2*PI*(300+200*t)*t):s=16000:d=3"]
KEY = 25
"""Pictures from one key frame to the next."""
FILLED = 15
"""Frames of silence that may stand in sound of which nothing is lost: a machine that stands still for 300 ms."""
VP8, OPUS = ["-c:v", "libvpx", "-g", "25", "-b:v", "400k"], ["-c:a", "libopus"]
VP9 = ["-c:v", "libvpx-vp9", "-pix_fmt", "yuv420p", "-deadline", "realtime", "-cpu-used", "8", "-g", "25", "-b:v", "400k"]
H264 = ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "veryfast", "-bf", "0", "-g", "25"]
AV1 = ["-pix_fmt", "yuv420p", "-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-lag-in-frames", "0", "-g", "25", "-b:v", "400k"]
# Frames of 20 ms, as they are sent.
PCMU, PCMA = (["-af", "aresample=8000,asetnsamples=160", "-c:a", each] for each in ("pcm_mulaw", "pcm_alaw"))
G722 = ["-ar", "16000", "-c:a", "g722"]
# A flash and a beep at each full second, in step.
FLASH = ["-f", "lavfi", "-i", "color=c=0x282828:size=320x240:rate=25:duration=10,drawbox=w=iw:h=ih:color=white:t=fill:enable='lt(mod(t,1),0.1)'",
         "-f", "lavfi", "-i", "aevalsrc='0.6*sin(2*PI*1000*t)*lt(mod(t,1),0.1)':s=48000:d=10"]
CLIPS = {
    "vp8.ivf": PICTURES + VP8, "sound.ogg": SOUND + OPUS, "both.webm": PICTURES + SOUND + VP8 + OPUS, "vp9.webm": PICTURES + VP9,
    "h264.mkv": PICTURES + H264, "av1.ivf": PICTURES + AV1, "av1.webm": PICTURES + AV1, "pcmu.mkv": SWEEP + PCMU, "pcma.mkv": SWEEP + PCMA,
    "g722.mkv": SWEEP + G722,
}
KINDS = {name: [kind for kind, option in [("video", "-c:v"), ("audio", "-c:a")] if option in words] for name, words in CLIPS.items()}
# Units that say nothing of a picture: parameter sets, which a file keeps in front, and AV1's delimiters.
UNITS = {"h264": "7-9", "av1": "2"}
OTHERS = {"flash.webm": FLASH + VP8 + OPUS}


class Clips:
    """Files to publish, made once."""

    folder = None

    @classmethod
    def path(cls, name):
        if cls.folder is None:
            cls.folder = tempfile.TemporaryDirectory(prefix="roost-clips-")
        path = pathlib.Path(cls.folder.name) / name
        if not path.exists():
            done = recorded.run("ffmpeg", "-v", "error", *(CLIPS | OTHERS)[name], path)
            assert done.returncode == 0, done.stderr.decode()
        return path


@contextlib.contextmanager
def directory():
    folder = tempfile.mkdtemp(prefix="roost-media-")
    try:
        yield pathlib.Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Running:
    """`with Running(roost, "record", …) as it:` a command that goes on; it has begun once it says so."""

    def __init__(self, roost, *words, input=None, **more):
        self._words = [BINARY, *map(str, words), "--room", "demo", "--json"]
        if "--token" not in words:
            self._words += ["--dev"]
        self._words += ["--url", f"http://{roost.public}"]
        self._input, self._environment = input, environment(**more)

    def __enter__(self):
        self.child = subprocess.Popen(self._words, stdin=self._input or subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      text=True, env=self._environment)
        self.line = self.child.stderr.readline()
        if self.child.poll() not in (None, 0):
            raise RuntimeError(self.line + self.child.stderr.read())
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.communicate()

    def interrupt(self, number=signal.SIGINT):
        self.child.send_signal(number)
        return self.ended()

    def ended(self, code=0, seconds=40):
        """What it prints at its end."""
        output, errors = self.child.communicate(timeout=seconds)
        assert self.child.returncode == code, (self.child.returncode, output, errors)
        return json.loads(output)


def publish(roost, name, *words):
    """Publishes a clip to its end: what it says of its tracks."""
    done = cli("publish", Clips.path(name), "--room", "demo", "--dev", "--url", f"http://{roost.public}", "--json", *words, seconds=40)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def hashes(path, kind, units=None):
    """A checksum of each frame of a file, as it is stored; without units of these types."""
    more = ["-bsf:v", f"filter_units=remove_types={units}"] if units else []
    done = recorded.run("ffmpeg", "-v", "error", "-i", path, "-map", f"0:{kind[0]}", "-c", "copy", *more, "-f", "framehash", "-hash", "md5", "-",
                        text=True)
    assert done.returncode == 0, done.stderr
    return [line.split(",")[5].strip() for line in done.stdout.splitlines() if not line.startswith("#")]


def written(manifest, folder, kind, number=0):
    """The only file of a track."""
    track = [each for each in manifest["tracks"] if each["kind"] == kind][number]
    assert len(track["files"]) == 1, track
    return folder / track["files"][0]["name"]


class EqualTest(LimitedTest):
    """What is published is recorded again, frame by frame as it was."""

    seconds = 120

    def same(self, clip, file, kind, cut):
        loss = cut > 0
        units = UNITS.get(clip.split(".")[0])
        sent, got = hashes(Clips.path(clip), kind, units), hashes(file, kind, units)
        said = (clip, kind, len(sent), [sent.index(each) if each in sent else None for each in got])
        if kind == "audio":
            # Silence in front makes files of one participant begin together; behind that it stands for what came too late.
            known = set(sent)
            begins = next((place for place, each in enumerate(got) if each in known), len(got))
            filled = sum(each not in known for each in got[begins:])
            if not loss:
                self.assertLessEqual(filled, FILLED, said)
            got = [each for each in got if each in known]
        if kind == "video":
            got = self.shown_once(got, sent, said)
        # Behind the end of a track nothing shows a subscriber that its last packets are missing.
        while cut > 0 and got[-1] != sent[-1]:
            sent, cut = sent[:-1], cut - 1
        # Sound that came before there was a slot for it isn't sent again, and of pictures the next key frame is the first then.
        late = range(17 if loss else 1) if kind == "audio" else (0, KEY)
        early = next((count for count in late if got == sent[count:]), 0)
        self.assertEqual(got, sent[early:], said)
        if early:
            print(f"{clip}: its first {early} frames came before there was a slot")
        return len(got)

    def shown_once(self, got, sent, said):
        """Pictures without those that a slot shows once more: the first one, from the beginning of the file on, and, where the server's
        estimate of the path paused it for a moment, all since the last key frame."""
        keys, shown, repeated = set(sent[::KEY]), [], 0
        for each in got:
            if each in keys and each in shown:
                place = shown.index(each)
                repeated, shown = repeated + len(shown) - place, shown[:place]
            shown.append(each)
        self.assertLessEqual(repeated, KEY, said)
        if repeated > 1:
            print(f"{said[0]}: {repeated} pictures stand twice")
        return shown

    def hold(self, names, *more, loss=0, together=False):
        """`together`: all at the same time."""
        names = list(CLIPS) if FULL and not together else names
        for name in names:
            Clips.path(name)
        with directory() as folder, Roost() as roost, LossyRelay(roost.media_port, loss, back=loss, whole=20) as relay:
            way = ["--media", f"127.0.0.1:{relay.port}"] if loss else []
            with Running(roost, "record", "--out", folder / "take", *way, *more) as recorder:
                again = 0
                with concurrent.futures.ThreadPoolExecutor(len(names) if together else 1) as pool:
                    for said in pool.map(lambda each: publish(roost, each[1], *way, "--identity", f"ada-{each[0]}"), enumerate(names)):
                        again += sum(track["sentAgain"] for track in said["tracks"])
                time.sleep(1.5)
                made = recorder.interrupt()
            self.assertEqual(made["reason"], "stopped")
            self.assertEqual(json.loads((folder / "take/manifest.json").read_text()), made)
            identities = {each["id"]: each["identity"] for each in made["participants"]}
            counts = []
            for number, name in enumerate(names):
                theirs = {**made, "tracks": [each for each in made["tracks"] if identities[each["participant"]] == f"ada-{number}"]}
                counts += [f"{self.same(name, written(theirs, folder / 'take', kind), kind, 3 if loss else 0)} frames of {name}" for kind in KINDS[name]]
            print(f"{', '.join(counts)}: equal; {relay.lost} packets lost, {again} sent again by the publisher")
            if loss:
                self.assertGreater(relay.lost, 8)
                self.assertGreater(again, 4)
            return {pathlib.Path(file["name"]).suffix for track in made["tracks"] for file in track["files"]}

    def test_in_ivf_and_ogg(self):
        self.assertEqual(self.hold(["vp8.ivf", "sound.ogg", "h264.mkv"]), {".ivf", ".ogg", ".mkv"})

    def test_av1_and_the_sound_of_telephones(self):
        self.assertEqual(self.hold(["av1.ivf", "av1.webm", "pcmu.mkv", "pcma.mkv", "g722.mkv"], together=True), {".ivf", ".mkv"})

    def test_in_webm_with_losses_on_all_ways(self):
        self.assertEqual(self.hold(["both.webm", "h264.mkv"], "--webm", loss=0.05), {".webm", ".mkv"})


class SyncTest(LimitedTest):
    seconds = 200

    def hold(self, seconds, loss, publishing, before=0):
        """`publishing(roost, relay)` is a publisher of a flash and a beep at each full second."""
        with directory() as folder, Roost() as roost, LossyRelay(roost.media_port, loss, back=loss) as relay:
            path = folder / "take"
            with publishing(roost, relay):
                time.sleep(before)
                with Running(roost, "record", "--out", path, "--duration", f"{seconds}s", "--media", f"127.0.0.1:{relay.port}") as recorder:
                    made = recorder.ended(seconds=seconds + 30)
            self.assertGreater(relay.lost, 20)
            self.assertEqual(made["reason"], "stopped")
            sound, picture = recorded.files(made, path, "audio")[0], recorded.files(made, path, "video")[0]
            self.assertEqual((sound[0].suffix, picture[0].suffix), (".ogg", ".ivf"))
            # What begins together begins at the same moment.
            self.assertEqual(sound[1], picture[1])
            seen = Synchrony(sound, picture, recorded.together(sound, picture, path / "both.mkv"))
            lost = [(track["packetsLost"], track["framesLost"]) for track in made["tracks"]]
            print(f"{seconds} s, {relay.lost} packets lost on the way, (packets, frames) missing in the end {lost}: {seen.pictures} pictures, {seen}")
            self.assertGreater(len(seen.pairs), seconds * 0.7, seen.pairs)
            self.assertGreater(seen.pictures, seconds * 25 * 0.7)
            self.assertLessEqual(seen.worst, APART, seen.pairs)
            self.assertLess(seen.delay, 5)
            self.assertGreater(seen.span, seconds * 0.75)
            if seconds >= LONG:
                self.assertIsNotNone(seen.after_minute, seen.pairs)

    @staticmethod
    @contextlib.contextmanager
    def file(roost, relay):
        with Running(roost, "publish", Clips.path("flash.webm"), "--loop", "--identity", "ada", "--media", f"127.0.0.1:{relay.port}") as it:
            yield it

    @staticmethod
    @contextlib.contextmanager
    def gstreamer(roost, relay):
        child = publisher(roost, 200, "vp8")
        try:
            published(child)
            yield child
        finally:
            child.kill()
            child.communicate()

    def test_sound_and_picture_with_losses_on_both_ways(self):
        self.hold(13, 0.05, self.file, before=2)

    @full
    def test_sound_and_picture_a_minute_after_their_start_with_losses(self):
        self.hold(LONG, 0.05, self.file, before=2)

    @full
    def test_another_publisher_a_minute_after_its_start_with_losses(self):
        # It takes its time to report its clock.
        self.hold(LONG, 0.05, self.gstreamer, before=6)


class RulesTest(LimitedAsyncTest):
    def test_a_file_in_a_loop_goes_on_in_one_time_line_until_it_is_interrupted(self):
        with directory() as folder, Roost() as roost:
            with Running(roost, "record", "--out", folder / "take") as recorder:
                with Running(roost, "publish", Clips.path("both.webm"), "--loop", "--identity", "card") as card:
                    self.assertEqual(card.line, "roost: publishing VP8 and opus into demo\n")
                    time.sleep(7.5)
                    said = card.interrupt(signal.SIGTERM)
                time.sleep(0.5)
                made = recorder.interrupt()
            self.assertEqual(said["passes"], 3)
            self.assertGreater(said["seconds"], 7)
            for kind, most in [("video", 0.1), ("audio", 0.03)]:
                file = written(made, folder / "take", kind)
                done = recorded.run("ffprobe", "-v", "error", "-show_entries", "packet=pts_time", "-of", "csv=p=0", file, text=True)
                times = [float(line.strip(",")) for line in done.stdout.split() if line.strip(",")]
                # In front stands what makes both begin together.
                steps = [after - before for before, after in zip(times, times[1:]) if before > 0.5]
                self.assertGreater(times[-1] - times[0], 7)
                self.assertLess(max(steps), most, kind)
                self.assertGreater(min(steps), 0, kind)

    def test_what_comes_by_standard_input_is_published_as_it_comes(self):
        with directory() as folder, Roost() as roost:
            with Running(roost, "record", "--out", folder / "take") as recorder:
                source = subprocess.Popen(["ffmpeg", "-v", "error", "-re", "-i", Clips.path("both.webm"), "-c", "copy", "-f", "webm", "-"],
                                          stdout=subprocess.PIPE)
                with Running(roost, "publish", "-", input=source.stdout) as piped:
                    said = piped.ended()
                source.wait(10)
                source.stdout.close()
                time.sleep(1.5)
                made = recorder.interrupt()
            self.assertEqual([track["frames"] for track in said["tracks"]][0], 75)
            self.assertEqual(hashes(written(made, folder / "take", "video"), "video")[-75:], hashes(Clips.path("both.webm"), "video"))

    def test_a_recorder_is_seen_by_nobody_and_takes_whom_it_is_to(self):
        with directory() as folder, Roost() as roost:
            with Running(roost, "record", "--out", folder / "take", "--participant", "ada") as recorder:
                done = cli("participants", "demo", "--dev", "--url", f"http://{roost.public}", "--json")
                self.assertEqual([each["hidden"] for each in json.loads(done.stdout)["items"]], [True])
                with Running(roost, "publish", Clips.path("vp8.ivf"), "--identity", "eve") as eve:
                    publish(roost, "sound.ogg", "--identity", "ada")
                    eve.ended()
                time.sleep(1.5)
                made = recorder.interrupt()
            self.assertEqual([each["identity"] for each in made["participants"]], ["ada"])
            self.assertEqual([each["kind"] for each in made["tracks"]], ["audio"])
            for each in (folder / "take").iterdir():
                self.assertEqual(each.stat().st_mode & 0o777, 0o600)

    async def test_tracks_encrypted_end_to_end_are_noted_and_not_written_and_a_room_that_is_closed_ends_it_well(self):
        offer = (HERE.parent / "Fixtures/sdp/chromium-156-audio-video-sendrecv-offer.sdp").read_text()
        with directory() as folder, Roost() as roost:
            with Running(roost, "record", "--out", folder / "take") as recorder:
                async with roost.joined("ada") as ada:
                    await say(ada, type="offer", id="1", sdp=offer, tracks=[
                        {"mid": "0", "source": "microphone", "encrypted": True}, {"mid": "1", "source": "camera", "encrypted": True}])
                    await hear(ada, "answer")
                    await asyncio.sleep(0.5)
                    done = await asyncio.to_thread(cli, "rooms", "close", "demo", "--dev", "--url", f"http://{roost.public}")
                    self.assertEqual(done.returncode, 0, done.stderr)
                made = await asyncio.to_thread(recorder.ended)
            self.assertEqual(made["reason"], "roomFinished")
            self.assertEqual([(track["state"], track["reason"]) for track in made["tracks"]], [("skipped", "encrypted")] * 2)
            self.assertEqual([each.name for each in (folder / "take").iterdir()], ["manifest.json"])


class Cutting:
    """`with Cutting(roost) as way:` a way to the server's HTTP port that is cut off by `cut`, and there again at once."""

    def __init__(self, roost):
        host, port = roost.public.split(":")
        self._server, self._pairs, self.count = (host, int(port)), [], 0
        self._front = socket.create_server(("127.0.0.1", 0))
        self.public = "127.0.0.1:%d" % self._front.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._front.close()
        self.cut()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._front.accept()
                server = socket.create_connection(self._server)
                self.count += 1
                self._pairs += [client, server]
                for pair in [(client, server), (server, client)]:
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    @staticmethod
    def _pass(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                sink.sendall(data)

    def cut(self):
        for each in self._pairs:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._pairs = []


class BrokenTest(LimitedTest):
    def test_a_connection_that_breaks_is_made_again_and_media_goes_on(self):
        with directory() as folder, Roost() as roost, Cutting(roost) as way:
            with Running(way, "record", "--out", folder / "take") as recorder:
                with Running(way, "publish", Clips.path("both.webm"), "--identity", "ada") as ada:
                    time.sleep(1)
                    way.cut()
                    time.sleep(1)
                    way.cut()
                    ada.ended()
                # Who comes behind that is recorded as well.
                publish(roost, "vp8.ivf", "--identity", "eve")
                time.sleep(1.5)
                made = recorder.interrupt()
            self.assertGreaterEqual(way.count, 6)
            self.assertEqual(made["reason"], "stopped")
            for number, name in enumerate(["both.webm", "vp8.ivf"]):
                got, sent = hashes(written(made, folder / "take", "video", number), "video"), hashes(Clips.path(name), "video")
                self.assertEqual(got[-len(sent):], sent, name)

    def test_a_server_that_goes_away_ends_both_and_leaves_whole_files(self):
        with directory() as folder, Roost("--drain.seconds=0") as roost:
            with Running(roost, "record", "--out", folder / "take") as recorder, \
                    Running(roost, "publish", Clips.path("both.webm"), "--loop") as card:
                time.sleep(3)
                roost.signal(signal.SIGTERM)
                made = recorder.ended(7)
                output, errors = card.child.communicate(timeout=20)
                self.assertEqual((card.child.returncode, output), (7, ""), errors)
                self.assertIn("the server has stopped", errors)
            self.assertEqual(made["reason"], "serverShutdown")
            for kind in ("video", "audio"):
                self.assertGreater(len(hashes(written(made, folder / "take", kind), kind)), 40)


class RefusalsTest(LimitedTest):
    """What goes wrong is said in words that say what to do, under a code of its own."""

    def refused(self, code, words, *arguments, **more):
        done = cli(*map(str, arguments), seconds=50, **more)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        for each in words:
            self.assertIn(each, done.stderr)
        return done.stderr

    def test_files_that_are_none(self):
        with directory() as folder:
            there = ["--room", "demo", "--dev"]
            self.refused(1, ["nothing.ivf: No such file or directory"], "publish", folder / "nothing.ivf", *there)
            self.refused(1, ["Is a directory"], "publish", folder, *there)
            (folder / "text").write_text("this is no media, but it is long enough")
            self.refused(1, ["neither IVF nor Ogg, WebM or Matroska", "ffmpeg -i FILE"], "publish", folder / "text", *there)
            (folder / "short").write_bytes(Clips.path("vp8.ivf").read_bytes()[:40])
            self.refused(1, ["it ends before its first frame"], "publish", folder / "short", *there)
            (folder / "bad.ivf").write_bytes(Clips.path("vp8.ivf").read_bytes()[:8] + b"XXXX" + bytes(100))
            self.refused(1, ["the codec at byte 8"], "publish", folder / "bad.ivf", *there)
            done = recorded.run("ffmpeg", "-v", "error", *PICTURES, "-c:v", "mpeg4", folder / "old.mkv")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.refused(1, ["the file has no track of VP8"], "publish", folder / "old.mkv", *there)
            self.refused(1, ["standard input: it ends before its first frame"], "publish", "-", *there)

    def test_command_lines(self):
        for words, arguments in [
                ("--room is missing", ["publish", "clip.ivf"]), ("FILE is missing", ["publish", "--room", "demo"]),
                ("can't begin over", ["publish", "-", "--loop", "--room", "demo"]), ("--room is missing", ["record"]),
                ("--duration 5: expected a time", ["record", "--room", "demo", "--duration", "5"]),
                ("--media here: expected an address", ["record", "--room", "demo", "--media", "here"]),
                ("contradict each other", ["record", "--room", "demo", "--token", "x", "--identity", "eve"])]:
            self.refused(2, [words, "--help"], *arguments)

    def test_servers_that_aren_t_there_and_tokens_that_don_t_allow_it(self):
        clip = Clips.path("vp8.ivf")
        self.refused(3, ["no answer from http://127.0.0.1:9", "Does the server run"], "publish", clip, "--room", "demo", "--dev", "--url",
                     "http://127.0.0.1:9")
        with directory() as folder, Roost() as roost:
            there = ["--room", "demo", "--url", f"http://{roost.public}"]
            self.refused(4, ["roost token"], "record", *there, "--out", folder / "a", ROOST_TOKEN=token("eve", "other"))
            self.refused(4, ["(401)"], "publish", clip, *there, ROOST_TOKEN="nonsense")
            self.refused(4, ["doesn't allow to publish"], "publish", clip, *there, ROOST_TOKEN=token("eve", canPublish=False))
            self.refused(4, ["doesn't allow to get anything"], "record", *there, "--out", folder / "b", ROOST_TOKEN=token("eve", canSubscribe=False))
            self.assertEqual(list(folder.iterdir()), [])
        with Roost("--media.codecs=VP9") as roost:
            self.refused(6, ["the server doesn't take VP8", "media.codecs"], "publish", clip, "--room", "demo", "--dev", "--url",
                         f"http://{roost.public}")

    def test_folders_that_can_t_be_written(self):
        with directory() as folder, Roost() as roost:
            there = ["record", "--room", "demo", "--dev", "--url", f"http://{roost.public}", "--duration", "1s", "--out"]
            self.assertEqual(cli(*there, folder / "take").returncode, 0)
            self.refused(1, ["There is a recording", "--out"], *there, folder / "take")
            (folder / "file").write_text("")
            self.refused(1, ["Not a directory"], *there, folder / "file")

    @unittest.skipUnless(os.geteuid() == 0, "mounting takes root")
    def test_a_full_disk_ends_the_recording_with_what_it_has(self):
        with directory() as folder, Roost() as roost:
            place = folder / "small"
            place.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=17m", "tmpfs", place], check=True)
            try:
                with Running(roost, "record", "--out", place / "take") as recorder:
                    self.assertIn("recording demo into", recorder.line)
                    with Running(roost, "publish", Clips.path("both.webm"), "--loop") as card:
                        time.sleep(3)
                        (place / "other").write_bytes(bytes(3 << 20))
                        output, errors = recorder.child.communicate(timeout=20)
                        self.assertEqual(recorder.child.returncode, 1, errors)
                        self.assertIn("the disk is full", errors)
                        card.interrupt()
                made = json.loads(output)
                self.assertEqual(made["reason"], "diskFull")
                self.assertGreater(made["bytes"], 10_000)
                for kind in ("video", "audio"):
                    self.assertGreater(len(hashes(written(made, place / "take", kind), kind)), 20)
            finally:
                subprocess.run(["umount", place], check=True)


if __name__ == "__main__":
    unittest.main()
