"""The pictures that the documentation shows are there, and those that are there are shown."""

import pathlib
import re
import sys
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
# How files of these kinds begin.
BEGINNINGS = {".png": b"\x89PNG\r\n\x1a\n", ".jpg": b"\xff\xd8\xff", ".svg": b"<svg"}


def shown(text):
    """The addresses of the pictures in a text in Markdown that are files beside it."""
    plain = re.sub(r"^(```|~~~).*?^\1|`[^`\n]*`", "", text, flags=re.M | re.S)
    found = re.findall(r"!\[[^\]]*\]\(<?([^\s)>]+)", plain) + re.findall(r"<img\b[^>]*\bsrc=[\"']([^\"']+)", plain)
    return [urllib.parse.unquote(each.split("#")[0]) for each in found if not re.match(r"[a-z]+:", each)]


def documents():
    return [path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if path.is_file()]


class DocPicturesTest(LimitedTest):
    def test_every_picture_that_is_shown_is_there(self):
        missing, count = [], 0
        for document in documents():
            for address in shown(document.read_text(encoding="utf-8")):
                count += 1
                path = document.parent / address
                beginning = BEGINNINGS.get(path.suffix, b"no such kind")
                if not path.is_file() or not path.read_bytes().startswith(beginning):
                    missing.append(f"{document.relative_to(ROOT)}: {address}")
        self.assertEqual(missing, [], "`make pictures` makes those of the pages")
        self.assertGreater(count, 1)

    def test_every_picture_that_is_there_is_shown(self):
        wanted = {(document.parent / address).resolve() for document in documents() for address in shown(document.read_text(encoding="utf-8"))}
        unused = [path.name for path in sorted((ROOT / "docs/images").iterdir()) if path.resolve() not in wanted]
        self.assertEqual(unused, [])

    def test_pictures_are_found_in_a_text(self):
        text = "![A](images/a.png) and ![B c](<b%20c.png>)\n<img alt='' src=\"d.svg\">\n`![no](no.png)` [no](no.png)\n" \
               "```\n![no](no.png)\n```\n![far](https://a.example/e.png)\n"
        self.assertEqual(shown(text), ["images/a.png", "b c.png", "d.svg"])


if __name__ == "__main__":
    unittest.main()
