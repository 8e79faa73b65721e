"""scripts/fuzz, on a small tree of its own with a program in the place of libFuzzer's."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/fuzz")

# Says what libFuzzer says; `broken` leaves an input behind, `-merge=1` copies.
PROGRAM = """#!/bin/sh
for argument; do
  case $argument in
    -artifact_prefix=*) prefix=${argument#*=} ;;
    -merge=1) merging=1 ;;
    -*) ;;
    *) [ -n "$first" ] && second=$argument || first=$argument ;;
  esac
done
if [ -n "$merging" ]; then cp "$second"/* "$first"; exit 0; fi
echo "$ROOST_FUZZ_TARGET" >>"$CALLS"
echo "#12 NEW    cov: 30 ft: 41 corp: 3/9b"
echo "#900 DONE   cov: 57 ft: 88 corp: 5/22b lim: 4 exec/s: 90 rss: 40Mb"
echo new >"$first/unit"
if [ "$ROOST_FUZZ_TARGET" = broken ]; then echo x >"${prefix}crash-1"; exit 77; fi
echo "stat::number_of_executed_units: 1234"
echo "stat::new_units_added:          6"
"""


class FuzzTest(LimitedTest):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="fuzz-test-")
        self.addCleanup(shutil.rmtree, self.root)
        self.calls = os.path.join(self.root, "calls")
        os.makedirs(self.path("scripts"))
        shutil.copy(SCRIPT, self.path("scripts/fuzz"))
        self.write("program", PROGRAM)
        self.write("bin/swift", f"#!/bin/sh\nmkdir -p {self.root}/.build-fuzz/release\n"
                                f"cp {self.root}/program {self.root}/.build-fuzz/release/roost-fuzz\n")
        self.write("Fuzz/Corpus/one/seed", "seed")

    def path(self, name):
        return os.path.join(self.root, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), 0o755)

    def fuzz(self, *arguments):
        done = subprocess.run([self.path("scripts/fuzz"), *arguments], capture_output=True, text=True, timeout=60,
                              env=os.environ | {"PATH": f"{self.path('bin')}:{os.environ['PATH']}", "CALLS": self.calls})
        return done.returncode, done.stdout + done.stderr

    def called(self):
        with open(self.calls, encoding="utf-8") as file:
            return sorted(file.read().split())

    def test_without_a_name_every_target_runs(self):
        self.write("Fuzz/Corpus/two/seed", "seed")
        self.assertEqual(self.fuzz("", "1")[0], 0)
        self.assertEqual(self.called(), ["one", "two"])

    def test_a_broken_promise_fails_and_the_others_run_all_the_same(self):
        self.write("Fuzz/Corpus/broken/seed", "seed")
        status, output = self.fuzz("", "1")
        self.assertEqual((status, self.called()), (1, ["broken", "one"]))
        self.assertIn("fuzz: broken: broken", output)

    def test_an_unknown_target_is_refused_with_the_names_of_those_that_exist(self):
        status, output = self.fuzz("three", "1")
        self.assertEqual(status, 2)
        self.assertIn("no target three; there are: one", output)

    def test_long_runs_leave_a_row_each_and_are_not_repeated(self):
        self.write("Fuzz/Corpus/peer/seed", "seed")
        status, output = self.fuzz("--long", self.path("out"), "--seconds", "0", "--jobs", "2")
        self.assertEqual(status, 0, output)
        with open(self.path("out/results.tsv"), encoding="utf-8") as file:
            rows = [line.split("\t") for line in file.read().splitlines()]
        self.assertEqual(rows[0][:2], ["target", "seconds"])
        self.assertEqual(sorted(row[0] for row in rows[1:]), ["one", "peer"])
        self.assertEqual([row[3:8] for row in rows[1:]], [["1234", "57", "88", "6", "0"]] * 2)
        self.assertEqual(self.fuzz("--long", self.path("out"), "--seconds", "0")[0], 0)
        self.assertEqual(self.called(), ["one", "peer"])
        table = self.fuzz("--table", self.path("out"))[1].splitlines()
        self.assertIn("| peer | 0 | 0 | 1,234 | 57 | 6 | 0 |", table[2])
        self.assertEqual(len(table), 4)

    def test_a_target_with_a_finding_runs_again(self):
        self.write("Fuzz/Corpus/broken/seed", "seed")
        for _ in range(2):
            self.assertEqual(self.fuzz("--long", self.path("out"), "--seconds", "0", "broken")[0], 1)
        self.assertEqual(self.called(), ["broken", "broken"])
        self.assertEqual(os.listdir(self.path("out/artifacts/broken")), ["crash-1"])

    def test_shorter_runs_don_t_count_for_longer_ones(self):
        self.fuzz("--long", self.path("out"), "--seconds", "0")
        self.fuzz("--long", self.path("out"), "--seconds", "50")
        self.assertEqual(self.called(), ["one", "one"])

    def test_what_is_new_comes_into_the_corpus_within_its_bounds(self):
        self.write("out/corpus/one/a", "seed")
        self.write("out/corpus/one/b", "found")
        self.write("out/corpus/one/c", "x" * 200_000)
        self.assertEqual(self.fuzz("--merge", self.path("out")), (0, "one: 1 new\n"))
        self.assertEqual(len(os.listdir(self.path("Fuzz/Corpus/one"))), 2)
        for number in range(200):
            self.write(f"out/corpus/one/{number}", f"unit {number}")
        self.fuzz("--merge", self.path("out"))
        self.assertEqual(len(os.listdir(self.path("Fuzz/Corpus/one"))), 100)


if __name__ == "__main__":
    unittest.main()
