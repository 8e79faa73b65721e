"""roost-load --calls against the server as a process, also one that is killed in the middle."""

import signal
import socket
import subprocess
import unittest

from calls_load import LOAD, ROOM, WRONG, Running, figures, killed, run
from limits import LimitedTest, full
from postgres import Postgres
from roost import Roost, free_port
from storage_test import Directory


class CallsLoadTest(LimitedTest):
    seconds = 200

    def good(self, status, report, said, calls):
        print(f"\n  {figures(report)}", flush=True)
        self.assertEqual(status, 0, (report, said))
        self.assertEqual((report["calls"], report["started"], report["ended"]), (calls, calls, calls), report)
        self.assertEqual([report["wrong"][each] for each in WRONG], [0] * len(WRONG), report)
        self.assertEqual(report["failures"], {}, report)

    def test_calls_ring_are_answered_talked_in_and_hung_up(self):
        with Roost(*ROOM) as roost:
            status, report, said = run(roost, "--calls", "20", "--rate", "10", "--talk", "2")
        self.good(status, report, said, 20)
        self.assertEqual((report["connected"], report["outcomes"]), (20, {"answered": 20}))
        # 50 packets a second to each of the two, from when the first of them was in.
        self.assertGreater(report["sound"]["received"], 20 * 2 * 2 * 50 * 0.9, report)
        self.assertEqual(report["again"], {"requests": 0, "streams": 0, "joins": 0})
        for each in ("startToRing", "answerToSound", "start"):
            self.assertGreaterEqual(report["times"][each]["p99"], report["times"][each]["p50"])
        self.assertRegex(said, r"calling, \d+ of 20 started, \d+ connected, \d+ over, 0 failed")

    def test_what_the_server_puts_off_is_asked_again_later(self):
        with Roost("--limits.requestsPerAddress=8", "--limits.requestsAtOncePerAddress=8") as roost:
            status, report, said = run(roost, "--calls", "6", "--rate", "6", "--talk", "1")
        self.good(status, report, said, 6)
        self.assertGreater(report["again"]["requests"] + report["again"]["streams"] + report["again"]["joins"], 0)

    def test_killed_in_the_middle_on_sqlite_every_call_has_an_end_that_fits(self):
        with Directory() as directory:
            self.good(*killed(directory, 12, 6, talk=4), 12)

    def test_killed_in_the_middle_on_postgresql_every_call_has_an_end_that_fits(self):
        with Postgres() as database:
            self.good(*killed(f"--storage.postgresql={database.text}", 12, 6, talk=4), 12)

    def test_a_server_that_stays_away_is_a_failure(self):
        with Roost(*ROOM) as roost, Running(f"http://{roost.public}", "--calls", "4", "--rate", "4", "--talk", "30") as load:
            load.wait_until(4, "connected")
            roost.signal(signal.SIGKILL)
            status, report = load.ended(60)
        self.assertEqual((status, report["ok"], report["connected"]), (1, False, 4), report)
        self.assertGreater(sum(report["failures"].values()), 0)

    def test_calls_that_another_server_knows_nothing_of_are_lost(self):
        with Roost(*ROOM, f"--http.port={free_port(socket.SOCK_STREAM)}") as roost:
            load = Running(f"http://{roost.public}", "--calls", "4", "--rate", "4", "--talk", "3", "--restarts")
            with load:
                load.wait_until(4, "connected")
                roost.signal(signal.SIGKILL)
                with Roost(*ROOM, f"--http.port={roost.public.split(':')[1]}"):
                    status, report = load.ended(150)
        self.assertEqual(status, 1)
        self.assertEqual(report["wrong"]["lost"], 4, report)

    def test_what_is_asked_for_of_rooms_ends_with_2(self):
        done = subprocess.run([LOAD, "--calls", "5", "--rooms", "2"], capture_output=True, text=True, timeout=10)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--rooms is of rooms", done.stderr)

    @full
    def test_five_hundred_calls_at_fifty_a_second(self):
        with Roost(*ROOM) as roost:
            status, report, said = run(roost, "--calls", "500", "--rate", "50", "--talk", "5")
        self.good(status, report, said, 500)
        self.assertEqual(report["connected"], 500, report)

    @full
    def test_five_hundred_calls_killed_in_the_middle_on_sqlite(self):
        with Directory() as directory:
            self.good(*killed(directory, 500, 50), 500)

    @full
    def test_five_hundred_calls_killed_in_the_middle_on_postgresql(self):
        with Postgres() as database:
            self.good(*killed(f"--storage.postgresql={database.text}", 500, 50), 500)


if __name__ == "__main__":
    unittest.main()
