"""The rules of style sheets: what they are about and what they set. No more of CSS than the pages use."""

import re

SIMPLE = re.compile(r"\[[^\]]+\]|::?[\w-]+(?:\((?:[^()]|\([^()]*\))*\))?|[#.]?[\w-]+|\*")


class Rule:
    def __init__(self, path, selector, contexts, values, order):
        self.path, self.selector, self.contexts, self.values, self.order = path, selector, contexts, values, order
        self.compounds = compounds(selector)
        parts = [part for compound in self.compounds for part in compound]
        self.specificity = (sum(part[0] == "#" for part in parts),
                            sum(part[0] in ".[" or part[0] == ":" and part[:2] != "::" for part in parts), len(parts))


def compounds(selector):
    """A selector's compounds, each as the set of its parts. Combinators are all taken for the one of descendants."""
    depth, found = 0, [""]
    for character in selector.strip():
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if depth == 0 and character in " >+~":
            found.append("")
        else:
            found[-1] += character
    return [frozenset(SIMPLE.findall(each)) for each in found if each]


def applies(rule, wanted):
    """Whether what a rule asks for is among what another one does: its last compound in the last, the others in order before it."""
    if not rule[-1] <= wanted[-1] or pseudo(rule[-1]) != pseudo(wanted[-1]):
        return False
    before = iter(wanted[:-1])
    return all(any(part <= each for each in before) for part in rule[:-1])


def pseudo(compound):
    return {part for part in compound if part.startswith("::")}


def read(path):
    """The rules of a file, one for each selector, but those for forced colours."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [Rule(path.name, *each) for each in rules(text, frozenset(), [0])]


def rules(text, contexts, order):
    for prelude, body in blocks(text):
        if prelude.startswith("@"):
            if not re.match(r"@(keyframes|font-face)|.*forced-colors", prelude):
                yield from rules(body, contexts | {prelude}, order)
            continue
        values = dict(declarations(body))
        for selector in selectors(prelude):
            order[0] += 1
            yield selector, contexts, values, order[0]


def blocks(text):
    """(what stands before the brace, what stands within) at the top."""
    depth, start, prelude = 0, 0, ""
    for index, character in enumerate(text):
        if character == "{":
            if depth == 0:
                prelude, start = " ".join(text[start:index].split()), index + 1
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                yield prelude, text[start:index]
                start = index + 1


def declarations(body):
    for part in re.split(r";(?![^(]*\))", body):
        name, colon, value = part.partition(":")
        if colon:
            yield name.strip(), " ".join(value.split()).removesuffix("!important").strip()


def selectors(prelude):
    """The selectors of a list, with each choice of `:is` and `:where` written out."""
    for each in listed(prelude):
        choice = re.search(r":(?:is|where)\(((?:[^()]|\([^()]*\))*)\)", each)
        if choice is None:
            yield each
            continue
        for option in listed(choice[1]):
            yield from selectors(join(each[:choice.start()], option, each[choice.end():]))


def join(before, option, after):
    # A name of an element stands first in its compound.
    head, _, last = before.rpartition(" ")
    return f"{head} {option}{last}{after}".strip() if option[0].isalpha() and last else before + option + after


def listed(text):
    depth, found = 0, [""]
    for character in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if depth == 0 and character == ",":
            found.append("")
        else:
            found[-1] += character
    return [" ".join(each.split()) for each in found]
