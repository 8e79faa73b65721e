"""storage_figures.py: each store under writers, killed again and again, as rows `line | wanted | seen`."""

import argparse
import concurrent.futures
import multiprocessing
import shutil
import sys
import tempfile

from load_figures import row
from postgres import Postgres
from receiver import Receiver
from writers import WRONG, Kills, figures


def sqlite(kills, seconds):
    directory = tempfile.mkdtemp(prefix="roost-data-")
    try:
        return killed(kills, seconds, f"--storage.directory={directory}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def postgresql(kills, seconds):
    with Postgres() as postgres:
        return killed(kills, seconds, f"--storage.postgresql={postgres.text}")


def killed(count, seconds, storage):
    with Receiver([200, 500, 302, 503] * count) as receiver:
        kills = Kills(storage, receiver=receiver, seconds=seconds)
        kills.rounds(count)
    return kills.counts, kills.problems[:5]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0.3, help="under load before each")
    options = parser.parse_args()
    holds = True
    # Side by side: each waits for its disk more than for the processor.
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        running = {name: pool.submit(each, options.kills, options.seconds)
                   for name, each in (("SQLite", sqlite), ("PostgreSQL", postgresql))}
        for name, each in running.items():
            counts, problems = each.result()
            faults = sum(counts[each] for each in WRONG) + len(problems)
            holds &= row(f"{name}, killed {options.kills} times under load: what was acknowledged and every event are there, once, "
                         "and webhooks bring each in order, as it is stored", "0 lost, 0 twice, 0 gaps, 0 disordered, 0 unheard, 0 altered", "; ".join([figures(counts), *problems]),
                         faults == 0 and counts["kills"] == options.kills and counts["acknowledged"] > 10 * options.kills)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
