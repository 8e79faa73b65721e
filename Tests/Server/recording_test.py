"""Recordings of the server as a process: what is in their files, when it was, and what becomes of them when something goes wrong."""

import asyncio
import contextlib
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import unittest

import recorded
from limits import LimitedAsyncTest, LimitedTest
from lossy_relay import LossyRelay
from media_test import LOAD
from roost import Roost, ask, token
from signaller import hear, say

HERE = pathlib.Path(__file__).parent
ADMIN = dict(roomJoin=False, roomAdmin=True)
# Sound and picture of one participant.
APART = 0.040


@contextlib.contextmanager
def directory():
    folder = tempfile.mkdtemp(prefix="roost-recording-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def server(folder, *more):
    return Roost(f"--storage.directory={folder}", *more)


def publisher(roost, seconds, codec="vp8", port=None, identity="ada"):
    return subprocess.Popen(
        ["/usr/bin/python3", HERE / "flash_publisher.py", f"http://{roost.public}", "demo", token(identity), str(seconds), codec]
        + ([str(port)] if port else []), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def published(child):
    """Waits until it sends."""
    line = child.stdout.readline()
    if line != "publishing\n":
        raise RuntimeError(f"{line}{child.stderr.read()}")


def admin(room):
    return token("host", room, **ADMIN)


def start(roost, room="demo", **body):
    answer = ask(roost, "POST", f"/v1/rooms/{room}/recordings", admin(room), body)
    assert answer.status == 201, answer.body
    return answer.json


def recording(roost, id, room="demo"):
    return ask(roost, "GET", f"/v1/rooms/{room}/recordings/{id}", admin(room)).json


def stop(roost, id, query="", room="demo"):
    return ask(roost, "DELETE", f"/v1/rooms/{room}/recordings/{id}{query}", admin(room)).status


def until(condition, seconds=15):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.1)
    raise TimeoutError(condition)


def ended(roost, id, room="demo", seconds=15):
    def look():
        found = recording(roost, id, room)
        return found if found["state"] == "ended" else None

    return until(look, seconds)


# roost-load numbers its rooms.
LOADED = "demo-1"


def loaded(roost, seconds, rate="1M"):
    """Synthetic participants in a room of their own."""
    child = subprocess.Popen(
        [LOAD, "--url", f"ws://{roost.public}", "--json", "--publishers", "2", "--subscribers", "2", "--video", rate,
         "--duration", str(seconds), "--room", "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: ask(roost, "GET", f"/v1/rooms/{LOADED}", admin(LOADED)).status == 200)
    return child


class SyncTest(LimitedTest):
    # A minute of media, twice what begins and ends it.
    seconds = 200

    def hold(self, codec, seconds, loss):
        with directory() as folder, server(folder) as roost, LossyRelay(roost.media_port, loss) as relay:
            child = publisher(roost, seconds + 4, codec, relay.port)
            try:
                published(child)
                made = start(roost)
                time.sleep(seconds)
                self.assertEqual(stop(roost, made["id"]), 204)
                found = ended(roost, made["id"])
                output, problem = child.communicate(timeout=30)
                self.assertIn("sent", output, problem)
            finally:
                child.kill()
            self.assertEqual(found["reason"], "stopped")
            self.assertEqual(found["participants"][0]["identity"], "ada")
            if loss:
                self.assertGreater(relay.lost, 20)
            written, path = recorded.manifest(folder)
            self.assertEqual(written, found)
            sound, picture = recorded.files(written, path, "audio")[0], recorded.files(written, path, "video")[0]
            # What begins together begins at the same moment.
            self.assertEqual(sound[1], picture[1])
            out = recorded.together(sound, picture, path / "both.mkv")
            flashes, pictures = recorded.flashes(out)
            pairs = recorded.apart(flashes, recorded.beeps(out))
            self.assertGreater(len(pairs), seconds * 0.6, (flashes, pairs))
            self.assertGreater(pictures, seconds * 25 * 0.5)
            worst = max(abs(difference) for _, difference in pairs)
            print(f"{codec}, {seconds} s, {relay.lost} packets lost: {len(pairs)} flashes with their beep, "
                  f"first {pairs[0][1] * 1000:+.0f} ms, last {pairs[-1][1] * 1000:+.0f} ms, worst {worst * 1000:.0f} ms")
            self.assertLessEqual(worst, APART, pairs)
            # At the start, and at the end.
            self.assertLess(pairs[0][0] - sound[1], 5)
            self.assertGreater(pairs[-1][0] - pairs[0][0], seconds * 0.8)
            # Without a word about where they begin it is the same.
            plain = path / "plain.mkv"
            done = recorded.run("ffmpeg", "-v", "error", "-i", sound[0], "-i", picture[0], "-c", "copy", plain)
            self.assertEqual(done.returncode, 0, done.stderr)
            pairs = recorded.apart(recorded.flashes(plain)[0], recorded.beeps(plain))
            self.assertLessEqual(max(abs(difference) for _, difference in pairs), APART)

    def test_vp8_for_a_minute_with_losses_on_the_way_in(self):
        self.hold("vp8", 62, 0.05)

    def test_vp9_with_losses_on_the_way_in(self):
        self.hold("vp9", 15, 0.05)

    def test_h264_with_losses_on_the_way_in(self):
        self.hold("h264", 15, 0.05)

    def test_vp8_without_losses(self):
        self.hold("vp8", 10, 0)


class RulesTest(LimitedAsyncTest):
    async def test_who_may_not_run_the_room_records_nothing(self):
        with directory() as folder, server(folder) as roost:
            async with roost.joined("ada"):
                for grants, status in [({}, 403), (dict(roomAdmin=True, room="other"), 403)]:
                    room = grants.pop("room", "demo")
                    answer = ask(roost, "POST", "/v1/rooms/demo/recordings", token("ada", room, **grants), {})
                    self.assertEqual(answer.status, status, answer.body)
                self.assertEqual(
                    ask(roost, "POST", "/v1/rooms/none/recordings", token("host", "none", **ADMIN), {}).status, 404)
                self.assertEqual(ask(roost, "GET", "/v1/rooms/demo/recordings/RC_aaaaaaaaaaaa",
                                     admin("demo")).json["type"].rsplit("/", 1)[1], "recording-not-found")
            self.assertFalse(list((pathlib.Path(folder) / "recordings").iterdir()))

    async def test_without_a_directory_nothing_is_recorded_and_the_answer_says_what_is_missing(self):
        with Roost() as roost:
            async with roost.joined("ada"):
                answer = ask(roost, "POST", "/v1/rooms/demo/recordings", admin("demo"), {})
                self.assertEqual(answer.status, 409)
                self.assertIn("storage.directory", answer.json["detail"])

    async def test_everybody_learns_that_it_begins_and_ends_also_who_comes_later(self):
        with directory() as folder, server(folder) as roost:
            async with roost.joined("ada") as ada:
                self.assertFalse(ada.joined["room"].get("recorded", False))
                made = start(roost)
                event = (await hear(ada, "event"))["event"]
                self.assertEqual((event["type"], event["recording"]), ("room.recording", {"id": made["id"], "active": True}))
                async with roost.joined("bob") as bob:
                    self.assertTrue(bob.joined["room"]["recorded"])
                    second = start(roost)
                    self.assertEqual(stop(roost, made["id"]), 204)
                    types = []
                    while not types or types[-1]["type"] != "recording.ended":
                        types.append((await hear(bob, "event"))["event"])
                    self.assertEqual(types[-1]["recording"], {"id": made["id"], "active": True, "reason": "stopped"})
                    self.assertEqual(stop(roost, second["id"]), 204)
                    last = (await hear(bob, "event"))["event"]
                    self.assertEqual(last["recording"], {"id": second["id"], "active": False, "reason": "stopped"})

    async def test_files_are_the_servers_users_alone_and_purge_leaves_none(self):
        with directory() as folder, server(folder) as roost:
            load = loaded(roost, 12)
            try:
                made = start(roost, LOADED)
                await asyncio.sleep(4)
                refused = ask(roost, "DELETE", f"/v1/rooms/{LOADED}/recordings/{made['id']}", token("ada", LOADED)).status
                self.assertEqual(refused, 403)
                written, path = recorded.manifest(folder)
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o700)
                names = [each for each in path.iterdir()]
                self.assertGreater(len([each for each in names if each.suffix == ".webm"]), 1, names)
                for each in names:
                    self.assertEqual(stat.S_IMODE(each.stat().st_mode), 0o600, each)
                # Of another room it can't be erased.
                self.assertEqual(stop(roost, made["id"], "?purge", "other"), 404)
                self.assertEqual(stop(roost, made["id"], "?purge", LOADED), 204)
                self.assertFalse(path.exists())
                self.assertEqual(ask(roost, "GET", f"/v1/rooms/{LOADED}/recordings/{made['id']}", admin(LOADED)).status, 404)
            finally:
                load.kill()
                load.wait()

    async def test_tracks_encrypted_end_to_end_are_noted_and_not_written(self):
        offer = (HERE.parent / "Fixtures/sdp/chromium-156-audio-video-sendrecv-offer.sdp").read_text()
        with directory() as folder, server(folder) as roost:
            async with roost.joined("ada") as ada:
                made = start(roost)
                await say(ada, type="offer", id="1", sdp=offer, tracks=[
                    {"mid": "0", "source": "microphone", "encrypted": True}, {"mid": "1", "source": "camera", "encrypted": True}])
                await hear(ada, "answer")
                tracks = until(lambda: recording(roost, made["id"])["tracks"])
                self.assertEqual([(track["state"], track["reason"]) for track in tracks], [("skipped", "encrypted")] * 2)
                self.assertEqual(stop(roost, made["id"]), 204)
            self.assertEqual(ended(roost, made["id"])["bytes"], 0)


class EndsTest(LimitedTest):
    seconds = 120

    def test_a_recording_that_a_crash_left_open_is_closed_at_the_next_start_and_plays(self):
        with directory() as folder:
            with server(folder) as roost:
                child = publisher(roost, 30)
                try:
                    published(child)
                    made = start(roost)
                    time.sleep(12)
                    os.kill(roost.pid, signal.SIGKILL)
                finally:
                    child.kill()
            with server(folder) as roost:
                found = recording(roost, made["id"])
                self.assertEqual((found["state"], found["reason"]), ("ended", "serverFailed"))
                written, path = recorded.manifest(folder)
                self.assertEqual(written, found)
                events = ask(roost, "GET", f"/v1/rooms/demo/events?roomId={made['roomId']}", admin("demo")).json["items"]
                last = [each for each in events if each["type"] == "recording.ended"]
                self.assertEqual(last[0]["recording"], {"id": made["id"], "active": False, "reason": "serverFailed"})
            sound, picture = recorded.files(written, path, "audio")[0], recorded.files(written, path, "video")[0]
            flashes, pictures = recorded.flashes(picture[0])
            self.assertGreater(pictures, 100)
            pairs = recorded.apart(flashes, recorded.beeps(sound[0]))
            self.assertGreater(len(pairs), 3)
            self.assertLessEqual(max(abs(difference) for _, difference in pairs), APART)

    def test_a_server_that_is_asked_to_end_makes_its_files_whole(self):
        with directory() as folder:
            with server(folder, "--drain.seconds=0") as roost:
                child = publisher(roost, 30)
                try:
                    published(child)
                    start(roost)
                    time.sleep(8)
                    roost.signal(signal.SIGTERM)
                    self.assertEqual(asyncio.run(roost.ended(15)), 0)
                finally:
                    child.kill()
            written, path = recorded.manifest(folder)
            self.assertEqual((written["state"], written["reason"]), ("ended", "serverShutdown"))
            for track in written["tracks"]:
                for file in track["files"]:
                    self.assertGreater(file["duration"], 4)
                    probed = recorded.run("ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "json", path / file["name"])
                    self.assertAlmostEqual(float(json.loads(probed.stdout)["format"]["duration"]), file["duration"], delta=0.2)

    @unittest.skipUnless(os.geteuid() == 0, "mounting takes root")
    def test_a_full_disk_ends_the_recording_and_harms_no_media(self):
        for free, size in [(0, "3m"), (2 << 20, "6m")]:
            with directory() as folder:
                place = pathlib.Path(folder) / "recordings"
                place.mkdir(mode=0o700)
                subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=True)
                try:
                    with server(folder, f"--recording.freeBytes={free}") as roost:
                        load = loaded(roost, 22, "2M")
                        try:
                            made = start(roost, LOADED)
                            found = ended(roost, made["id"], LOADED, 25)
                            self.assertEqual(found["reason"], "diskFull")
                            events = ask(roost, "GET", f"/v1/rooms/{LOADED}/events", admin(LOADED)).json["items"]
                            ends = [each["recording"] for each in events if each["type"] == "recording.ended"]
                            self.assertEqual(ends, [{"id": made["id"], "active": False, "reason": "diskFull"}])
                            output, problem = load.communicate(timeout=40)
                        finally:
                            load.kill()
                        report = json.loads(output)
                        self.assertEqual(report["never"], 0, report)
                        # Its manifest says so on the disk, too.
                        self.assertEqual(json.loads((place / made["id"] / "manifest.json").read_text())["reason"], "diskFull")
                        if free:
                            # None begins, either, before there is space again.
                            ask(roost, "POST", "/v1/rooms", token("host", roomJoin=False, roomCreate=True), {"name": "demo"})
                            refused = ask(roost, "POST", "/v1/rooms/demo/recordings", admin("demo"), {})
                            self.assertEqual(refused.status, 507, refused.body)
                finally:
                    subprocess.run(["umount", place], check=True)

    def test_a_recording_ends_at_its_limit(self):
        with directory() as folder, server(folder) as roost:
            load = loaded(roost, 20, "2M")
            try:
                made = start(roost, LOADED, maxBytes=2 << 20)
                found = ended(roost, made["id"], LOADED, 20)
                self.assertEqual(found["reason"], "tooLarge")
                self.assertLess(found["bytes"], 4 << 20)
            finally:
                load.kill()
                load.wait()


if __name__ == "__main__":
    unittest.main()
