"""Colours of style sheets, and how much one stands out from another."""

import colorsys
import re
import sys

GROUNDS = ["var(--ground)", "var(--surface)", "var(--sunken)"]
NAMED = {"white": (255, 255, 255, 1), "black": (0, 0, 0, 1), "transparent": (0, 0, 0, 0)}
TOKEN = re.compile(r"#[0-9a-fA-F]{3,8}\b|(?:var|rgba?|hsla?|color-mix)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\b[a-zA-Z]+\b")


class Colour:
    """Red, green and blue from 0 to 255, and how much of it is there."""

    def __init__(self, red, green, blue, alpha=1.0):
        self.parts, self.alpha = (red, green, blue), alpha

    def over(self, other):
        return Colour(*(self.alpha * mine + (1 - self.alpha) * theirs for mine, theirs in zip(self.parts, other.parts)))

    @property
    def luminance(self):
        linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in (each / 255 for each in self.parts)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ratio(one, other):
    dark, light = sorted((one.luminance, other.luminance))
    return (light + 0.05) / (dark + 0.05)


class Palette:
    """The variables of one scheme."""

    def __init__(self, name, variables):
        self.name, self.variables = name, variables

    @classmethod
    def both(cls, rules):
        roots = [rule for rule in rules if rule.compounds[-1] == frozenset([":root"])]
        light, dark = {}, {}
        for rule in roots:
            if not rule.contexts:
                light |= rule.values
            elif any("dark" in each for each in rule.contexts):
                dark |= rule.values
        return [cls("light", light), cls("dark", light | dark)]

    def several(self, text):
        """A colour, or what may be in a picture."""
        return [Colour(0, 0, 0), Colour(255, 255, 255)] if text == "picture" else [self.colour(text)]

    def first(self, value, local=None, current=None):
        """The first colour in a value; None where there is none."""
        for token in TOKEN.findall(value):
            if token.lower() == "currentcolor":
                found = current()
                return found[0] if isinstance(found, list) else found
            if token[0] == "#" or "(" in token or token in NAMED:
                return self.colour(token, local, current)
        return None

    def colour(self, text, local=None, current=None):
        text = text.strip()
        if text in NAMED:
            return Colour(*NAMED[text])
        if text.startswith("#"):
            return self.hexadecimal(text[1:])
        name, _, inside = text.rstrip(")").partition("(")
        if name == "var":
            variable, _, other = inside.partition(",")
            value = {**self.variables, **(local or {})}.get(variable.strip(), other.strip())
            if not value:
                sys.exit(f"check-contrast: {variable} has no value")
            return self.first(value, local, current) or self.colour(value, local, current)
        if name == "color-mix":
            mixed = re.match(r"in srgb, (.+) ([\d.]+)%, transparent$", inside)
            if mixed is None:
                sys.exit(f"check-contrast: what is {text}?")
            base = self.first(mixed[1], local, current)
            return Colour(*base.parts, base.alpha * float(mixed[2]) / 100)
        return self.function(name, inside)

    @staticmethod
    def hexadecimal(digits):
        if len(digits) < 6:
            digits = "".join(2 * each for each in digits)
        values = [int(digits[index:index + 2], 16) for index in range(0, len(digits), 2)]
        return Colour(*values[:3], (values[3] if len(values) > 3 else 255) / 255)

    @staticmethod
    def function(name, inside):
        # A hue that a script sets may be any: the lightest of them is meant.
        if "var(" in inside:
            return max((Palette.function(name, re.sub(r"var\([^)]*\)?", str(hue), inside)) for hue in range(0, 360, 5)),
                       key=lambda each: each.luminance)
        numbers = [(float(number), unit) for number, unit in re.findall(r"([\d.]+)(%?)", inside)]
        if name.startswith("rgb") and len(numbers) >= 3:
            parts = [value * 2.55 if unit else value for value, unit in numbers[:3]]
        elif name.startswith("hsl") and len(numbers) >= 3:
            (hue, _), (saturation, _), (lightness, _) = numbers[:3]
            parts = [255 * each for each in colorsys.hls_to_rgb(hue % 360 / 360, lightness / 100, saturation / 100)]
        else:
            sys.exit(f"check-contrast: what is {name}({inside})?")
        alpha = numbers[3][0] / (100 if numbers[3][1] else 1) if len(numbers) > 3 else 1.0
        return Colour(*parts, alpha)
