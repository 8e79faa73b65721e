"""Clients that others would write: those of docs/clients.md as they stand there, and GStreamer's webrtcbin."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Server"), str(HERE.parent / "Docs")]

import blocks  # noqa: E402
from client_parts import PYTHON, go_build, pictures  # noqa: E402
from limits import LimitedTest  # noqa: E402
from roost import Roost, token  # noqa: E402

SECONDS = 6
# Of 180 pictures and 300 pieces of sound that could come in that time, less what joining takes.
PICTURES, SOUNDS = 45, 90
GREY, WHITE = 160, 235


class Seen:
    """What aiortc's client prints: frames and brightness by track."""

    def __init__(self, text):
        found = re.findall(r"^(TR_\w+): (\d+) frames of (\w+)(?:, brightness (\d+))?$", text, re.MULTILINE)
        self.sounds = {track: int(frames) for track, frames, kind, _ in found if kind == "audio"}
        self.pictures = {track: (int(frames), int(middle)) for track, frames, kind, middle in found if kind == "video"}


class ClientsTest(LimitedTest):
    # Two clients at a time, each with pictures to encode and to decode.
    seconds = 300

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="roost-clients-")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        programs = blocks.programs()
        (cls.folder / "client.py").write_text(programs["client.py"])
        go_build(cls.folder, programs["client.go"])
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=white:size=320x240:rate=30:duration=2",
                        "-c:v", "libvpx", "-g", "30", cls.folder / "white.ivf"], check=True, timeout=60)

    def start(self, roost, identity, *command, folder=None, **grants):
        """`URL ROOM TOKEN SECONDS` stand where the command says so."""
        given = {"URL": f"ws://{roost.public}", "ROOM": "demo", "TOKEN": token(identity, **grants),
                 "SECONDS": str(SECONDS)}
        child = subprocess.Popen([given.get(word, word) for word in command], cwd=folder or self.folder, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(child.kill)
        return child

    def python(self, roost, identity, pairs, **grants):
        return self.start(roost, identity, PYTHON, "client.py", "URL", "ROOM", "TOKEN", "SECONDS", str(pairs), **grants)

    def end(self, child):
        """What it printed."""
        out, err = child.communicate(timeout=SECONDS + 20)
        self.assertEqual(child.returncode, 0, out + err)
        self.assertNotIn("Traceback", err)
        return out

    def assertShows(self, found, *brightness):
        """One track for each brightness, with pictures enough."""
        left = list(brightness)
        for frames, middle in found:
            self.assertGreater(frames, PICTURES, found)
            near = [each for each in left if abs(each - middle) < 12]
            self.assertTrue(near, f"{found}, not {brightness}")
            left.remove(near[0])
        self.assertEqual(left, [], found)

    def test_aiortc_under_max_bundle_and_under_its_default_policy_and_pion_see_each_other(self):
        with Roost() as roost:
            folder = self.folder / "kept"
            folder.mkdir()
            ann = self.python(roost, "ann", 2)
            bob = self.python(roost, "bob", 0)
            gopher = self.start(roost, "gopher", self.folder / "client", "URL", "ROOM", "TOKEN", "SECONDS",
                                self.folder / "white.ivf", folder=folder)
            ann, bob, gopher = Seen(self.end(ann)), Seen(self.end(bob)), self.end(gopher)
        self.assertShows(ann.pictures.values(), GREY, WHITE)
        self.assertGreater(max(ann.sounds.values()), SOUNDS)
        # One slot of a kind, which shows one after the other.
        self.assertGreater(sum(frames for frames, _ in bob.pictures.values()), PICTURES)
        self.assertGreater(max(bob.sounds.values()), SOUNDS)
        self.assertShows([pictures(path) for path in folder.iterdir()], GREY, GREY)
        self.assertEqual(len(set(re.findall(r"^slot \S+ plays (TR_\w+)$", gopher, re.MULTILINE))), 4)

    def test_aiortc_goes_on_where_sections_are_declined(self):
        with Roost("--media.codecs=AV1") as roost:  # which it lacks
            clients = [self.python(roost, "ann", 2), self.python(roost, "bob", 1)]
            for seen in [Seen(self.end(each)) for each in clients]:
                self.assertGreater(max(seen.sounds.values()), SOUNDS)
                self.assertEqual(seen.pictures, {})

    def test_aiortc_goes_on_where_its_first_section_is_not_allowed(self):
        with Roost() as roost:
            ann = self.python(roost, "ann", 1, canPublishSources=["camera"])
            bob = self.python(roost, "bob", 1)
            ann, bob = Seen(self.end(ann)), Seen(self.end(bob))
        self.assertShows(ann.pictures.values(), GREY)
        self.assertShows(bob.pictures.values(), GREY)
        self.assertGreater(max(ann.sounds.values()), SOUNDS)
        self.assertEqual(bob.sounds, {})

    def test_webrtcbin_sends_and_receives(self):
        with Roost() as roost:
            ann = self.python(roost, "ann", 1)
            ball = self.start(roost, "ball", "/usr/bin/python3", HERE / "webrtcbin.py", "URL", "ROOM", "TOKEN", "SECONDS")
            ann, ball = Seen(self.end(ann)), Seen(self.end(ball))
        self.assertShows(ann.pictures.values(), 16)
        self.assertShows(ball.pictures.values(), GREY)
        for seen in (ann, ball):
            self.assertGreater(max(seen.sounds.values()), SOUNDS)


if __name__ == "__main__":
    unittest.main()
