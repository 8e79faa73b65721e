"""What the rows of scripts/accept.d name is there: each alternative of each row of tests.list and calls.list, each figure of
calls.figures, and each case of `rules`."""

import ast
import itertools
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTS = [ROOT / "scripts/accept.d" / name for name in ("tests.list", "calls.list")]
FIGURES = ROOT / "scripts/accept.d/calls.figures"


def alternatives(pattern):
    """The patterns that stand between the bars of a pattern, also of its groups; `(…)?` stays as it is."""
    branches, pieces, text = [], [], ""
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\" or character == "[":
            end = position + 2 if character == "\\" else pattern.index("]", position) + 1
            text += pattern[position:end]
            position = end
        elif character == "(":
            end = closing(pattern, position)
            if pattern[end + 1:end + 2] == "?":
                text += pattern[position:end + 2]
                position = end + 2
            else:
                pieces += [[text], alternatives(pattern[position + 1:end])]
                text = ""
                position = end + 1
        elif character == "|":
            branches.append([*pieces, [text]])
            pieces, text = [], ""
            position += 1
        else:
            text += character
            position += 1
    branches.append([*pieces, [text]])
    return ["".join(chosen) for branch in branches for chosen in itertools.product(*branch)]


def closing(pattern, opening):
    depth = 0
    for position in range(opening, len(pattern)):
        if pattern[position - 1:position] == "\\":
            continue
        depth += (pattern[position] == "(") - (pattern[position] == ")")
        if depth == 0:
            return position
    raise ValueError(f"a group without its end: {pattern}")


def tests():
    """`Module.Suite/name` of each test, as its source says."""
    for path in sorted((ROOT / "Tests").rglob("*.swift")):
        module = path.relative_to(ROOT / "Tests").parts[0]
        suites, is_test = [], False
        for line in path.read_text().splitlines():
            depth = len(line) - len(line.lstrip())
            found = re.match(r"\s*(?:\w+ )*(?:struct|class|actor|enum|extension) ([\w.]+)", line)
            if found:
                suites = [each for each in suites if each[0] < depth] + [(depth, found[1])]
            is_test |= re.match(r"\s*@Test\b", line) is not None
            found = re.search(r"\bfunc (`[^`]+`|\w+)", line)
            if found and is_test:
                suite = "/".join(name for at, name in suites if at < depth)
                yield f"{module}.{suite}/{found[1]}()"
                is_test = False


class AcceptTestsTest(LimitedTest):
    @staticmethod
    def lines(path):
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]

    def rows(self):
        return [[part.strip() for part in line.split(" | ", 1)] for path in LISTS for line in self.lines(path)]

    def test_every_alternative_of_every_row_matches_a_test(self):
        names = list(tests())
        self.assertGreater(len(names), 1_000)
        lacking = [f"{line}: {each}" for line, pattern in self.rows() for each in alternatives(pattern)
                   if not any(re.search(each, name) for name in names)]
        self.assertEqual(lacking, [])

    def test_a_row_stands_once(self):
        lines = [line for line, _ in self.rows()]
        self.assertEqual(len(lines), len(set(lines)))

    def test_every_figure_of_calls_is_printed_by_the_test_that_holds_it_to_its_bound(self):
        names, sources = list(tests()), "".join(path.read_text() for path in (ROOT / "Tests").rglob("*Tests.swift"))
        figures = [[cell.strip() for cell in line.split(" | ")] for line in self.lines(FIGURES)]
        self.assertGreater(len(figures), 6)
        for line, wanted, name, pattern in figures:
            self.assertTrue(f"figure: {name}" in sources, line)
            self.assertTrue(any(re.search(pattern, each) for each in names), line)
            self.assertTrue(wanted, line)

    def test_no_test_runs_in_both_checks_or_in_none(self):
        """`tests` leaves out by one expression what `calls` runs by it."""
        expressions = [re.search(r'"((?:CallDeskTests)[^"]+)"', (ROOT / "scripts/accept.d" / name).read_text())[1] for name in ("tests", "calls")]
        self.assertEqual(expressions[0], expressions[1])
        chosen = [name for name in tests() if re.search(expressions[1], name)]
        self.assertGreater(len(chosen), 150)
        for module in ("CallDeskTests", "CallsTests", "KeyLogTests", "KeyDirectoryTests"):
            self.assertTrue(any(name.startswith(f"{module}.") for name in chosen), module)

    def test_every_row_of_rules_names_as_many_cases_as_it_wants(self):
        text = (ROOT / "scripts/accept.d/rules").read_text(encoding="utf-8")
        rows = re.findall(r'^cases "(.+)" [\w-]+ ([\w.]+) (\d+)$', text, re.MULTILINE)
        self.assertEqual(len(rows), len(re.findall(r"^cases ", text, re.MULTILINE)))
        self.assertGreater(len(rows), 7)
        for line, name, wanted in rows:
            module, suite, *test = name.split(".")
            path = next(ROOT.glob(f"Tests/*/{module}.py"))
            found = [node for node in ast.parse(path.read_text(encoding="utf-8")).body
                     if isinstance(node, ast.ClassDef) and node.name == suite]
            self.assertEqual(len(found), 1, line)
            names = [each.name for each in found[0].body if getattr(each, "name", "").startswith("test_")]
            self.assertEqual(len([each for each in names if test in ([], [each])]), int(wanted), line)

    def test_alternatives_are_those_between_bars(self):
        self.assertEqual(alternatives("a(b|c(d|e))f"), ["abf", "acdf", "acef"])
        self.assertEqual(alternatives(r"(A\.B/`x|C/)"), [r"A\.B/`x", "C/"])
        self.assertEqual(alternatives("cut (or changed )?(here|there)"), ["cut (or changed )?here", "cut (or changed )?there"])
        self.assertEqual(alternatives(r"a[.|(]\(b"), [r"a[.|(]\(b"])


if __name__ == "__main__":
    unittest.main()
