"""Every suite has a time limit, so that a test that waits for something that never comes ends with its name."""

import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVER = ROOT / "Tests/Server"
TYPE = re.compile(r"(?:\w+ )*(struct|class|actor|enum|extension) ([\w.]+)")


def unlimited(text):
    """Of one file: suites without a limit, suites with one, and types whose tests stand in an extension.

    A type inside of another has the limit of that one (traits of a suite hold for all that is in it)."""
    lacking, limited, extended = [], [], []
    attributes, name, kind, is_limited = "", None, None, False
    for line in text.splitlines():
        indented = line[:1].isspace() or line[:1] in ("", "}", ")")
        if line.startswith("@"):
            attributes = line
        elif attributes and indented:
            attributes += line
        found = None if indented else TYPE.match(line)
        if found:
            kind, name = found.groups()
            is_limited = "@Suite" in attributes and ".timeLimit(" in attributes
            attributes = ""
            if is_limited:
                limited.append(name)
        if re.match(r"@Test\b", line):
            lacking.append("a test outside of any suite")
        elif re.match(r"\s+@Test\b", line) and name:
            if kind == "extension":
                extended.append(name)
            elif not is_limited:
                lacking.append(name)
    return sorted(set(lacking)), sorted(set(limited)), sorted(set(extended))


def unlimited_classes(text):
    """Of one file of Python: classes with tests that have not their limit from Tests/Server/limits.py, and how many have."""
    lacking, limited = [], 0
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ClassDef):
            continue
        bases = {ast.unparse(base) for base in node.bases}
        if bases & {"LimitedTest", "LimitedAsyncTest"}:
            limited += 1
        elif any("TestCase" in base for base in bases) or any(
                isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and each.name.startswith("test") for each in node.body):
            lacking.append(node.name)
    return lacking, limited


class TimeLimitsTest(LimitedTest):
    def test_every_suite_has_a_time_limit(self):
        lacking, suites = [], 0
        for folder in sorted(path for path in (ROOT / "Tests").iterdir() if path.is_dir()):
            limited, extended = set(), {}
            for path in sorted(folder.rglob("*.swift")):
                without, some, others = unlimited(path.read_text(encoding="utf-8"))
                lacking += [f"{path.relative_to(ROOT)}: {name}" for name in without]
                limited |= set(some)
                extended |= {name: path for name in others}
            lacking += [f"{path.relative_to(ROOT)}: {name}" for name, path in extended.items() if name.split(".")[0] not in limited]
            suites += len(limited)
        self.assertEqual(lacking, [])
        self.assertGreater(suites, 150)

    def test_every_python_suite_has_a_time_limit(self):
        lacking, suites = [], 0
        for path in sorted((ROOT / "Tests").rglob("*_test.py")):
            without, limited = unlimited_classes(path.read_text(encoding="utf-8"))
            lacking += [f"{path.relative_to(ROOT)}: {name}" for name in without]
            suites += limited
        self.assertEqual(lacking, [])
        self.assertGreater(suites, 25)

    def test_a_python_suite_without_a_limit_is_seen(self):
        test = "    def test_it(self): pass\n"
        self.assertEqual(unlimited_classes("class A(LimitedTest):\n" + test), ([], 1))
        self.assertEqual(unlimited_classes("class A(LimitedAsyncTest):\n    async def test_it(self): pass\n"), ([], 1))
        self.assertEqual(unlimited_classes("class A(unittest.TestCase):\n" + test), (["A"], 0))
        self.assertEqual(unlimited_classes("class A(unittest.IsolatedAsyncioTestCase):\n    pass\n"), (["A"], 0))
        self.assertEqual(unlimited_classes("class A(Other):\n    async def test_it(self): pass\n"), (["A"], 0))
        self.assertEqual(unlimited_classes("class Helper:\n    def run(self): pass\n"), ([], 0))

    def outcome(self, body, grace=20):
        """How a suite ends whose tests have a second each, and what it says."""
        text = "import asyncio, socket, sys, time, unittest\nimport limits\n" + f"limits.GRACE = {grace}\n" + body
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "some_test.py").write_text(text + "\nunittest.main()\n")
            done = subprocess.run([sys.executable, folder + "/some_test.py"], capture_output=True, text=True, timeout=30,
                                  env={**os.environ, "PYTHONPATH": str(SERVER)})
        return done.returncode, done.stdout + done.stderr

    def test_a_python_test_that_waits_for_ever_fails_by_its_name_and_the_others_run(self):
        status, said = self.outcome("""
class BlockedTest(limits.LimitedTest):
    seconds = 1
    def test_a_hung_read(self):
        here, there = socket.socketpair()
        try:
            here.recv(1)
        except Exception:
            pass  # what is over is no error that a test expects
    def test_b_quick(self):
        print("quick one ran")

class WaitingTest(limits.LimitedAsyncTest):
    seconds = 1
    async def test_a_hung_event(self):
        await asyncio.Event().wait()
    async def test_b_quick(self):
        print("other one ran")
""")
        self.assertEqual(status, 1, said)
        for name in ("BlockedTest.test_a_hung_read", "WaitingTest.test_a_hung_event"):
            self.assertIn(f"{name} has not ended within 1 s", said)
        self.assertIn("quick one ran", said)
        self.assertIn("other one ran", said)
        self.assertIn("FAILED (errors=2)", said)

    def test_a_python_test_that_does_not_end_even_then_ends_the_run(self):
        status, said = self.outcome("""
class StubbornTest(limits.LimitedTest):
    seconds = 1
    def test_it(self):
        try:
            time.sleep(60)
        finally:
            time.sleep(60)
""", grace=1)
        self.assertNotEqual(status, 0, said)
        self.assertIn("StubbornTest.test_it has not ended within 1 s", said)
        self.assertIn("test_it", said[said.index("Timeout"):])

    def test_a_suite_without_a_limit_is_seen(self):
        test = "  @Test func `it works`() {}\n}\n"
        self.assertEqual(unlimited("struct ATests {\n" + test), (["ATests"], [], []))
        self.assertEqual(unlimited('@Suite("A")\nstruct ATests {\n' + test), (["ATests"], [], []))
        self.assertEqual(unlimited('@Suite("A", .timeLimit(.minutes(1)))\nstruct ATests {\n' + test), ([], ["ATests"], []))
        self.assertEqual(unlimited('@Suite(\n  "A",\n  .timeLimit(.minutes(1))\n)\nfinal class ATests {\n' + test), ([], ["ATests"], []))
        # The limit is one suite's, and a type without tests needs none.
        both = '@Suite("A", .timeLimit(.minutes(1)))\nstruct ATests {\n' + test + "struct Helper {}\n\nstruct BTests {\n" + test
        self.assertEqual(unlimited(both), (["BTests"], ["ATests"], []))
        self.assertEqual(unlimited("extension ATests {\n" + test), ([], [], ["ATests"]))
        self.assertEqual(unlimited("@Test func free() {}\n"), (["a test outside of any suite"], [], []))


if __name__ == "__main__":
    unittest.main()
