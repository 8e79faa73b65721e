"""calls_figures.py: five hundred calls at fifty a second, as rows `line | wanted | seen`."""

import sys

from calls_load import ROOM, WRONG, killed, run
from load_figures import row
from roost import Roost
from storage_test import Directory

CALLS, RATE = 500, 50


def counted(name, status, report):
    """The rows of a load, but for its times."""
    wrong = [report["wrong"][each] for each in WRONG]
    holds = row(f"{name}: started and over", f"{CALLS}, exit 0", f"{report['started']} started, {report['ended']} over, exit {status}",
                status == 0 and report["started"] == report["ended"] == CALLS)
    return holds & row(f"{name}: {', '.join(WRONG)}", ", ".join("0" * len(WRONG)), ", ".join(map(str, wrong)), sum(wrong) == 0)


def measure():
    with Roost(*ROOM) as roost:
        status, report, _ = run(roost, "--calls", str(CALLS), "--rate", str(RATE), "--talk", "5", "--quiet")
    name = f"{CALLS} calls, {RATE} a second"
    holds = counted(name, status, report)
    holds &= row(f"{name}: connected", str(CALLS), str(report["connected"]), report["connected"] == CALLS)
    for key, words, limit in (("startToRing", "from start to ring", 200), ("answerToSound", "from answer to sound", 500)):
        times = report["times"][key]
        holds &= row(f"{name}: {words}, p99", f"under {limit} ms", f"{times['p99']:.0f} ms (p50 {times['p50']:.0f})", times["p99"] < limit,
                     is_time=True)
    return holds


def measure_killed():
    with Directory() as directory:
        status, report, _ = killed(directory, CALLS, RATE)
    name = f"{CALLS} calls, {RATE} a second, killed in the middle"
    outcomes = ", ".join(f"{count} {each}" for each, count in sorted(report["outcomes"].items()))
    return counted(name, status, report) & row(f"{name}: how they ended", f"{CALLS}, as it fits", outcomes, sum(report["outcomes"].values()) == CALLS)


if __name__ == "__main__":
    sys.exit(0 if all([measure(), measure_killed()]) else 1)
