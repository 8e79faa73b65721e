"""What the pages' sources have in them: string literals of JavaScript, texts and attributes of HTML, declarations of CSS."""

import re
from html.parser import HTMLParser

# Behind one of these a slash begins a regular expression.
BEFORE_EXPRESSION = set("(,=:[!&|?{};+-*%<>~^\n")
# Attributes that people see or hear.
SHOWN = {"aria-label", "title", "placeholder", "alt", "aria-description", "aria-roledescription", "aria-valuetext", "label"}


def literals(code):
    """[(line, text)] of the strings in JavaScript; of a template, the pieces between what is put in, joined by `{}`."""
    found, place = [], 0
    line, last = 1, "\n"
    while place < len(code):
        sign = code[place]
        if code.startswith(("//", "/*"), place):
            end = code.find("\n", place) if code[place + 1] == "/" else code.find("*/", place) + 2
            end = len(code) if end < 1 else end
            line += code.count("\n", place, end)
            place = end
            continue
        if sign in "\"'":
            end = place + 1
            while code[end] != sign:
                end += 2 if code[end] == "\\" else 1
            found.append((line, code[place + 1:end]))
            place, last = end + 1, sign
            continue
        if sign == "`":
            end, text, inner = _template(code, place + 1)
            found.append((line, text))
            for offset, piece in inner:
                found += [(line + code.count("\n", place, offset) + number - 1, each) for number, each in literals(piece)]
            line += code.count("\n", place, end)
            place, last = end, sign
            continue
        if sign == "/" and (last in BEFORE_EXPRESSION or re.search(r"\breturn\s*$", code[max(0, place - 10):place])):
            place, last = _expression(code, place + 1), "/"
            continue
        line += sign == "\n"
        if not sign.isspace():
            last = sign
        place += 1
    return found


def _template(code, place):
    """(end, text, [(offset, code)]) of a template literal whose backtick stands before `place`."""
    text, inner = "", []
    while code[place] != "`":
        if code[place] == "\\":
            text += code[place:place + 2]
            place += 2
        elif code.startswith("${", place):
            start, depth = place + 2, 1
            place += 2
            while depth:
                if code[place] == "`":
                    place = _template(code, place + 1)[0]
                    continue
                depth += {"{": 1, "}": -1}.get(code[place], 0)
                place += 1
            inner.append((start, code[start:place - 1]))
            text += "{}"
        else:
            text += code[place]
            place += 1
    return place + 1, text, inner


def _expression(code, place):
    """Where a regular expression ends that begins before `place`."""
    in_class = False
    while code[place] != "/" or in_class:
        if code[place] == "\\":
            place += 1
        elif code[place] in "[]":
            in_class = code[place] == "["
        place += 1
    return place + 1


def arguments(code, function):
    """The first argument of each call of a function of that name."""
    for match in re.finditer(rf"(?<![\w.#]){function}\(", code):
        place, depth = match.end(), 0
        while depth > 0 or code[place] not in ",)":
            depth += {"(": 1, ")": -1, "{": 1, "}": -1, "[": 1, "]": -1}.get(code[place], 0)
            place += 1
        yield code[match.end():place]


class Page(HTMLParser):
    """`texts`: [(line, text)] of what is written in a page and in its attributes; `keys`: those of what is filled in."""

    def __init__(self, html):
        super().__init__()
        self.texts, self.keys, self.tags = [], set(), []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name in SHOWN and value:
                self.texts.append((self.getpos()[0], value))
            if name.startswith("data-say"):
                self.keys.add(value)

    def handle_data(self, data):
        if self.tags[-1:] not in (["script"], ["style"]) and data.strip():
            self.texts.append((self.getpos()[0], data.strip()))


def physical(css):
    """[(line, declaration)] of what says left or right, where a language that is written the other way needs it turned around."""
    found = []
    for number, line in enumerate(re.sub(r"/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match[0]), css, flags=re.S).splitlines(), 1):
        match = re.match(r"\s*([\w-]+):\s*(.*?);?\s*$", line)
        if not match:
            continue
        name, value = match.groups()
        value = re.sub(r"\"[^\"]*\"|url\([^)]*\)", "", value)
        sides = re.findall(r"(?:[\w-]*\([^()]*(?:\([^()]*\)[^()]*)*\)|[^\s()]+)", value)
        is_physical = (
            re.fullmatch(r"(?:.*-)?(?:left|right)(?:-.*)?", name) or
            re.search(r"(?<![\w-])(?:left|right)(?![\w-])", value) or
            name in ("margin", "padding", "inset", "scroll-margin", "scroll-padding", "border-width") and len(sides) == 4 and sides[1] != sides[3] or
            name == "border-radius" and len(sides) > 1 and "/" not in value or
            name == "box-shadow" and re.match(r"(?:inset )?-?[1-9.]", value) or
            name in ("transform", "translate") and re.search(r"translateX|translate\([^,)]*[1-9]", value))
        if is_physical:
            found.append((number, line.strip()))
    return found


def graph(sources, start):
    """The modules that one imports before it runs, with itself.  `sources`: {name: text}"""
    seen, todo = set(), [start]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += re.findall(r'^(?:import|export)\b[^;"]*?"\.?/([\w.-]+)"', sources[name], re.M)
    return seen
