"""What scripts/test-swift makes of a run of the Swift tests: its status, and its failures once more at the end."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "test-swift")


class TestSwiftTest(LimitedTest):
    def run_with(self, tests, *arguments):
        """A run in which the tests' program is the given shell script."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tests")
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + tests)
            os.chmod(path, 0o755)
            return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, timeout=30,
                                  env={**os.environ, "ROOST_TEST_PROGRAM": path})

    def test_a_run_that_passes_adds_nothing(self):
        ran = self.run_with('echo "$@"', "--filter", "A|B")
        self.assertEqual((ran.returncode, ran.stdout), (0, "--testing-library swift-testing --filter A|B\n"))

    def test_a_choice_of_no_test_fails(self):
        ran = self.run_with('echo "✔ Test run with 0 tests in 0 suites passed after 0.001 seconds."', "--filter", "Gone")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("no test is chosen by: --filter Gone", ran.stderr)

    def test_tests_that_are_not_built_are_said_to_be(self):
        ran = subprocess.run([SCRIPT], capture_output=True, text=True, timeout=30,
                             env={**os.environ, "ROOST_TEST_PROGRAM": "/nowhere/tests"})
        self.assertEqual(ran.returncode, 1)
        self.assertIn("swift build --build-tests", ran.stderr)

    def test_failures_stand_at_the_end_and_keep_the_status(self):
        ran = self.run_with("""
cat <<'END'
◇ Test "a" started.
✘ Test "a" recorded an issue at A.swift:7:3: Expectation failed: (x → 1) == 2
↳ // why
✘ Test "a" failed after 0.001 seconds with 1 issue.
✔ Test "b" passed after 0.001 seconds.
END
for number in $(seq 500); do echo "✔ Test \\"$number\\" passed after 0.001 seconds."; done
exit 3
""")
        self.assertEqual(ran.returncode, 3)
        end = ran.stdout.splitlines()[-6:]
        self.assertEqual([line for line in end if "A.swift:7:3" in line or "exit 3" in line],
                         ["✘ Test \"a\" recorded an issue at A.swift:7:3: Expectation failed: (x → 1) == 2", "== exit 3"])

    def test_a_crash_stands_at_the_end(self):
        ran = self.run_with('echo "A/B.swift:12: Fatal error: Index out of range" >&2; exit 1')
        self.assertEqual(ran.returncode, 1)
        self.assertEqual(ran.stdout.splitlines()[-2:], ["A/B.swift:12: Fatal error: Index out of range", "== exit 1"])


if __name__ == "__main__":
    unittest.main()
