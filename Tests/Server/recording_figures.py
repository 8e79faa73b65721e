"""recording_figures.py: what the server records under losses, as rows `line | wanted | seen`."""

import argparse
import sys

from load_figures import row
from recording_parts import APART, record


def measure(codec, seconds):
    found, lost, placed, plain = record(codec, seconds, 0.05)
    name = f"recorded {codec}, 5 % lost on the way in"
    is_long = placed.span > (seconds - 4) * 0.9 and placed.delay < 4
    holds = row(f"{name}: sound and picture apart at the start and after {seconds - 4} s",
                f"at most {APART * 1000:.0f} ms", f"{placed}; {lost} packets lost",
                lost > 20 and is_long and placed.worst <= APART)
    holds &= row(f"{name}: both files put together as they are", f"at most {APART * 1000:.0f} ms apart", str(plain),
                 plain.worst <= APART)
    missing = sum(track["packetsLost"] for track in found["tracks"])
    return holds & row(f"{name}: pictures that ffmpeg shows", "at least 90 % of them",
                       f"{placed.pictures} in {placed.span:.0f} s, {missing} packets never came",
                       placed.pictures >= placed.span * 25 * 0.9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=64)
    options = parser.parse_args()
    # Each is shown, also behind one that falls short.
    sys.exit(not all([measure("vp8", options.seconds), measure("h264", options.seconds // 4)]))


if __name__ == "__main__":
    main()
