"""Tests/Server/run on small files of tests: what was skipped is said, and counts where no one looks."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SERVER = pathlib.Path(__file__).resolve().parents[1] / "Server"
sys.path.insert(0, str(SERVER))
from limits import LimitedTest, TAKES_LONG  # noqa: E402

HEAD = "import unittest\nfrom limits import LimitedTest\n\n\nclass SomeTest(LimitedTest):\n"


def test(name, *lines):
    return f"    def test_{name}(self):\n" + "".join(f"        {line}\n" for line in lines or ["pass"])


class ServerRunTest(LimitedTest):
    def run_files(self, files, ci=None):
        """Exit status and what is said, for {name: text of a file of tests}."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("run", "one_file.py", "limits.py"):
                shutil.copy(SERVER / name, folder)
            for name, text in files.items():
                pathlib.Path(folder, name + "_test.py").write_text(text, encoding="utf-8")
            kept = {name: value for name, value in os.environ.items() if name not in ("CI", "ROOST_FULL")}
            done = subprocess.run([sys.executable, f"{folder}/run"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=50,
                                  env=kept | ({"CI": ci} if ci else {}))
        return done.returncode, done.stdout

    def test_what_is_skipped_is_named_with_its_reason_at_the_end(self):
        status, said = self.run_files({"a": HEAD + test("it", 'self.skipTest("no mounts")'), "b": HEAD + test("it")})
        self.assertEqual(status, 0, said)
        self.assertTrue(said.endswith("skipped, no mounts:\n  a_test.SomeTest.test_it\n2 files, 1 tests skipped, 0 failed\n"), said)

    def test_under_continuous_integration_only_reasons_of_the_list_do(self):
        lacking = HEAD + "    @unittest.skipIf(True, 'takes root')\n" + test("it")
        fine = HEAD + f"    @unittest.skipIf(True, {TAKES_LONG!r})\n" + test("it")
        status, said = self.run_files({"a": lacking, "b": fine}, "true")
        self.assertEqual(status, 1, said)
        self.assertIn("1 of these could run, and CI=true wants them", said)
        self.assertEqual(self.run_files({"a": lacking, "b": fine}, "false")[0], 0)
        self.assertEqual(self.run_files({"b": fine}, "true")[0], 0)

    def test_a_class_that_is_skipped_counts_too(self):
        status, said = self.run_files({"a": HEAD.replace("class", "@unittest.skipIf(True, 'takes root')\nclass") + test("it")}, "true")
        self.assertEqual(status, 1, said)
        self.assertIn("skipped, takes root:\n  a_test.SomeTest.test_it\n", said)

    def test_one_that_fails_and_one_that_breaks_off_fail_the_run(self):
        status, said = self.run_files({"a": HEAD + test("it", "self.fail()"), "b": HEAD + test("it", "import os", "os._exit(0)"), "c": HEAD + test("it")})
        self.assertEqual(status, 1, said)
        self.assertIn("== a_test: FAILED", said)
        self.assertIn("== b_test: FAILED", said)
        self.assertIn("2 failed: a_test, b_test\n", said)


if __name__ == "__main__":
    unittest.main()
