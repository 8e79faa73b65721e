"""storm_figures.py: ten times the joins that the machine can do, beside people who talk; as rows `line | wanted | seen`."""

import argparse
import json
import os
import subprocess
import sys
import time

from load_figures import LOAD, row
from roost import Roost

# The bound per address would turn the storm away at the door, since all of it comes from one.
OPEN_DOOR = ("--limits.requestsPerAddress=1000000", "--limits.requestsAtOncePerAddress=1000000",
             "--http.connectionsPerAddress=4096")


def load(roost, *arguments):
    return subprocess.Popen([LOAD, "--url", f"ws://{roost.public}", "--json", *map(str, arguments)],
                            stdout=subprocess.PIPE, stderr=sys.stderr, text=True)


def joiners(count):
    """People who come, and send next to nothing, to no one: what they cost is their joining."""
    return ("--rooms", count // 10, "--publishers", 10, "--subscribers", 0, "--video", "30k", "--join-timeout", 20)


def report(process, timeout):
    try:
        output, _ = process.communicate(timeout=timeout)
    finally:
        process.kill()
    return json.loads(output)


def capacity(joins):
    """Joins a second, by as many at once as there are."""
    with Roost(*OPEN_DOOR) as roost:
        found = report(load(roost, "--quiet", *joiners(joins), "--join-rate", 10000, "--duration", 1), 120)
    return found["joined"] / found["joinSeconds"] if found["joined"] == joins else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=20, help="for which those inside are measured")
    parser.add_argument("--storm", type=int, default=3, help="seconds that the storm is sent for")
    options = parser.parse_args()

    rate = capacity(200)
    holds = row("joins that the machine can do", "all of 200 in", f"{rate:.0f} a second", rate > 0)
    if not holds:
        return 1
    storming = min(int(10 * rate), 10_000)
    joins = min(storming * options.storm, 4_000)
    with Roost(*OPEN_DOOR) as roost:
        inside = load(roost, "--room", "inside", "--publishers", 2, "--subscribers", 10, "--video", "1.5M", "--audio",
                      "--duration", options.seconds)
        # All are in and hear each other well before; the storm falls into the measured span.
        time.sleep(options.seconds / 3)
        storm = load(roost, "--quiet", "--room", "storm", *joiners(joins), "--join-rate", storming, "--duration", 1)
        stormed = report(storm, 120)
        found = report(inside, options.seconds + 120)
        ready = roost.get_admin("/readyz").status
    refused = joins - stormed["joined"]
    slow = stormed["join"]
    holds &= row(f"a storm of {storming} joins a second", "refused or slow, the server ready afterwards",
                 f"{stormed['joined']} of {joins} in within 20 s (p50 {slow['p50'] or 0:.0f} ms, p99 {slow['p99'] or 0:.0f} ms),"
                 f" {refused} not; /readyz {ready}", ready in (200, 204))
    share = found["never"] / max(found["expected"], 1) * 100
    holds &= row("those inside, during it: never arrived", "under 0.1 %",
                 f"{share:.4f} % ({found['never']} of {found['expected']}), {found['joined']} of {found['participants']} in",
                 share < 0.1 and found["expected"] > 0 and found["ok"])
    ours, plain = found["latency"]["p99"], found["reflector"]["p99"]
    holds &= row("those inside, during it: one-way latency, p99", "under 20 ms, or at most twice the reflector's",
                 f"{ours:.2f} ms (p50 {found['latency']['p50']:.2f}), reflector {plain:.2f} ms",
                 ours < 20 or ours <= 2 * plain, is_time=True)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
