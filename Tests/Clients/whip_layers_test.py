"""Simulcast by WHIP to players by WHEP, with Pion at both ends: each player gets the layer that its own way carries."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Server")]

from client_parts import FFMPEG, go_build, tone_file  # noqa: E402
from limits import LimitedTest  # noqa: E402
from narrow_relay import NarrowRelay  # noqa: E402
from roost import Roost, token  # noqa: E402
from whip_test import Child  # noqa: E402

LAYERS = [(160, 120, 60), (320, 240, 220), (640, 480, 900)]
"""Width, height and kbit/s of each, the lowest first."""
SOON = 3
"""Seconds in which the top layer shows where the way carries it."""
SECONDS = 14


def layer_file(folder, width, height, rate):
    path = folder / f"{width}.ivf"
    noise = f"testsrc2=size={width}x{height}:rate=30:duration=4"
    subprocess.run([*FFMPEG, "-f", "lavfi", "-i", noise, "-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-g", "30", "-b:v", f"{rate}k",
                    "-maxrate", f"{rate}k", "-bufsize", f"{rate // 2}k", path], check=True, timeout=60)
    return path


class LayersTest(LimitedTest):
    seconds = 120

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="roost-layers-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        go_build(cls.folder, (HERE / "whip_layers.go").read_text())
        cls.files = [layer_file(cls.folder, *each) for each in LAYERS]
        cls.tone = tone_file(cls.folder, 4)

    def watch(self, roost, identity, seconds, **environment):
        return Child(self, [self.folder / "client", "watch", f"http://{roost.public}/whep/demo", token(identity), seconds], **environment)

    def keys(self, player):
        """Of each key frame when it came and how wide it is; how many pictures were whole, and how often one was not."""
        lines = player.end()
        keys = [(float(words[1]), int(words[2])) for words in map(str.split, lines) if words[0] == "key"]
        counts = [line.split() for line in lines if line.startswith("pictures")]
        self.assertEqual(len(counts), 1, lines[-5:])
        return keys, int(counts[0][1]), int(counts[0][3])

    def test_each_player_gets_the_layer_that_its_own_way_carries(self):
        with Roost() as roost, NarrowRelay(roost.media_port, 450_000) as narrow:
            cam = Child(self, [self.folder / "client", "publish", f"http://{roost.public}/whip/demo", token("cam"), self.tone, *self.files])
            cam.until("connected")
            wide = self.watch(roost, "wide", SECONDS)
            slow = self.watch(roost, "slow", SECONDS, MEDIA_PORT=str(narrow.port))
            wide_keys, wide_whole, wide_broken = self.keys(wide)
            slow_keys, slow_whole, slow_broken = self.keys(slow)
            cam.process.terminate()
            cam.end()
        top = [at for at, width in wide_keys if width == 640]
        settled = [width for at, width in slow_keys if at > SOON]
        print(f"Pion's simulcast by WHIP: where there is room 640 wide after {top[0] if top else None} s, {wide_whole} pictures;"
              f" over 450 kbit/s {sorted(set(settled))} wide, {slow_whole} pictures, {slow_broken} broken, {narrow.lost} packets lost", flush=True)
        self.assertTrue(top and top[0] <= SOON, wide_keys)
        self.assertEqual({width for at, width in wide_keys if at > top[0]}, {640})
        self.assertEqual(wide_broken, 0)
        self.assertGreater(wide_whole, 30 * (SECONDS - SOON) * 0.95)
        self.assertTrue(settled, slow_keys)
        self.assertNotIn(640, settled)
        self.assertIn(320, settled)
        self.assertGreater(slow_whole, 30 * (SECONDS - SOON) * 0.9)


if __name__ == "__main__":
    unittest.main()
