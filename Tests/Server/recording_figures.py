"""recording_figures.py: what the server records under losses, as rows `line | wanted | seen`."""

import argparse
import sys

from load_figures import row
from recording_parts import APART, LONG, MINUTE, record_each


def judge(codec, found, lost, placed, plain):
    name = f"recorded {codec}, 5 % lost on the way in"
    wanted = f"at most {APART * 1000:.0f} ms"
    holds = row(f"{name}: sound and picture apart at the start and after {MINUTE} s", wanted, f"{placed}; {lost} packets lost",
                lost > 20 and placed.delay < 4 and placed.after_minute is not None and placed.worst <= APART)
    holds &= row(f"{name}: both files put together as they are, at the start and after {MINUTE} s", wanted, str(plain),
                 plain.after_minute is not None and plain.worst <= APART)
    missing = sum(track["packetsLost"] for track in found["tracks"])
    return holds & row(f"{name}: pictures that ffmpeg shows", "at least 90 % of them",
                       f"{placed.pictures} in {placed.span:.0f} s, {missing} packets never came",
                       placed.pictures >= placed.span * 25 * 0.9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=LONG)
    options = parser.parse_args()
    codecs = ["vp8", "h264"]
    # Each is shown, also behind one that falls short.
    sys.exit(not all([judge(codec, *each) for codec, each in zip(codecs, record_each(codecs, options.seconds, 0.05))]))


if __name__ == "__main__":
    main()
