"""WHIP and WHEP with clients that others wrote: aiortc, GStreamer's simple-whip-client, Pion. What is sent is decoded, counted and
listened to; each test prints the share of the pictures that came out, and the pitch of the tone."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Server")]

from client_parts import FILES, PITCH, PYTHON, go_build, pictures, picture_file, pitch, tone_file  # noqa: E402
from limits import LimitedTest, full  # noqa: E402
from roost import Roost, ask, token  # noqa: E402

SECONDS, GREY = 6, 160
# Of the pictures that were sent.
SHARE = 0.95
RTP = "application/x-rtp,media="
# GStreamer's encoders and payloaders.
ENCODERS = {"VP8": "vp8enc deadline=1 keyframe-max-dist=30 ! rtpvp8pay pt=96 picture-id-mode=15-bit",
            "VP9": "vp9enc deadline=1 cpu-used=8 keyframe-max-dist=30 ! rtpvp9pay pt=96 picture-id-mode=15-bit",
            "H264": "openh264enc gop-size=30 ! video/x-h264,profile=constrained-baseline ! rtph264pay pt=96 config-interval=-1"}


class Child:
    """A client in a process of its own, whose lines are read as they come."""

    def __init__(self, test, command, **environment):
        self.process = subprocess.Popen(list(map(str, command)), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        env=os.environ | environment)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        test.addCleanup(self.kill)

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    def kill(self):
        self.process.kill()
        self.process.wait()

    def until(self, word, seconds=20):
        deadline = time.monotonic() + seconds
        while not any(word in line for line in self.lines):
            if time.monotonic() > deadline or self.process.poll() is not None and not self.reader.is_alive():
                raise AssertionError(f"no {word!r} in {self.lines[-20:]}")
            time.sleep(0.05)

    def end(self, seconds=40):
        self.process.wait(timeout=seconds)
        self.reader.join(timeout=5)
        if self.process.returncode:
            raise AssertionError("\n".join(self.lines[-20:]))
        return self.lines


class WhipTest(LimitedTest):
    seconds = 240

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="roost-whip-")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        go_build(cls.folder, (HERE / "whip.go").read_text())
        subprocess.run([shutil.which("cc") or "clang", "-shared", "-fPIC", "-Wl,-soname,libgupnp-igd-1.0.so.4", "-o", cls.folder / "libgupnp-igd-1.0.so.4",
                        HERE / "no_upnp.c"], check=True, timeout=60)
        tone_file(cls.folder, SECONDS + 4)

    def peer(self, what, roost, identity, *more, door=None):
        door = door or ("whep" if what == "play" else "whip")
        return Child(self, [PYTHON, HERE / "whip_peer.py", what, f"http://{roost.public}/{door}/demo", token(identity), *more])

    def plays(self, roost):
        """aiortc, connected."""
        child = self.peer("play", roost, "tv", SECONDS + 25)
        child.until("connected")
        return child

    def result(self, child):
        return json.loads(child.end()[-1])

    def judge(self, name, sent, decoded, heard):
        share = decoded / sent if sent else 0
        print(f"{name}: {decoded} of {sent} pictures decoded ({share:.1%}), tone of {heard} Hz", flush=True)
        self.assertGreater(sent, 30 * SECONDS * 0.6, name)
        self.assertGreaterEqual(share, SHARE, name)
        self.assertLessEqual(decoded, sent, name)
        self.assertLess(abs(heard - PITCH), 15, name)

    def participants(self, roost):
        boss = token("boss", roomAdmin=True)
        answer = ask(roost, "GET", "/v1/rooms/demo/participants", boss)
        return [each["identity"] for each in answer.json["items"]] if answer.status == 200 else []

    def test_aiortc_to_aiortc(self):
        for codec in ("VP8", "H264"):
            with self.subTest(codec=codec), Roost() as roost:
                tv = self.plays(roost)
                cam = self.result(self.peer("publish", roost, "cam", SECONDS, codec))
                seen = self.result(tv)
                self.judge(f"aiortc to aiortc in {codec}", cam["sent"], seen["distinct"], seen["pitch"])
                self.assertLess(abs(seen["brightness"] - GREY), 8)
                self.assertEqual((cam["ended"], seen["ended"]), (200, 200))
                self.assertEqual(self.participants(roost), [])

    def test_pion_to_pion(self):
        for codec in FILES:
            with self.subTest(codec=codec), Roost() as roost:
                kept = self.folder / f"kept-{codec}"
                kept.mkdir()
                tv = self.pion("play", roost, kept, SECONDS + 4, identity="tv")
                tv.until("connected")
                cam = self.pion("publish", roost, self.source(codec), self.folder / "tone.ogg", identity="cam")
                sent = int(cam.end()[-1].split()[1])
                tv.end()
                decoded, _ = pictures(kept / FILES[codec][-1])
                self.judge(f"Pion to Pion in {codec}", sent, decoded, pitch(kept / "sound.ogg"))

    def source(self, codec):
        return picture_file(self.folder, codec, SECONDS)

    def pion(self, what, roost, *more, identity):
        door = "whep" if what == "play" else "whip"
        return Child(self, [self.folder / "client", what, f"http://{roost.public}/{door}/demo", token(identity), *more])

    def test_ice_restarts_while_media_flows(self):
        with Roost() as roost:
            kept = self.folder / "restarted"
            kept.mkdir()
            tv = self.pion("play", roost, kept, SECONDS + 4, identity="tv")
            tv.until("connected")
            cam = self.pion("restart", roost, self.source("VP8"), self.folder / "tone.ogg", identity="cam")
            lines = cam.end()
            self.assertIn("restarted", lines)
            tv.end()
            decoded, _ = pictures(kept / "pictures.ivf")
            self.judge("Pion to Pion over an ICE restart", int(lines[-1].split()[1]), decoded, pitch(kept / "sound.ogg"))

    def wait_until_alone(self, roost, seconds):
        """Until only the player is left.
        Returns: seconds that it took."""
        begin = time.monotonic()
        while self.participants(roost) != ["tv"]:
            self.assertLess(time.monotonic() - begin, seconds)
            time.sleep(0.2)
        return time.monotonic() - begin

    def test_a_client_that_closes_dtls_is_gone_at_once(self):
        with Roost() as roost:
            self.plays(roost)
            cam = self.peer("abandon", roost, "cam", 2)
            cam.until("connected")
            self.assertEqual(sorted(self.participants(roost)), ["cam", "tv"])
            cam.until("sent")
            self.wait_until_alone(roost, 3)

    @full
    def test_a_client_that_dies_is_gone_with_its_consent(self):
        with Roost() as roost:
            tv = self.pion("play", roost, self.folder, 60, identity="tv")
            tv.until("connected")
            cam = self.peer("publish", roost, "cam", 60)
            cam.until("connected")
            cam.kill()
            self.wait_until_alone(roost, 40)

    def test_a_session_that_the_server_ends_is_closed_at_its_client(self):
        with Roost() as roost:
            tv = self.plays(roost)
            begin = time.monotonic()
            boss = token("boss", roomAdmin=True)
            self.assertEqual(ask(roost, "DELETE", "/v1/rooms/demo/participants/tv", boss).status, 204)
            self.assertEqual(self.result(tv)["state"], "closed")
            self.assertLess(time.monotonic() - begin, 5)

    def test_gstreamer_to_pion(self):
        for codec, encoder in ENCODERS.items():
            with self.subTest(codec=codec), Roost() as roost:
                kept = self.folder / f"gstreamer-{codec}"
                kept.mkdir()
                tv = self.pion("play", roost, kept, SECONDS + 6, identity="tv")
                tv.until("connected")
                cam = Child(self, [
                    "whip-client", "-o", "-u", f"http://{roost.public}/whip/demo", "-t", token("cam"),
                    "-A", f"audiotestsrc is-live=true wave=sine freq={PITCH} ! audioconvert ! audioresample ! queue ! opusenc"
                          f" ! rtpopuspay pt=100 ! queue ! {RTP}audio,encoding-name=OPUS,payload=100",
                    "-V", f"videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=30/1 ! videoconvert"
                          f" ! queue ! {encoder} ! queue ! {RTP}video,encoding-name={codec},payload=96"],
                    LD_LIBRARY_PATH=str(self.folder))
                time.sleep(SECONDS + 2)
                self.assertEqual(sorted(self.participants(roost)), ["cam", "tv"], "\n".join(cam.lines[-20:]))
                cam.process.send_signal(signal.SIGINT)
                cam.process.wait(timeout=20)
                sent = next(int(line.split()[1]) for line in tv.end(60) if line.startswith("span "))
                decoded, _ = pictures(kept / ("pictures.h264" if codec == "H264" else "pictures.ivf"))
                self.judge(f"simple-whip-client to Pion in {codec}", sent, decoded, pitch(kept / "sound.ogg"))
                self.assertEqual(self.participants(roost), [], "\n".join(cam.lines[-20:]))


if __name__ == "__main__":
    unittest.main()
