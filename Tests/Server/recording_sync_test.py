"""Recordings of the server as a process: sound and picture of a participant belong together, whatever is lost on the way in."""

import unittest

from limits import LimitedTest, full
from recording_parts import APART, LONG, record, record_each


class SyncTest(LimitedTest):
    # On a busy machine, with what begins and ends it.
    seconds = 200

    def hold(self, codec, seconds, loss):
        self.judge(codec, seconds, loss, *record(codec, seconds, loss))

    def judge(self, codec, seconds, loss, found, lost, placed, plain):
        print(f"{codec}, {seconds} s, {lost} packets lost: {placed}; put together as they are: {plain}")
        self.assertEqual(found["reason"], "stopped")
        self.assertEqual(found["participants"][0]["identity"], "ada")
        if loss:
            self.assertGreater(lost, 20)
        # What begins together begins at the same moment.
        self.assertEqual(len({file["start"] for track in found["tracks"] for file in track["files"]}), 1)
        for track in found["tracks"]:
            clock = track["files"][0]["clock"]
            self.assertTrue(clock["reported"])
            self.assertAlmostEqual(clock["measuredRate"] / clock["rate"], 1, delta=0.01)
        # It takes two seconds to begin, and each flash that is lost with its picture is missing.
        self.assertGreater(len(placed.pairs), (seconds - 4) * 0.7)
        self.assertGreater(placed.pictures, (seconds - 4) * 25 * 0.6)
        self.assertGreater(placed.span, (seconds - 4) * 0.7)
        self.assertLess(placed.delay, 4)
        self.assertLessEqual(placed.worst, APART, placed.pairs)
        self.assertLessEqual(plain.worst, APART, plain.pairs)
        if seconds >= LONG:
            for each in (placed, plain):
                self.assertIsNotNone(each.after_minute, each.pairs)

    @full
    def test_each_codec_a_minute_after_its_start_with_losses_on_the_way_in(self):
        codecs = ["vp8", "vp9", "h264"]
        for codec, each in zip(codecs, record_each(codecs, LONG, 0.05)):
            with self.subTest(codec):
                self.judge(codec, LONG, 0.05, *each)

    def test_h264_with_losses_on_the_way_in(self):
        self.hold("h264", 12, 0.05)

    @full
    def test_vp8_without_losses(self):
        self.hold("vp8", 10, 0)


if __name__ == "__main__":
    unittest.main()
