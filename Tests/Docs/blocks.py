"""The code blocks of README.md and docs/*.md, and the shell commands in them."""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@dataclasses.dataclass
class Block:
    page: str
    line: int
    # Of a fence, as in ```json; "" where the block is indented or the fence has none.
    language: str
    text: str
    # The paragraph in front of it, and the heading that it stands under.
    before: str
    heading: str

    def __str__(self):
        return f"{self.page}:{self.line}"


def blocks(path):
    """Fenced blocks, and those that are indented by four columns."""
    found, heading, paragraph = [], "", []
    lines = path.read_text(encoding="utf-8").splitlines()
    number = 0

    def add(start, language, text):
        found.append(Block(path.name, start, language, "\n".join(text), " ".join(paragraph), heading))

    while number < len(lines):
        line = lines[number]
        if fence := re.match(r"```(\w*)$", line):
            end = lines.index("```", number + 1)
            add(number + 1, fence[1], lines[number + 1:end])
            number, paragraph = end + 1, []
            continue
        if line.startswith("    ") and (number == 0 or not lines[number - 1].strip()):
            end = number
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            while not lines[end - 1].strip():
                end -= 1
            add(number + 1, "", [each[4:] for each in lines[number:end]])
            number, paragraph = end, []
            continue
        if line.startswith("#"):
            heading = line.lstrip("#").strip()
        if line.strip():
            paragraph = paragraph + [line] if number and lines[number - 1].strip() else [line]
        number += 1
    return found


ALL = [block for path in PAGES for block in blocks(path)]


def programs():
    """The programs of the pages, by the file name that stands in front of each; pages are programs too."""
    found = {}
    for block in ALL:
        if name := re.search(r"`((?:\w+/)?[\w-]+\.(?:py|go|mjs|html))`:$", block.before):
            found[name[1]] = block.text + "\n"
    return found
