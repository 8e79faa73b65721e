"""scripts/check-words on small trees of its own."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/check-words")
GLOSSARY = ("# Words\n\n| word | what it is |\n|---|---|\n| slot | a section |\n\n"
            "| not | but |\n|---|---|\n| `wish`, `anew` | again |\n| `/tracks? (?:is\\|are) held/` | muted |\n")


class WordsTest(LimitedTest):
    def look(self, files, glossary=GLOSSARY):
        """Exit status and lines of output for `files` ({path: text})."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in (files | {"docs/glossary.md": glossary}).items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            done = subprocess.run([SCRIPT], capture_output=True, text=True, timeout=20, env=os.environ | {"ROOST_WORDS": root})
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout.splitlines()

    def test_a_word_is_found_wherever_it_stands(self):
        for path in ("Sources/A/One.swift", "Tests/A/One.swift", "docs/one.md", "scripts/one", "Config/one.json5"):
            self.assertEqual(self.look({path: "first\nbegins Anew.\n"}), (1, [f"{path}:2: anew: begins Anew."]))

    def test_parts_of_words_and_other_words_are_fine(self):
        self.assertEqual(self.look({"Sources/A/One.swift": "wishful, manew, anew-like, held, a track that holds\n"}),
                         (0, ["every word is one of ours"]))

    def test_a_pattern_finds_what_a_word_alone_would_not(self):
        self.assertEqual(self.look({"docs/one.md": "The tracks are held, a lock is held.\n"})[0], 1)
        self.assertEqual(self.look({"docs/one.md": "A lock is held.\n"})[0], 0)

    def test_a_glossary_without_its_table_fails(self):
        self.assertEqual(self.look({}, glossary="# Words\n")[0], 1)


if __name__ == "__main__":
    unittest.main()
