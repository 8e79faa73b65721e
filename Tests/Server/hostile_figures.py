"""hostile_figures.py: twelve bystanders in two rooms beside one hostile participant, as rows `line | wanted | seen`."""

import argparse
import asyncio
import json
import subprocess
import sys

from hostile_deeds import Deeds
from hostile_evidence import DEEDS, missing
from load_figures import LOAD, counted, row
from roost import Roost

FORGED = "roost_abandoned_paths_total"
"""Paths that were checked and never proven, which forged checks leave behind."""


async def measure(name, seconds):
    """What the bystanders saw, and what the hostile one's deeds counted."""
    with Roost() as roost:
        load = await asyncio.create_subprocess_exec(
            LOAD, "--url", f"ws://{roost.public}", "--rooms", "2", "--publishers", "6", "--subscribers", "0", "--mesh",
            "--video", "300k", "--audio", "--others", "2", "--ping", "100", "--duration", str(seconds + 2), "--json",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        output = None
        try:
            # Everybody is in.
            while b"measuring" not in (line := await asyncio.wait_for(load.stderr.readline(), 30)):
                if not line:
                    raise RuntimeError("roost-load has ended")
            said = asyncio.create_task(load.stderr.read())
            deeds = Deeds(roost, seconds, load.pid)
            if name:
                before = counted(roost, FORGED)
                await asyncio.wait_for(getattr(deeds, name)(), seconds + 30)
                deeds.counts["paths given up"] = int(counted(roost, FORGED) - before)
            output = await asyncio.wait_for(load.stdout.read(), seconds + 60)
            await said
        finally:
            if output is None and load.returncode is None:
                load.kill()
            await load.wait()
        return json.loads(output), deeds.counts


def judge(name, seconds):
    report, counts = asyncio.run(measure(name, seconds))
    line = f"hostile participant: {name.replace('_', ' ')} for {seconds} s" if name else "twelve participants alone"
    ping = report["ping"]
    is_done = True
    if name:
        counts["packets that reach others"] = report["foreign"]
        lacking = missing(name, counts)
        shown = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()) if number)
        is_done = row(f"{line}: what it did", "done, and refused where it should be", "; ".join([shown, *lacking]), not lacking)
    holds = (report["never"] == 0 and report["joined"] == 12 and not report["failures"] and report["corrupt"] == 0
             and report["expected"] > 0)
    holds = row(line, "twelve others lose no packet",
                f"{report['never']} of {report['expected']} lost ({report['recovered']} sent again)", holds) and is_done
    return row(f"{line}: pings of twelve others", "p99 under 100 ms",
               f"p99 {ping['p99']:.1f} ms, max {ping['maximum']:.1f} ms", ping["p99"] < 100, is_time=True) and holds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("deeds", nargs="*", help=f"of {', '.join(DEEDS)}; all without one")
    options = parser.parse_args()
    return 0 if all([judge(name, options.seconds) for name in options.deeds or ["", *DEEDS]]) else 1


if __name__ == "__main__":
    sys.exit(main())
