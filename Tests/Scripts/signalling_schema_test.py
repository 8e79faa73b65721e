"""docs/signalling.md, its schema and its TypeScript types say the same."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def run(name, *arguments, stdin=""):
    return subprocess.run(
        [os.path.join(ROOT, "scripts", name), *arguments], input=stdin, capture_output=True, text=True, check=False
    )


class SignallingSchemaTest(LimitedTest):
    def test_the_examples_of_the_page_are_messages(self):
        done = run("check-messages", "--examples")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_type_has_an_example(self):
        with open(os.path.join(ROOT, "docs/signalling.schema.json"), encoding="utf-8") as file:
            types = set(re.findall(r'"const": "([\w.]+)"', file.read()))
        with open(os.path.join(ROOT, "docs/signalling.md"), encoding="utf-8") as file:
            page = file.read()
        self.assertGreater(len(types), 20)
        self.assertEqual([each for each in types if f'{{"type": "{each}"' not in page], [])

    def test_the_types_are_those_of_the_schema(self):
        done = run("make-types", "--check")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_message_that_breaks_the_schema_is_reported_with_its_field(self):
        for line, problem in [
            ('ServerMessage {"type": "pong", "time": 1}', "'time' was unexpected"),
            ('ServerMessage {"type": "slots", "assignments": [{"mid": "0"}]}', "'track' is a required property"),
            ('ServerMessage {"type": "closed", "reason": "bored"}', "'bored' is not one of"),
            ('ServerMessage {"type": "offer", "sdp": "v=0"}', "is not valid"),
            ('ClientMessage {"type": "mute", "track": "TR_1", "muted": "yes"}', "'yes' is not of type 'boolean'"),
            ('ClientMessage {"type": "subscribe", "track": "TR_1", "layer": "low"}', "'layer' was unexpected"),
        ]:
            done = run("check-messages", stdin=line + "\n")
            self.assertEqual(done.returncode, 1, line)
            self.assertIn(problem, done.stdout)


if __name__ == "__main__":
    unittest.main()
