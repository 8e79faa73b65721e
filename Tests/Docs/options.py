"""The tables of options in docs/configuration.md, made from `roost config --help`, which is made from the schema."""

import dataclasses
import re

import commands

MARK = re.compile(r"^<!-- options: (.*) -->\n(?:\n\|.*(?:\n\|.*)*\n)?", re.MULTILINE)
HEAD = "| option | takes | default | |\n|---|---|---|---|\n"
# What a whole number counts, by the option's name; the first that fits. One that none fits has no row.
UNITS = [
    (r"Microseconds$", "µs"),
    (r"[sS]econds$|Timeout$|^turn\.lifetime$|^rooms\.removalMemory$", "s"),
    (r"[bB]ytes$", "bytes"),
    (r"Bitrate$", "bit/s"),
    (r"\.port$", "port"),
    (r"^limits\.requestsPerAddress$", "a second"),
    (r"^calls\.ringTime$", "s"),
    (r"^calls\..*PerMinute$", "a minute"),
    (r"Hours$", "h"),
    (r"Days$", "days"),
    (r"^http\.(connections|streams)|^media\.workers$|^limits\.|^flights\.files$|^recording\.(atOnce|kept)$|^calls\.people$", ""),
]


@dataclasses.dataclass
class Option:
    name: str
    explanation: str
    takes: str
    default: str
    variable: str

    @property
    def row(self):
        takes, default = self.takes, f"`{self.default}`"
        if bounds := re.fullmatch(r"a whole number from (\d+) to (\d+)", takes):
            unit = unit_of(self.name)
            if unit == "port":
                takes = f"a port, {bounds[1]} to {bounds[2]}"
            else:
                least, greatest = ((in_bytes if unit == "bytes" else in_digits)(int(each)) for each in bounds.groups())
                takes = f"{least} to {greatest}" + ("" if unit in ("", "bytes") else f" {unit}")
            if unit == "bytes" and (short := in_bytes(int(self.default))) != f"{self.default} bytes":
                default += f" ({short})"
        return "| " + " | ".join(each.replace("|", "\\|") for each in (f"`{self.name}`", takes, default, self.explanation)) + " |\n"


def unit_of(name):
    found = next((unit for pattern, unit in UNITS if re.search(pattern, name)), None)
    if found is None:
        raise AssertionError(f"Tests/Docs/options.py does not know what {name} counts")
    return found


def in_digits(number):
    return f"{number:,}" if number > 9_999 else str(number)


def in_bytes(number):
    for power, name in ((50, "PiB"), (40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if number and number % (1 << power) == 0:
            return f"{number >> power} {name}"
    return f"{number} bytes" if number else "0"


def options():
    """Those of the program."""
    text = commands.help_of(".build/release/roost", "config").partition("\nOptions\n")[2]
    found = re.findall(r"^  (\S+)\n      (.*)\n      Takes (.*); default (.*)\.\n      Also --(\S+) and (\S+)\.$", text, re.MULTILINE)
    for name, _, _, _, flag, _ in found:
        assert name == flag, name
    assert len(found) == len(re.findall(r"^  \S", text, re.MULTILINE)), "an option's help has another form"
    return [Option(name, *rest, variable) for name, *rest, _, variable in found]


def written(page, known):
    """The page with its tables as they should be."""
    def table(mark):
        rows = [each.row for name in mark[1].split() for each in known if each.name == name or each.name.startswith(name + ".")]
        return f"<!-- options: {mark[1]} -->\n\n{HEAD}{''.join(rows)}"

    return MARK.sub(table, page)
