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
    def look(self, files, allowed=None, arguments=(), glossary=GLOSSARY):
        """Exit status, lines of output and the list afterwards for `files` ({path: text})."""
        with tempfile.TemporaryDirectory() as root:
            files = files | {"docs/glossary.md": glossary} | ({"scripts/words.list": allowed} if allowed is not None else {})
            for path, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, timeout=20, env=os.environ | {"ROOST_WORDS": root})
            self.assertEqual(done.stderr, "")
            left = None
            if allowed is not None:
                with open(os.path.join(root, "scripts/words.list"), encoding="utf-8") as file:
                    left = file.read()
            return done.returncode, done.stdout.splitlines(), left

    def test_a_word_is_found_wherever_it_stands(self):
        for path in ("Sources/A/One.swift", "Tests/A/One.swift", "docs/one.md", "scripts/one", "Config/one.json5"):
            self.assertEqual(self.look({path: "first\nbegins Anew.\n"})[:2], (1, [f"{path}:2: anew: begins Anew."]))

    def test_parts_of_words_and_other_words_are_fine(self):
        self.assertEqual(self.look({"Sources/A/One.swift": "wishful, manew, anew-like, held, a track that holds\n"})[:2],
                         (0, ["every word is one of ours"]))

    def test_a_pattern_finds_what_a_word_alone_would_not(self):
        self.assertEqual(self.look({"docs/one.md": "The tracks are held, a lock is held.\n"})[0], 1)
        self.assertEqual(self.look({"docs/one.md": "A lock is held.\n"})[0], 0)

    def test_the_list_allows_as_many_as_it_says_and_where_it_says(self):
        two = {"Sources/A/One.swift": "anew\n", "Sources/A/Two.swift": "wish\n"}
        self.assertEqual(self.look(two, "Sources/A 2\n")[0], 0)
        status, lines, _ = self.look(two, "Sources/A 1\n")
        self.assertEqual((status, len(lines)), (1, 3))
        self.assertIn("Sources/A has 2 words that don't stand, over 1:", lines)
        self.assertEqual(self.look(two | {"Sources/Ab/One.swift": "anew\n"}, "Sources/A 2\n")[0], 1)

    def test_the_list_shrinks_and_never_grows(self):
        files = {"Sources/A/One.swift": "anew\n", "Sources/B/One.swift": "anew anew anew\n"}
        self.assertEqual(self.look(files, "# Left.\nSources/A 5\nSources/B 2\nSources/C 1\n", ["--shrink"])[2],
                         "# Left.\nSources/A 1\nSources/B 2\n")

    def test_a_glossary_without_its_table_fails(self):
        self.assertEqual(self.look({}, glossary="# Words\n")[0], 1)


if __name__ == "__main__":
    unittest.main()
