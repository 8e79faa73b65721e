"""Each row of the tables in docs/whip-whep.md, which say what RFC 9725 and the draft of WHEP ask for, names tests that exist."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/whip-whep.md").read_text()


def tables():
    """The rows of each table that has tests: section, what is asked, names."""
    for head, body in re.findall(r"^\| ([\w -]+) \| \| test \|\n\|[-|]+\|\n((?:\|.*\|\n)+)", PAGE, re.M):
        rows = [[cell.strip() for cell in line.strip("|\n").split(" | ")] for line in body.splitlines()]
        yield head, [(section, text, re.findall(r"`([^`]+)`", names)) for section, text, names in rows]


def tests():
    """The names of all tests, as their sources say them."""
    found = set()
    for path in (ROOT / "Tests").rglob("*.swift"):
        found |= set(re.findall(r"func `([^`]+)`", path.read_text()))
    for path in (ROOT / "Tests").rglob("*_test.py"):
        found |= set(re.findall(r"def (test_\w+)", path.read_text()))
    return found


class ConformanceTest(LimitedTest):
    def test_every_row_names_tests_that_exist(self):
        known = tests()
        self.assertGreater(len(known), 1_000)
        for head, rows in tables():
            for section, text, names in rows:
                self.assertTrue(names, f"{head} {section}: {text}")
                self.assertEqual([name for name in names if name not in known], [], f"{head} {section}: {text}")

    def test_both_documents_have_a_table_in_the_order_of_their_sections(self):
        found = dict(tables())
        self.assertEqual(list(found), ["RFC 9725", "draft-ietf-wish-whep-04"])
        for head, rows in found.items():
            self.assertGreater(len(rows), 18, head)
            sections = [tuple(map(int, section.split("."))) for section, _, _ in rows]
            chapters = [each[:2] for each in sections]
            self.assertEqual(chapters, sorted(chapters), head)
        # Every section of each that asks something of a server.
        for head, wanted in [("RFC 9725", "4.1 4.2 4.3.1 4.3.2 4.3.3 4.4.1 4.4.2 4.4.3 4.4.4 4.5 4.6 4.7 4.8 4.9"),
                             ("draft-ietf-wish-whep-04", "4.1 4.2 4.3.1 4.3.2 4.3.4 4.3.5 4.4 4.5.1 4.5.2 4.5.3 4.6.1 4.6.2 4.7 4.8 4.9 4.10")]:
            self.assertEqual(set(wanted.split()) - {section for section, _, _ in found[head]}, set(), head)


if __name__ == "__main__":
    unittest.main()
