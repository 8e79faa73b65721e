"""roost-bench on the whole server: that its figures are those of the packets that it says, and what it refuses."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from limits import LimitedTest
from roost import BINARY

BENCH = os.path.join(os.path.dirname(BINARY), "roost-bench")


def bench(*arguments, seconds=90):
    return subprocess.run([BENCH, *arguments], capture_output=True, text=True, timeout=seconds)


class BenchTest(LimitedTest):
    seconds = 180

    def test_the_server_and_the_plain_one_deliver_the_same_packets(self):
        done = bench("server", "--scenario", "4x4", "--seconds", "2", "--json", "--roost", BINARY)
        self.assertTrue(done.stdout, done.stderr)
        row, = json.loads(done.stdout)
        # The machine may do much else meanwhile: figures are then marked, and are counts all the same.
        if row["faults"]:
            self.assertEqual(done.returncode, 1)
        else:
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(row["scenario"], "four rooms of four")
        # 48 ways, each with sound of 50 packets a second and pictures of 180.
        self.assertGreater(row["delivered"], 2 * 48 * 200)
        self.assertLess(abs(row["sent"] - row["delivered"]), 0.05 * row["delivered"], row)
        self.assertLess(abs(row["floorDelivered"] - row["delivered"]), 0.05 * row["delivered"], row)
        for each in ("server", "floor"):
            self.assertGreater(row[each]["total"], 0.5, row)
            self.assertLess(row[each]["system"], row[each]["total"] + 1, row)
        self.assertAlmostEqual(row["ratio"], row["server"]["total"] / row["floor"]["total"], places=6)

    def test_a_command_line_that_cannot_be_followed_ends_with_2(self):
        for arguments, word in ((["--scenario", "2-2"], "1-20, 1-100, 4x4"), (["--seconds", "x"], "from 2 to 600"),
                                (["--fast"], "unknown option --fast"), (["--roost"], "--roost takes")):
            with self.subTest(arguments):
                done = bench("server", *arguments)
                self.assertEqual(done.returncode, 2)
                self.assertIn(word, done.stderr)
                self.assertIn("usage: roost-bench", done.stderr)

    def test_a_server_that_does_not_start_ends_the_benchmark_with_an_error(self):
        done = bench("server", "--roost", "/bin/false")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the server does not start", done.stderr)

    def test_its_server_ends_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            # Writes its number down and becomes the server.
            starter = os.path.join(folder, "roost")
            with open(starter, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\necho $$ >{folder}/pid\nexec {BINARY} "$@"\n')
            os.chmod(starter, 0o755)
            with subprocess.Popen([BENCH, "server", "--scenario", "1-20", "--roost", starter], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as child:
                self.wait(lambda: os.path.exists(f"{folder}/pid") and open(f"{folder}/pid").read().strip())
                with open(f"{folder}/pid", encoding="utf-8") as file:
                    pid = file.read().strip()
                time.sleep(0.5)
                child.send_signal(signal.SIGTERM)
                child.wait(timeout=10)
            self.wait(lambda: not os.path.exists(f"/proc/{pid}"))

    def wait(self, condition):
        deadline = time.monotonic() + 10
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_help_teaches(self):
        done = bench("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("roost-bench server [--scenario S]", done.stdout)


if __name__ == "__main__":
    unittest.main()
