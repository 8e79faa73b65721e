"""Everything that clients and administrators may rely on is named by a test: each operation of REST, each message, error,
close code, event and reason of the protocol. SchemaTests names all of them to compare their shapes; that alone shows
nothing of what they do, so it doesn't count here."""

import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/signalling.schema.json").read_text())["$defs"]
OPENAPI = json.loads((ROOT / "Sources/Gateway/REST/openapi.json").read_text())
TESTS = "\n".join(path.read_text() for suffix in ("swift", "py", "js") for path in (ROOT / "Tests").rglob(f"*.{suffix}")
                  if path.name not in ("SchemaTests.swift", "contract_test.py"))


def table(name, *headings):
    """What stands between backquotes in the first column of the tables under those headings."""
    words = []
    text = (ROOT / "docs" / name).read_text()
    for heading in headings:
        section = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
        for row in re.findall(r"^\| (`[^|]*|4\d\d\d )\|", section, re.M):
            words += re.findall(r"`([\w.-]+)`|^(\d+)", row)
    return [quoted or number for quoted, number in words]


class ContractTest(unittest.TestCase):
    def named(self, words, *patterns):
        """Each word stands in a test, in one of the patterns."""
        words = list(words)
        self.assertGreater(len(words), 3)
        missing = [word for word in words
                   if not any(re.search(pattern.replace("WORD", re.escape(word)), TESTS) for pattern in patterns)]
        self.assertEqual(missing, [], "no test names them")

    def test_every_operation_of_rest(self):
        operations = [f'(.{method}, "{path}"' for path, methods in OPENAPI["paths"].items() for method in methods
                      if method != "parameters"]
        self.named(operations, "WORD")

    def test_every_message(self):
        for side in ("ClientMessage", "ServerMessage"):
            names = [each["$ref"].rsplit("/", 1)[1] for each in SCHEMA[side].get("oneOf", SCHEMA[side].get("anyOf"))]
            kinds = [SCHEMA[name]["properties"]["type"]["const"] for name in names]
            self.named(kinds, r'"type": ?"WORD"', r'type="WORD"', r'\["type"\].{,30}"WORD"', r'(hear|next|ask|verdict)\([^)]*"WORD"')

    def test_every_error_and_close_code(self):
        self.named(SCHEMA["ErrorCode"]["enum"], '"WORD"')
        codes = [word for word in table("signalling.md", "Errors and close codes") if word.isdigit()]
        self.named(codes, r"\bWORD\b")

    def test_every_event_and_reason(self):
        self.named(SCHEMA["RoomEvent"]["properties"]["type"]["enum"], r"\bWORD\b")
        self.named(SCHEMA["LeaveReason"]["enum"], r"\bWORD\b")

    def test_every_problem_of_rest(self):
        self.named(table("rest.md", "Errors"), r'"WORD"')


if __name__ == "__main__":
    unittest.main()
