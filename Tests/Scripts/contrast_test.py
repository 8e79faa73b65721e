"""scripts/check-contrast on small trees of its own."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/check-contrast")
ROOT = """
:root { --ground: #ffffff; --surface: #fafafa; --sunken: #eeeeee; --text: #111111; --quiet: #555555; --edge: #777777; --line: #dddddd; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #000000; --surface: #111111; --sunken: #222222; --text: #eeeeee; --quiet: #aaaaaa; --edge: #888888; --line: #333333; }
}
"""


class ContrastTest(LimitedTest):
    def look(self, css, excused=""):
        """Exit status and lines of output for a style sheet beside ROOT."""
        with tempfile.TemporaryDirectory() as root:
            pages = pathlib.Path(root, "Sources/Gateway/Pages")
            pages.mkdir(parents=True)
            (pages / "a.css").write_text(ROOT)
            (pages / "b.css").write_text(css)
            pathlib.Path(root, "scripts").mkdir()
            pathlib.Path(root, "scripts/contrast.list").write_text(excused)
            done = subprocess.run([SCRIPT], capture_output=True, text=True, timeout=20, env=os.environ | {"ROOST_CONTRAST": root})
            return done.returncode, (done.stdout + done.stderr).splitlines()

    def short(self, css, excused=""):
        status, lines = self.look(css, excused)
        self.assertEqual(status, 1 if lines and ":1, " in lines[0] else 0, lines)
        return [line for line in lines if ":1, " in line]

    def test_text_stands_out_from_each_ground_in_both_schemes(self):
        self.assertEqual(self.short(".a { color: var(--quiet) }"), [])
        # 4.54:1 on white and 3.91 on what is sunken; in the dark 4.62 on black and 3.50.
        self.assertEqual(self.short(".a { color: #767676 }"),
                         ["b.css: .a: text 3.91:1, light (wanted 4.5)", "b.css: .a: text 3.50:1, dark (wanted 4.5)"])
        self.assertEqual(self.short(".a { background: #ffffff; color: #777777 }"),
                         [f"b.css: .a: text 4.48:1, {name} (wanted 4.5)" for name in ("light", "dark")])

    def test_what_other_rules_say_of_the_same_thing_counts(self):
        base = ".a { background: #000000; color: #ffffff }\n"
        self.assertEqual(self.short(base + ".a:hover { background: #333333 }"), [])
        self.assertEqual(len(self.short(base + ".a:hover { background: #aaaaaa }")), 2)
        self.assertEqual(len(self.short(base + ".b .a { color: #222222 }")), 2)
        # What asks for more than it is about something else, and so is a sign of its own.
        self.assertEqual(self.short(".a[b] { background: #000000; color: #ffffff } .a { color: var(--text) }"), [])
        self.assertEqual(self.short(":is(.a, .b) .c { color: var(--quiet) } @media (width < 9px) { .c { background: var(--ground) } }"), [])

    def test_what_lets_something_through_is_over_each_ground_and_over_pictures_where_it_is_said(self):
        css = ".a { background: rgb(0 0 0 / 50%); color: #ffffff }"
        self.assertEqual(self.short(css), ["b.css: .a: text 3.98:1, light (wanted 4.5)"])
        self.assertEqual(self.short(css, "on .a = picture # over a video\n")[1:], ["b.css: .a: text 3.98:1, dark (wanted 4.5)"])
        self.assertEqual(self.short(".a { background: rgb(0 0 0 / 80%); color: #ffffff }", "on .a = picture # over a video\n"), [])

    def test_edges_and_rings_are_seen_or_what_they_enclose_is(self):
        self.assertEqual(self.short("input { border: 1px solid var(--edge) } :focus-visible { outline: 2px solid var(--text) }"), [])
        self.assertEqual([line.split(": ", 1)[1] for line in self.short("input { border: 1px solid #bbbbbb }")],
                         ["input: edge 1.65:1, light (wanted 3)"])
        self.assertEqual(self.short("button { border: 1px solid var(--line); background: #777777; color: #000000 }"), [])
        self.assertEqual(self.short("i { border: 1px solid transparent }"), [])

    def test_signs_need_less_than_text_and_forced_colours_are_the_users(self):
        self.assertEqual(self.short(".a svg { color: #7f7f7f }"), [])
        self.assertEqual(self.short("@media (forced-colors: active) { .a { color: Highlight; background: GrayText } }"), [])

    def test_variables_colours_and_mixtures_are_read_as_browsers_do(self):
        self.assertEqual(self.short(".a { --ink: #ffffff; background: hsl(var(--hue, 9) 42% 30%); color: var(--ink) }"), [])
        self.assertEqual(len(self.short(".a { background: hsl(60 100% 50%); color: rgb(100% 100% 100%) }")), 2)
        self.assertEqual(self.short(".a { color: #fff; background: #000 } .a:hover { background: color-mix(in srgb, #000000 90%, transparent) }",
                                    "on .a = #ffffff # a sheet of its own\n"), [])

    def test_a_line_of_the_list_has_a_reason_and_is_needed(self):
        self.assertEqual(self.look(".a { color: var(--text) }", "none .b # gone\n"),
                         (1, ["scripts/contrast.list has a line that nothing needs: none .b"]))
        status, lines = self.look(".a { color: #999999 }", "none .a\n")
        self.assertEqual((status, lines), (1, ["scripts/contrast.list: none .a"]))
        self.assertEqual(self.short(".a { color: #999999 }", "none .a # not to be operated\n"), [])


if __name__ == "__main__":
    unittest.main()
