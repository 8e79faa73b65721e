"""The pages in every language: each has all texts, no text stands beside them, and no style sheet knows left from right."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402
from page_texts import Page, arguments, graph, literals, physical  # noqa: E402

PAGES = pathlib.Path(__file__).resolve().parents[2] / "Sources/Gateway/Pages"
LANGUAGES = ["en", "de", "zh"]
PARTS = ["words", "words-call", "words-admin"]
# What roost.js consists of says in English, to programmers, why something can't be done.
MODULE = {"roost.js", "negotiation.js", "playback.js", "preferences.js", "publication.js", "roster.js", "signalling.js"}
# Names that the browser gives to errors and keys, the product's own, and what programs say to each other.
NAMES = re.compile(r"\w+Error|Arrow\w+|Escape|Enter|Home|End|Tab|Page(?:Up|Down)|Roost|\{\} – Roost|Bearer \{\}")
# Made of words that are the same in every language: names of rooms, and the languages' own.
APART = {"roomname.js", "words.js"}


def sources():
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(PAGES.iterdir())
            if path.suffix in (".js", ".html") and not path.name.startswith("words-")}


def words():
    """{file: {key: text or {plural: text}}}, as Node reads them."""
    names = [f"{part}-{language}.js" for part in PARTS for language in LANGUAGES]
    program = "import(process.argv[1]).then(({ default: words }) => console.log(JSON.stringify(words)))"
    found = {}
    for name in names:
        # As a module, which the file's own address doesn't make of it.
        text = (PAGES / name).read_text(encoding="utf-8")
        address = "data:text/javascript," + "".join(f"%{byte:02x}" for byte in text.encode())
        done = subprocess.run(["node", "--input-type=module", "-e", program, address], capture_output=True, text=True, timeout=30)
        if done.returncode != 0:
            raise AssertionError(f"{name}: {done.stderr}")
        found[name] = json.loads(done.stdout)
    return found


def categories():
    """{language: the forms of its plurals}"""
    program = ("console.log(JSON.stringify(Object.fromEntries(process.argv.slice(1).map((each) => "
               "[each, new Intl.PluralRules(each).resolvedOptions().pluralCategories]))))")
    done = subprocess.run(["node", "-e", program, *LANGUAGES], capture_output=True, text=True, timeout=30, check=True)
    return {language: set(forms) for language, forms in json.loads(done.stdout).items()}


def forms(text):
    return list(text.values()) if isinstance(text, dict) else [text]


def places(text):
    """What each form of a text has in braces."""
    return [sorted(set(re.findall(r"\{(\w+)\}", form))) for form in forms(text)]


def keys_in(texts):
    """(keys, beginnings of keys) that these sources name."""
    named = {text for source in texts for _, text in literals(source)}
    keys = {text for text in named if re.fullmatch(r"[a-z][\w-]*(?:\.[\w-]+)+", text)}
    starts = {match[1] for text in named if (match := re.match(r"([a-z][\w-]*\.(?:[\w.-]*[.-])?)\{\}", text))}
    return keys, starts


def is_shown(text):
    """Whether a literal looks like something that people read: a word with a capital, several words, letters of another script."""
    if NAMES.fullmatch(text):
        return False
    several = re.search(r"[a-z]{2,} [a-z]+ [a-z]+", text) and not re.search(r"[\[\]#=<>]", text)
    return bool(re.match(r"\W*[A-Z][a-z]", text) or several or re.search(r"[^\W\d_a-zA-Z]", text))


class LanguagesTest(LimitedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.words = words()

    def test_every_language_has_every_text_in_the_same_part(self):
        for part in PARTS:
            english = self.words[f"{part}-en.js"]
            self.assertGreater(len(english), 10, part)
            for language in LANGUAGES[1:]:
                other = self.words[f"{part}-{language}.js"]
                self.assertEqual(sorted(other), sorted(english), f"{part}-{language}.js")
                same = [key for key in english if other[key] == english[key]
                        and any(re.search(r"[a-z]{3,} [a-z]{3,}", form) for form in forms(english[key]))]
                self.assertEqual(same, [], f"{part}-{language}.js has English sentences")

    def test_no_key_stands_twice(self):
        for name in self.words:
            keys = re.findall(r'^  "([^"]+)":', (PAGES / name).read_text(encoding="utf-8"), re.M)
            self.assertEqual(len(keys), len(self.words[name]), f"{name}: {[key for key in keys if keys.count(key) > 1]}")
        for language in LANGUAGES:
            every = [key for part in PARTS for key in self.words[f"{part}-{language}.js"]]
            self.assertEqual([key for key in every if every.count(key) > 1], [])

    def test_every_text_has_the_same_places_for_names_and_figures(self):
        for part in PARTS:
            for key, text in self.words[f"{part}-en.js"].items():
                wanted = {tuple(each) for each in places(text)}
                self.assertEqual(len(wanted), 1, key)
                for language in LANGUAGES:
                    self.assertEqual({tuple(each) for each in places(self.words[f"{part}-{language}.js"][key])}, wanted, f"{language}: {key}")

    def test_plurals_have_the_forms_of_their_language(self):
        wanted = categories()
        for name, texts in self.words.items():
            for key, text in texts.items():
                if isinstance(text, dict):
                    self.assertEqual(set(text), wanted[name[-5:-3]], f"{name}: {key}")
                    self.assertIn("count", places(text)[0], f"{name}: {key}")

    def test_every_key_that_is_named_is_there_and_every_one_that_is_there_is_named(self):
        texts = sources()
        code = {name: text for name, text in texts.items() if name.endswith(".js")}
        keys, starts = keys_in(code.values())
        in_html = set().union(*(Page(text).keys for name, text in texts.items() if name.endswith(".html")))
        every = {key for part in PARTS for key in self.words[f"{part}-en.js"]}
        asked, begun = keys_in(argument for text in code.values() for argument in arguments(text, "say"))
        self.assertGreater(len(asked), 100)
        self.assertEqual(asked - every, set())
        self.assertEqual({start for start in begun if not any(key.startswith(start) for key in every)}, set())
        unnamed = {key for key in every - keys - in_html if not key.startswith(tuple(starts))}
        self.assertEqual(unnamed, set())

    def test_what_is_fetched_at_first_says_nothing_that_is_fetched_later(self):
        texts = sources()
        first = graph(texts, "page.js")
        keys, starts = keys_in(texts[name] for name in first)
        keys |= Page(texts["index.html"]).keys
        later = self.words["words-call-en.js"]
        self.assertEqual({key for key in later if key in keys or key.startswith(tuple(starts))}, set())
        self.assertIn("in-call.js", texts)
        self.assertNotIn("in-call.js", first)

    def test_no_text_for_people_stands_in_code_or_pages(self):
        found = []
        for name, text in sources().items():
            if name.endswith(".html"):
                found += [f"{name}:{line}: {each}" for line, each in Page(text).texts if is_shown(each)]
            elif name not in MODULE | APART:
                # What is thrown is for programmers; what is caught is said by its code.
                found += [f"{name}:{line}: {each}" for line, each in literals(re.sub(r'new Error\("[^"\n]*"\)', "", text)) if is_shown(each)]
        self.assertEqual(found, [])

    def test_such_texts_are_found(self):
        code = "\n".join(['tell("Link copied");', "const a = /\"Not this\"/.test(b) ? `${n} people` : `Hello ${c ? `Joining ${d}` : e}`;",
                          '// "A remark"', "button.title = 'this room has ended';", 'say("call.left")'])
        self.assertEqual([(line, text) for line, text in literals(code) if is_shown(text)],
                         [(1, "Link copied"), (2, "Hello {}"), (2, "Joining {}"), (4, "this room has ended")])
        self.assertEqual([text for _, text in Page('<p title="A tip">Hello<b data-say="x.y"></b></p>').texts], ["A tip", "Hello"])


class DirectionsTest(LimitedTest):
    def test_style_sheets_hold_in_both_directions(self):
        found = []
        for path in sorted(PAGES.glob("*.css")):
            css = path.read_text(encoding="utf-8")
            lines = css.splitlines()
            for number, declaration in physical(css):
                # What is mirrored by a rule of its own, and what a script puts into its place, says so.
                if not re.search(r"/\* (?:mirrored(?: below)?|placed by script) \*/", lines[number - 1]):
                    found.append(f"{path.name}:{number}: {declaration}")
        self.assertEqual(found, [])

    def test_physical_declarations_are_found(self):
        css = """.a { }
.b {
  left: 0;
  margin-right: 1px;
  margin: 0 1px 0 2px;
  padding: 0 1px 0 1px;
  text-align: right;
  border-radius: 0 1rem 1rem 0;
  inset-inline-start: 0;
  padding-inline: 1px 2px;
  transform: translateX(-50%);
  background: url("left.png") center; /* left: 0; */
}
"""
        self.assertEqual([number for number, _ in physical(css)], [3, 4, 5, 7, 8, 11])


if __name__ == "__main__":
    unittest.main()
