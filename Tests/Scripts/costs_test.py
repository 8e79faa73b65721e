"""scripts/costs: its trial of the search says where that doesn't run."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("costs", str(ROOT / "scripts/costs"))
costs = importlib.util.module_from_spec(importlib.util.spec_from_loader("costs", LOADER))
LOADER.exec_module(costs)


class CostsTest(LimitedTest):
    def tried(self, runs):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            holds = costs.try_search(runs)
        return holds, said.getvalue().strip().split(" | ")[2:]

    def test_every_kind_has_to_have_run(self):
        self.assertEqual(self.tried({"report/sr": 7, "message/offer": 1_000}), (True, ["2 kinds, 1,007 executions"]))
        self.assertEqual(self.tried({"report/sr": 0, "message/offer": 5}),
                         (False, ["2 kinds, 5 executions; none of report/sr", "short"]))
        self.assertEqual(self.tried({}), (False, ["0 kinds, 0 executions", "short"]))

    def test_executions_are_those_that_the_search_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = os.path.join(folder, "search")
            costs.SEARCH, costs.OUT = fake, os.path.join(folder, "out")
            # libFuzzer keeps what it finds in its first folder.
            keeps = 'for each; do case $each in -*) ;; *) echo x >"$each/unit"; break ;; esac; done\n'
            for text, count in [(keeps + "echo stat::number_of_executed_units: 42", 42), ("echo stat::number_of_executed_units: 42", 0),
                                (keeps + "echo no figure", 0), ("exit 1", 0)]:
                with open(fake, "w", encoding="utf-8") as file:
                    file.write("#!/bin/sh\n" + text + "\n")
                os.chmod(fake, 0o755)
                with contextlib.redirect_stderr(io.StringIO()):
                    self.assertEqual(costs.search("report", f"kind {text}", [0], 1), count, text)

    TEXT = """before
<!-- costs: read by scripts/costs -->

| kind | instructions a byte, at most | for each of the others | where the dearest is |
|---|---|---|---|
| message: auth | 700 | 290 | `Fuzz/Costs/message/auth/one` |
| report: SR | 770 | - | `Fuzz/Costs/report/sr/two` |

<!-- end of costs -->
after
"""

    def test_what_is_kept_has_a_row_and_a_bound_that_holds_stays(self):
        text = costs.written(self.TEXT, [
            ("call", "GET /v1/calls", 1_234.5, 0.2, "Fuzz/Costs/call/get-v1-calls/a"), ("message", "auth", 650, 300.0, "Fuzz/Costs/message/auth/b"),
            ("report", "SR", 900, 0, "Fuzz/Costs/report/sr/c")])
        rows = [line for line in text.splitlines() if line.startswith(("| message", "| call", "| report"))]
        self.assertEqual(rows, [
            "| message: auth | 700 | 330 | `Fuzz/Costs/message/auth/b` |", "| call: GET /v1/calls | 1,400 | - | `Fuzz/Costs/call/get-v1-calls/a` |",
            "| report: SR | 990 | - | `Fuzz/Costs/report/sr/c` |"])
        self.assertTrue(text.startswith("before\n") and text.endswith("<!-- end of costs -->\nafter\n"))
        # What was written is read, and nothing of it changes by being written again.
        self.assertEqual(costs.written(text, [("report", "SR", 900, 0, "Fuzz/Costs/report/sr/c")]), text)
        with tempfile.NamedTemporaryFile("w", suffix=".md", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            before, costs.BOUNDS = costs.BOUNDS, file.name
            try:
                self.assertEqual(costs.bounds(), {"message/auth": (700, 330), "call/get-v1-calls": (1_400, 1), "report/sr": (990, 1)})
            finally:
                costs.BOUNDS = before

    def test_the_table_of_the_bounds_is_one_that_can_be_written(self):
        with open(costs.BOUNDS, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(costs.written(text, []), text)

    def test_a_kind_that_a_second_is_too_short_for_is_tried_for_longer(self):
        asked = []

        def search(group, kind, crowds, seconds):
            asked.append(seconds)
            return 9 if seconds > 1 and kind == "dear" else 0

        before, costs.search = costs.search, search
        try:
            self.assertEqual(costs.tried("request", "dear", [0]), 9)
            self.assertEqual(costs.tried("request", "broken", [0]), 0)
        finally:
            costs.search = before
        self.assertEqual(asked, [1, 20, 1, 20, 90])

    def test_every_kind_of_which_inputs_are_kept_has_a_bound(self):
        kept = {f"{group}/{kind}" for group in os.listdir(costs.KEPT) for kind in os.listdir(os.path.join(costs.KEPT, group))}
        self.assertEqual(kept, set(costs.bounds()))


if __name__ == "__main__":
    unittest.main()
