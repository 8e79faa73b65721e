"""calls_figures.py: five hundred calls at fifty a second, and the same with the server killed in the middle, on both stores, as rows
`line | wanted | seen`."""

import sys

from calls_load import ROOM, WRONG, killed, run
from load_figures import row
from postgres import Postgres
from roost import Roost
from storage_test import Directory

CALLS, RATE = 500, 50
STEADY = 10
"""Calls a second that two cores carry with the load beside the server: times say how fast calls are, and not how long they queue."""
TIMES = (("startToRing", "from start to ring", 200), ("answerToSound", "from answer to first audio", 500))


def counted(name, status, report, calls=CALLS):
    """The rows of a load, but for its times."""
    wrong = [report["wrong"][each] for each in WRONG]
    holds = row(f"{name}: started and over", f"{calls}, exit 0", f"{report['started']} started, {report['ended']} over, exit {status}",
                status == 0 and report["started"] == report["ended"] == calls)
    return holds & row(f"{name}: {', '.join(WRONG)}", ", ".join("0" * len(WRONG)), ", ".join(map(str, wrong)), sum(wrong) == 0)


def times(name, report, is_bound):
    """A row for each time. It has no bound where the machine has more to do than it can, or the server is killed."""
    holds = True
    for key, words, limit in TIMES:
        found = report["times"][key]
        has = "p50" in found and "p99" in found
        seen = f"{found['p99']:.0f} ms (p50 {found['p50']:.0f})" if has else "none"
        wanted = f"under {limit} ms" if is_bound else "printed"
        holds &= row(f"{name}: {words}, p99", wanted, seen, has and (not is_bound or found["p99"] < limit), is_time=True)
    return holds


def measure(calls, rate, is_bound):
    with Roost(*ROOM) as roost:
        status, report, _ = run(roost, "--calls", str(calls), "--rate", str(rate), "--talk", "5", "--quiet")
    name = f"{calls} calls, {rate} a second"
    holds = counted(name, status, report, calls)
    holds &= row(f"{name}: connected", str(calls), str(report["connected"]), report["connected"] == calls)
    return holds & times(name, report, is_bound)


def measure_killed(store, storage):
    status, report, _ = killed(storage, CALLS, RATE)
    name = f"{CALLS} calls, {RATE} a second, {store}, killed in the middle"
    outcomes = ", ".join(f"{count} {each}" for each, count in sorted(report["outcomes"].items()))
    holds = counted(name, status, report)
    holds &= row(f"{name}: how they ended", f"{CALLS}, as it fits", outcomes, sum(report["outcomes"].values()) == CALLS)
    return holds & times(name, report, is_bound=False)


def main():
    holds = [measure(CALLS, RATE, is_bound=False), measure(10 * STEADY, STEADY, is_bound=True)]
    with Directory() as directory:
        holds.append(measure_killed("SQLite", directory))
    with Postgres() as database:
        holds.append(measure_killed("PostgreSQL", f"--storage.postgresql={database.text}"))
    return 0 if all(holds) else 1


if __name__ == "__main__":
    sys.exit(main())
