"""Tests/Browsers: `make test` runs the short ones and `make accept` each of them, and one that is skipped without need is a failure."""

import asyncio
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BROWSERS = ROOT / "Tests/Browsers"
# Pictures for the documentation are made by them, and nothing is shown.
MAKES_PICTURES = {"call_picture", "pictures"}

sys.path.insert(0, str(BROWSERS))
LOADER = importlib.machinery.SourceFileLoader("browsers_run", str(BROWSERS / "run"))
program = importlib.util.module_from_spec(importlib.util.spec_from_loader("browsers_run", LOADER))
LOADER.exec_module(program)
from harness import media  # noqa: E402
sys.path.remove(str(BROWSERS))


def named_by(check):
    """The tests that a check of scripts/accept.d runs by name."""
    text = (ROOT / "scripts/accept.d" / check).read_text(encoding="utf-8").replace("\\\n", " ")
    command = re.search(r"Tests/Browsers/run (.*?) \|\| status", text)[1]
    return [word for word in re.sub(r"--\S+( \"?[\w/$]+\"?)?", " ", command.replace("--full", "")).split()]


class BrowsersTest(LimitedTest):
    def test_every_test_is_one_that_the_runner_knows(self):
        there = {path.stem for path in BROWSERS.glob("*.py")}
        self.assertEqual(there, set(program.TESTS | program.TOOLS))
        self.assertFalse(set(program.TESTS) & set(program.TOOLS))

    def test_each_takes_what_is_shared_or_has_its_own(self):
        for name in program.TESTS | program.TOOLS:
            text = (BROWSERS / f"{name}.py").read_text(encoding="utf-8")
            ways = re.findall(r"^async def (meet\(report, options, server, chromium, \w+|run\(report, options)\):", text, re.MULTILINE)
            self.assertTrue(ways, name)
            # What is shared is never started beside itself.
            if not any(way.startswith("run") for way in ways):
                self.assertNotRegex(text, r"\b(Server|Chromium|Firefox)\(", name)

    def test_make_test_runs_those_of_each_commit(self):
        done = subprocess.run(["make", "--dry-run", "--no-print-directory", "test"], cwd=ROOT, capture_output=True, text=True,
                              timeout=60, env={**os.environ, "MAKEFLAGS": "", "BROWSER_TEST": ""})
        called = re.findall(r"Tests/Browsers/run(.*)", done.stdout)
        self.assertEqual([re.sub(r"--seconds [\d.]+", "", words).split() for words in called], [["--short"]], done.stdout)
        self.assertLess(set(program.SHORT), set(program.TESTS))
        # What no commit goes without: media, what is agreed on, the page, the operators', and what an application has of its own.
        self.assertLess({"through_roost", "offers", "every_codec", "page", "page_walk", "admin", "roost_js", "resume"}, set(program.SHORT))
        text = (ROOT / "docs/testing.md").read_text(encoding="utf-8")
        self.assertEqual((len(program.SHORT), text.count("twenty of the browser tests")), (20, 1))

    def test_without_names_all_of_them_run_or_the_short_ones(self):
        for words, wanted in (([], list(program.TESTS)), (["--short"], [name for name in program.TESTS if name in program.SHORT]),
                              (["--short", "direct"], ["direct"])):
            with unittest.mock.patch.object(sys, "argv", ["run", *words]):
                self.assertEqual(program.arguments().tests, wanted)

    def test_accept_runs_each_of_them_once(self):
        named = [name for check in ("browsers", "conversation", "links", "sessions") for name in named_by(check)]
        self.assertEqual(sorted(named), sorted(set(program.TESTS | program.TOOLS) - MAKES_PICTURES))

    def finish(self, reason):
        """What the runner answers and says, and the rows that it writes, where no test can run for that reason."""
        said = io.StringIO()
        with tempfile.NamedTemporaryFile("r") as rows, contextlib.redirect_stdout(said):
            report = program.Report()
            for name in ("direct", "page"):
                report.skip(name, reason)
            report.write(rows.name)
            return report.finish(), said.getvalue(), rows.read().splitlines()

    def test_a_test_that_is_skipped_though_it_could_run_is_a_failure(self):
        status, said, rows = self.finish("chromium is not installed")
        self.assertEqual(status, 1)
        self.assertTrue(said.endswith("0 passed, 0 failed, 2 skipped\n"), said)
        self.assertEqual(rows, [f"{name} | runs | skipped: chromium is not installed | short" for name in ("direct", "page")])

    def test_a_machine_without_namespaces_passes_them_over(self):
        status, said, rows = self.finish("namespaces are not permitted: unshare failed")
        self.assertEqual((status, rows), (0, []))
        self.assertTrue(said.endswith("0 passed, 0 failed, 2 skipped\n"), said)

    def test_no_other_reason_excuses(self):
        for reason in ("ip is not installed", "making a namespace took more than 20 s", ""):
            self.assertEqual(self.finish(reason)[0], 1, reason)


class BusyMachineTest(LimitedTest):
    """What is measured again, and what never is."""

    def measured(self, *shares):
        left = list(shares)

        async def measure(*_):
            return media.Flow(100, 100, round(100 * left.pop(0)), 1.0, "640x360", 0.0, 5.0)

        flows = asyncio.run(media.measure_best(None, None, None, 5, measure))
        return flows.holds, len(flows.windows), str(flows)

    def test_what_holds_is_measured_once(self):
        self.assertEqual(self.measured(0.9)[:2], (True, 1))

    def test_what_is_a_little_short_has_three_windows_all_of_them_said(self):
        holds, windows, text = self.measured(0.89, 0.75, 0.95)
        self.assertEqual((holds, windows), (True, 3))
        for share in ("89 of 100", "75 of 100", "95 of 100"):
            self.assertIn(share, text)
        self.assertEqual(self.measured(0.89, 0.89, 0.89)[:2], (False, 3))

    def test_what_hardly_flows_is_no_fault_of_the_machine(self):
        self.assertEqual(self.measured(0.59, 1.0)[:2], (False, 1))
        self.assertEqual(self.measured(0.85, 0.3, 1.0)[:2], (False, 2))


if __name__ == "__main__":
    unittest.main()
