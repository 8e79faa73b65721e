"""Each row of what the docs and the description say of calls is shown by a test that runs on both stores: calls_rows.list names it.

Rows are the operations, whose tokens open them, fields and words of the description, events, problems, platforms and events of sessions in the
docs, and what a person is, and, becomes; of the other lines of accept.d/calls.list those of which no test runs on both. A Swift test runs on both stores
by `StoreKind.allCases`, or `Place.allCases`, which has a store in memory beside them; one in Python has both in it, or has the other store's test of the
same name beside it."""

import ast
import functools
import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Server"))
from limits import LimitedTest  # noqa: E402
from openapi_client import CALLS  # noqa: E402

LIST = ROOT / "Tests/Scripts/calls_rows.list"
# Rows without a test, each with the reason: the number goes down, never up.
MISSING = 1
BOTH = re.compile(r"\b(StoreKind|Place)\.allCases\b")
NAMED = ("event", "problem", "log", "left", "ring", "outcome", "field", "mine", "platform", "session", "said")
"""Kinds of rows whose word stands in one of their tests."""


def described():
    """Rows of the description."""
    document = json.loads((ROOT / "Sources/Gateway/REST/openapi.json").read_text())
    schemas = document["components"]["schemas"]
    for template, methods in document["paths"].items():
        if template.startswith(CALLS):
            for method, operation in methods.items():
                if method != "parameters":
                    yield f"operation {operation['operationId']}"
                    yield f"token: {re.match(r'Needs a token ([^.]+)[.]', operation['description'])[1]}"
    call = schemas["Call"]["properties"]
    yield from (f"field {name}" for name in call if name != "mine")
    yield from (f"mine {name}" for name in call["mine"]["properties"])
    yield from (f"left {word}" for word in call["leftParticipants"]["items"]["properties"]["reason"]["enum"])
    yield from (f"outcome {word}" for word in call["outcome"]["enum"] if word)
    yield from (f"log {word}" for word in schemas["Event"]["properties"]["type"]["enum"] if word.startswith(("call.", "session.")))
    yield from (f"session {name}" for name in schemas["SharedSession"]["properties"])


def cells(name, heading):
    """The first two cells of a table's rows."""
    text = (ROOT / "docs" / name).read_text()
    section = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return [(first, second) for first, second in re.findall(r"^\| (.*?) \| (.*?) \|", section, re.M) if "`" in first]


def written():
    """Rows of the docs."""
    for first, second in cells("calls.md", "What a person hears"):
        yield from (f"event {word}" for word in re.findall(r"`([\w.]+)`", first))
        if first == "`ring.ended`":
            yield from (f"ring {word}" for word in re.findall(r"`(\w+)`", re.search(r"`reason`: ([^;]+)", second)[1]))
    yield from (f"problem {first.strip('`')}" for first, _ in cells("calls.md", "Errors"))
    for first, _ in cells("sessions.md", "Events of the server"):
        yield from (f"said {word}" for word in re.findall(r"`([\w.]+)`", first))
    yield from (f"platform {word}" for word in re.findall(r"^\| `([\w-]+)` \|", (ROOT / "docs/push.md").read_text().split("\n## ", 1)[0], re.M))
    yield from (f"rule {line}" for line, pattern, is_row in promised() if is_row or not any(re.search(pattern, each) for each in on_both()))


def promised():
    """Lines of accept.d/calls.list, the expression of their tests, and whether it is one of what a person is, and, becomes."""
    section = ""
    for line in (ROOT / "scripts/accept.d/calls.list").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            section = line
        elif line:
            name, pattern = (part.strip() for part in line.split(" | ", 1))
            yield name, pattern, "a person is, and, becomes" in section


@functools.cache
def on_both():
    """`Module.Suite/name()` of Swift tests that run on both stores, the suite as the file is called."""
    names = []
    for path in sorted((ROOT / "Tests").rglob("*Tests*.swift")):
        text = path.read_text(encoding="utf-8")
        for attribute, name, _ in swift_tests(text) if BOTH.search(text) else ():
            if BOTH.search(attribute):
                names.append(f"{path.relative_to(ROOT / 'Tests').parts[0]}.{path.stem.split('+')[0]}/{name}()")
    return names


def swift_tests(text):
    """The attribute, name and body of each test."""
    for found in re.finditer(r"^( *)@Test\b", text, re.M):
        function = re.compile(r"\bfunc\s+(`[^`]+`|\w+)").search(text, found.end())
        if function:
            end = text.find(f"\n{found[1]}}}\n", function.end())
            yield text[found.start():function.start()], function[1], text[function.start():end]


def swift_test(text, name):
    """A test's attribute, and what is in it; None: there is no such test."""
    return next(((attribute, body) for attribute, found, body in swift_tests(text) if found == name), None)


def python_test(text, name):
    """What is in a test of `Suite.name`, and all names of its suite; None: there is no such test."""
    suite, _, method = name.partition(".")
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef) and node.name == suite:
            methods = {each.name: each for each in node.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))}
            if method in methods and method.startswith("test_"):
                return ast.get_source_segment(text, methods[method]), set(methods)
    return None


def fault(text, suffix, name):
    """Why a test of a file shows nothing on both stores; None: it does."""
    if suffix == ".swift":
        found = swift_test(text, name)
        if found is None:
            return "there is no such test"
        return None if BOTH.search(found[0]) else "it runs on one store"
    found = python_test(text, name)
    if found is None:
        return "there is no such test"
    source, others = found
    twin = name.partition(".")[2].replace("sqlite", "postgresql")
    is_pair = "_sqlite_" in name and twin in others
    return None if is_pair or ("Directory(" in source and "Postgres(" in source) else "it runs on one store"


def spellings(word):
    """How tests write a word, as expressions: as it is, at the beginning of a text, or as a case of Swift."""
    first, *rest = re.split(r"[-.]", word)
    joined = first + "".join(each[0].upper() + each[1:] for each in rest)
    return [rf'"{re.escape(word)}[" ]', rf"\.({joined}|{(rest or [first])[-1]})\b"]


class CallsRowsTest(LimitedTest):
    def setUp(self):
        self.lines = []
        for line in LIST.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                row, _, shown = line.partition(" | ")
                self.lines.append((row.strip(), shown.strip()))

    def shown(self):
        """Row, file and test."""
        return [(row, *test.split(": ", 1)) for row, test in self.lines if not test.startswith("missing: ")]

    def test_every_row_has_a_line_and_no_line_is_of_a_row_that_is_gone(self):
        rows = {*described(), *written()}
        self.assertGreater(len(rows), 150)
        self.assertGreater(len(on_both()), 150)
        for kind in ("operation", "token:", "rule", *NAMED):
            self.assertGreater(len([row for row in rows if row.startswith(f"{kind} ")]), 2, kind)
        named = {row for row, _ in self.lines}
        self.assertEqual((sorted(rows - named), sorted(named - rows)), ([], []), "rows without a line, and lines without a row")
        self.assertEqual(len(self.lines), len(set(self.lines)), "a line stands twice")

    def test_every_test_that_is_named_is_there_and_runs_on_both_stores(self):
        faults = []
        for row, name, test in self.shown():
            path = ROOT / "Tests" / name
            problem = fault(path.read_text(encoding="utf-8"), path.suffix, test) if path.is_file() else "there is no such file"
            if problem:
                faults.append(f"{row} | {name}: {test}: {problem}")
        self.assertEqual(faults, [])

    def test_what_has_no_test_gets_fewer_and_never_more(self):
        missing = [row for row, test in self.lines if test.startswith("missing: ")]
        self.assertEqual(len(missing), MISSING, f"MISSING is the number of these, and only goes down: {missing}")
        self.assertEqual({row for row, _, _ in self.shown()} & set(missing), set(), "a row has a test and has none")

    def test_the_word_of_a_row_stands_in_one_of_its_tests(self):
        lacking = {}
        for row, name, test in self.shown():
            kind, _, word = row.partition(" ")
            path = ROOT / "Tests" / name
            if kind in NAMED and path.suffix == ".swift":
                text = "".join(swift_test(path.read_text(encoding="utf-8"), test) or ())
                lacking[row] = lacking.get(row, True) and not any(re.search(each, text) for each in spellings(word))
        self.assertGreater(len(lacking), 90)
        self.assertEqual([row for row, lacks in lacking.items() if lacks], [])

    def test_a_test_that_is_gone_or_runs_on_one_store_is_found(self):
        swift = "  @Test(arguments: StoreKind.allCases)\n  func `both`(kind: StoreKind) {\n  }\n\n  @Test func `one`() {\n  }\n"
        self.assertEqual([fault(swift, ".swift", name) for name in ("`both`", "`one`", "`gone`")],
                         [None, "it runs on one store", "there is no such test"])
        python = ("class A:\n  def test_sqlite_keeps(self): pass\n  def test_postgresql_keeps(self): pass\n  def test_sqlite_alone(self): pass\n"
                  "  def test_kept(self):\n    with Directory() as one, Postgres() as other: pass\n  def helper(self): pass\n")
        names = ("A.test_sqlite_keeps", "A.test_kept", "A.test_sqlite_alone", "A.helper", "B.test_kept")
        self.assertEqual([fault(python, ".py", name) for name in names],
                         [None, None, "it runs on one store", "there is no such test", "there is no such test"])


if __name__ == "__main__":
    unittest.main()
