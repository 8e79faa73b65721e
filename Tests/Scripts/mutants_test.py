"""The planted mistakes: their cases, their places, their patches and scripts/mutants.list say the same."""

import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("mutants", str(ROOT / "scripts/mutants"))
mutants = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", LOADER))
LOADER.exec_module(mutants)

# Those that the server consists of, and what comes with it.
MODULES = ["AccessTokens", "Configuration", "Congestion", "Crypto", "Engine", "Gateway", "HTTPServer", "ICE", "Load", "Logging",
           "Media", "Model", "Negotiation", "Peer", "Polling", "Rooms", "Transport", "WebSocketClient", "Wire", "roost"]


class MutantsTest(LimitedTest):
    def setUp(self):
        self.cases = mutants.read_cases()
        self.patches = mutants.read_patches()
        self.rows = mutants.read_list()
        self.places = {}
        for path in sorted((ROOT / "Sources").rglob("*.swift")):
            planted, depth = None, 0
            for line in path.read_text().splitlines():
                if re.match(r"\s*#if\b", line):
                    depth += 1
                    planted = depth if "PLANTED_DEFECTS" in line and planted is None else planted
                elif re.match(r"\s*#endif\b", line):
                    planted = None if planted == depth else planted
                    depth -= 1
                for case in re.findall(r"PlantedDefect\.isOn\(\.(\w+)\)", line):
                    self.assertIsNotNone(planted, f"{path}: {line}")
                    self.places.setdefault(case, set()).add(path.relative_to(ROOT / "Sources").parts[0])

    def test_there_are_at_least_seventy_over_all_modules(self):
        self.assertGreaterEqual(len(self.cases) + len(self.patches), 70)
        self.assertEqual([module for module in MODULES if module not in set().union(*self.places.values())], [])

    def test_each_case_has_its_sentence_and_its_place(self):
        text = (ROOT / mutants.CASES).read_text()
        cases = re.findall(r"^ *case (\w+)", text, re.MULTILINE)
        self.assertEqual(len(cases), len(self.cases), "a case without a sentence")
        self.assertEqual(sorted(cases), sorted(self.places))
        for name, sentence in (self.cases | self.patches).items():
            self.assertRegex(sentence, r"^[A-Z].*\.$", name)

    def test_each_is_in_the_list_once_and_is_there(self):
        names = [row[0] for row in self.rows]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual([name for name in names if name not in self.cases and name not in self.patches], [])
        self.assertEqual([name for name in self.patches if name not in names], [])

    def test_each_check_is_there(self):
        swift = "\n".join(path.read_text() for path in (ROOT / "Tests").rglob("*.swift"))
        for name, kind, what in self.rows:
            self.assertEqual(kind == "script", name in self.patches, name)
            if kind in ("test", "both"):
                for part in what.replace("[.]", ".").split("|"):
                    suite = part.split(".")[-1]
                    found = re.search(rf"\bstruct {re.escape(suite)}\b|func `{re.escape(suite)}", swift)
                    self.assertTrue(found, f"{name}: {part}")
            elif kind == "server":
                module, _, test = what.split(".")
                self.assertIn(f"def {test}(", (ROOT / "Tests/Server" / f"{module}.py").read_text(), name)
            else:
                self.assertEqual(kind, "script", name)
                path, *test = what.split()
                text = (ROOT / path).read_text()
                self.assertTrue(not test or f"def {test[0].split('.')[1]}(" in text, name)

    def test_each_patch_applies(self):
        for name in self.patches:
            patch = str(ROOT / "scripts/mutants.d" / f"{name}.patch")
            done = subprocess.run(["git", "apply", "--check", patch], cwd=ROOT, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
