"""hostile_figures.py: twelve bystanders in two rooms beside one hostile participant, as rows `line | wanted | seen`."""

import argparse
import asyncio
import json
import subprocess
import sys

from hostile_deeds import DEEDS, EVIDENCE, Deeds
from load_figures import LOAD, counted, row
from roost import Roost


async def measure(name, seconds):
    """What the bystanders saw, and how much the hostile one did."""
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
            if name:
                before = counted(roost, EVIDENCE.get(name))
                count = await asyncio.wait_for(getattr(Deeds(roost, seconds, load.pid), name)(), seconds + 30)
                reached = name not in EVIDENCE or counted(roost, EVIDENCE[name]) > before + seconds
            else:
                count, reached = 0, True
            output = await asyncio.wait_for(load.stdout.read(), seconds + 60)
            await said
        finally:
            if output is None and load.returncode is None:
                load.kill()
            await load.wait()
        return json.loads(output), count, reached


def judge(name, seconds):
    report, count, reached = asyncio.run(measure(name, seconds))
    line = f"hostile participant: {name.replace('_', ' ')} for {seconds} s" if name else "twelve participants alone"
    ping = report["ping"]
    holds = (report["never"] == 0 and report["joined"] == 12 and not report["failures"] and report["corrupt"] == 0
             and report["expected"] > 0 and reached and (count > 0 or not name)
             and (report["foreign"] > 0 or name != "rollover"))
    holds = row(line, "twelve others lose no packet",
                f"{count} times; {report['never']} of {report['expected']} lost ({report['recovered']} sent again)", holds)
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
