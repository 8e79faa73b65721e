"""Everything that clients and administrators may rely on is named by a test: each operation of REST, each message, error,
close code, event and reason of the protocol. SchemaTests names all of them to compare their shapes; that alone shows
nothing of what they do, so it doesn't count here."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

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


class ContractTest(LimitedTest):
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
        # Those of calls are asked by their names, in each of their statuses.
        called = (ROOT / "Tests/Server/openapi_calls_test.py").read_text()
        asked = {f'(.{method}, "{path}"' for path, methods in OPENAPI["paths"].items() for method, operation in methods.items()
                 if method != "parameters" and f'"{operation["operationId"]}"' in called}
        self.named([each for each in operations if each not in asked], "WORD")

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

    def test_the_table_of_problems_is_whole(self):
        """Every problem that the server has, with its status, stands in the tables of rest.md and calls.md, and no other."""
        code = "\n".join(path.read_text() for folder in ("Gateway", "HTTPServer", "Rooms")
                         for path in (ROOT / "Sources" / folder).rglob("*.swift"))
        found = set(re.findall(r'\bresponse\(\s*(\d+),\s*"([\w-]+)"', code))
        found |= set(re.findall(r'\bstatus: (\d+),\s*code: "([\w-]+)"', code))
        found |= {(status, name) for name, status in re.findall(r'HTTPResponse\(problem: "([\w-]+)".*?status: (\d+)', code)}
        refusals = (ROOT / "Sources/HTTPServer/Message/RequestRefusal.swift").read_text()
        names = [part.split("private var", 1)[0] for part in refusals.split("private var type", 1)[1:]]
        types = {case: name for cases, name in re.findall(r'case (.*?): "([\w-]+)"', names[0])
                 for case in re.findall(r"\.(\w+)", cases)}
        for cases, status in re.findall(r"case ((?:\.\w+,?\s*)+):\s*(\d+)", refusals):
            found |= {(status, types[case]) for case in re.findall(r"\.(\w+)", cases)}
        tokens = (ROOT / "Sources/AccessTokens/AccessTokenRefusal.swift").read_text()
        found |= {("403" if name in ("token-not-for-this", "token-removed", "token-revoked") else "401", name)
                  for name in re.findall(r'"(token-[\w-]+)"', tokens)}
        section = "\n".join((ROOT / "docs" / page).read_text().split("\n## Errors\n", 1)[1].split("\n## ", 1)[0]
                            for page in ("rest.md", "calls.md"))
        listed = {(status, name) for names, statuses in re.findall(r"^\| (`.*?`) \| ([\d, ]+) \|", section, re.MULTILINE)
                  for name in re.findall(r"`([\w-]+)`", names) for status in statuses.split(", ")}
        self.assertGreater(len(listed), 30)
        self.assertEqual(found, listed)

    def test_every_problem_of_rest(self):
        self.named(table("rest.md", "Errors"), r'"WORD"')


if __name__ == "__main__":
    unittest.main()
