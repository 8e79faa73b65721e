"""calls_kills.py: the server killed again and again under people who call each other, on both stores, as rows `line | wanted | seen`:
of each kind what was acknowledged is there, once."""

import argparse
import concurrent.futures
import multiprocessing
import signal
import sys
import time

from callers import UNBOUNDED
from calls_kills_judge import WRONG, Verdict, judge
from calls_kills_writer import KINDS, CallWriter
from load_figures import row
from postgres import Postgres
from roost import Roost
from storage_test import Directory

WRITERS = 4
# Of which so many answers were acknowledged before a kill, and of each kind one before every fourth, at least.
LEAST, LEAST_OF_KIND = 10, 0.25


def killed(count, seconds, storage):
    """Kills a server so often, each time under writers; looks after each start what became of those of before."""
    verdict, writers = Verdict(), []
    for turn in range(count + 1):
        with Roost(storage, *UNBOUNDED) as roost:
            for writer in writers:
                judge(roost, writer, verdict)
            if turn == count:
                break
            writers = [CallWriter(f"{turn}-{number}", roost, 100 * turn + number) for number in range(WRITERS)]
            for writer in writers:
                writer.start()
            time.sleep(seconds + 0.1 * (turn % 5))
            roost.signal(signal.SIGKILL)
            for writer in writers:
                writer.join(20)
            verdict.kills += 1
    return verdict


def sqlite(kills, seconds):
    with Directory() as directory:
        return killed(kills, seconds, directory)


def postgresql(kills, seconds):
    with Postgres() as database:
        return killed(kills, seconds, f"--storage.postgresql={database.text}")


def show(name, kills, verdicts):
    """Rows about one store, of all who ran on it."""
    whole = Verdict()
    for each in verdicts:
        whole.add(each)
    holds = row(f"{name}, killed {kills} times while people call each other: requests that were answered", f"more than {LEAST * kills}, as described",
                "; ".join([f"{whole.kills} kills, {whole.requests} answered", *whole.problems[:5]]),
                whole.kills == kills and whole.requests > LEAST * kills and not whole.problems)
    for kind in KINDS:
        wrong = sum(whole.counts[kind, each] for each in WRONG)
        holds &= row(f"{name}, killed {kills} times: {kind} that were acknowledged are there, once", ", ".join(f"0 {each}" for each in WRONG),
                     whole.says(kind), wrong == 0 and whole.counts[kind, "acknowledged"] >= LEAST_OF_KIND * kills)
    return holds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sqlite", type=int, default=200)
    parser.add_argument("--postgresql", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=0.4, help="under load before each, at least")
    options = parser.parse_args()
    half = options.sqlite // 2
    # Side by side, each with a database of its own: each waits for its disk and its restarts more than for the processor.
    with concurrent.futures.ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as pool:
        halves = [pool.submit(sqlite, count, options.seconds) for count in (half, options.sqlite - half)]
        other = pool.submit(postgresql, options.postgresql, options.seconds)
        holds = show("SQLite", options.sqlite, [each.result() for each in halves])
        holds &= show("PostgreSQL", options.postgresql, [other.result()])
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
