"""Every suite of Swift tests has a time limit, so that a test that waits for something that never comes ends with its name."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
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


class TimeLimitsTest(unittest.TestCase):
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
