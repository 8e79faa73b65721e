"""What the page of calls weighs until a call shows: its files as they are, with the longest language."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402
from page_texts import graph  # noqa: E402

PAGES = pathlib.Path(__file__).resolve().parents[2] / "Sources/Gateway/Pages"
MOST = 200_000  # bytes


def size(names):
    return sum((PAGES / name).stat().st_size for name in names)


class PageWeightTest(LimitedTest):
    def test_the_page_is_light_until_a_call_shows(self):
        code = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.js")}
        html = (PAGES / "index.html").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r'<script(?! type="module" src="/page.js">)', html), [])
        linked = set(re.findall(r'<link [^>]*href="/([^"]+)"', html))
        first = {"index.html", *linked, *graph(code, "page.js")}
        language = max(code.keys() & {f"words-{each}.js" for each in ("en", "de", "zh")}, key=lambda name: size([name]))
        weight = size(first | {language})
        later = graph(code, "in-call.js") - first
        print(f"\nthe page of calls: {weight / 1000:.1f} kB in {len(first) + 1} files with {language}, "
              f"{size(later) / 1000:.1f} kB more once a call shows")
        self.assertLess(weight, MOST, sorted(((size([name]), name) for name in first), reverse=True)[:20])
        self.assertNotIn("in-call.js", first)
        self.assertGreater(len(first), 20)

    def test_nothing_is_fetched_from_elsewhere(self):
        for path in PAGES.iterdir():
            if path.suffix in (".html", ".css", ".js"):
                text = path.read_text(encoding="utf-8")
                fetched = re.findall(r'(?:src|href)="(?:https?:)?//|url\("?(?:https?:)?//|(?:from|import\()\s*"https?:', text)
                self.assertEqual(fetched, [], path.name)


if __name__ == "__main__":
    unittest.main()
