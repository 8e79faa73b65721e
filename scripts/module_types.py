"""The TypeScript of roost.js, made of the comments in its sources: what it exports, with the types that JSDoc gives. What has no type
there, or names one that is nowhere, ends make-types with its place."""

import pathlib
import re
import sys

PAGES = pathlib.Path(__file__).resolve().parent.parent / "Sources/Gateway/Pages"
# What the module exports, and where it stands.
CLASSES = {"Room": "roost.js", "Publication": "publication.js", "RoostError": "signalling.js"}
FILES = ["types.js", "playback.js"]
COMMENT = re.compile(r"/\*\*(.*?)\*/", re.DOTALL)
TAG = re.compile(r"@(param|returns|type|property|typedef|throws|internal|module)\b")
# What the browser and the language have.
FOREIGN = {"Promise", "Map", "Record", "Partial", "CustomEvent", "EventTarget", "Error", "MediaStream", "MediaStreamTrack",
           "RTCPeerConnection", "RTCPeerConnectionState", "RTCConfiguration", "RTCRtpEncodingParameters", "RTCRtpTransceiver",
           "AddEventListenerOptions", "EventListenerOptions", "EventListenerOrEventListenerObject", "Type"}
LISTENERS = """  addEventListener<Type extends keyof RoomEvents>(
    type: Type, listener: (event: CustomEvent<RoomEvents[Type]>) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<Type extends keyof RoomEvents>(
    type: Type, listener: (event: CustomEvent<RoomEvents[Type]>) => void, options?: boolean | EventListenerOptions): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | EventListenerOptions): void;
"""


def fail(where, why):
    sys.exit(f"make-types: {where}: {why}")


def plain(comment):
    """A comment's text without its stars."""
    return "\n".join(re.sub(r"^\s*\* ?", "", line) for line in comment.strip().splitlines()).strip()


def braced(text):
    """({type}, what follows), of text that begins with a brace."""
    depth = 0
    for index, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0:
            return " ".join(text[1:index].split()), text[index + 1:].strip()
    raise ValueError(text)


def tags(text):
    """What stands before the tags, and [(tag, type, rest)]."""
    places = [(found.start(), found[1], found.end()) for found in TAG.finditer(text)]
    ends = [start for start, _, _ in places[1:]] + [len(text)]
    head = text[:places[0][0]] if places else text
    found = []
    for (_, tag, start), end in zip(places, ends):
        rest = text[start:end].strip()
        kind, rest = braced(rest) if rest.startswith("{") else ("", rest)
        found.append((tag, kind, " ".join(rest.split())))
    return " ".join(head.split()), found


def remark(text, indent=""):
    return f"{indent}/** {text[0].upper()}{text[1:]} */\n" if text else ""


def typedefs(known):
    """Those of the sources that the protocol hasn't: {name: declaration}."""
    made = {}
    for name in FILES:
        for comment in COMMENT.findall((PAGES / name).read_text(encoding="utf-8")):
            _, found = tags(plain(comment))
            while found:
                tag, kind, rest = found.pop(0)
                if tag != "typedef":
                    continue
                title, _, about = rest.partition(" ")
                properties = []
                while found and found[0][0] == "property":
                    properties.append(found.pop(0))
                if title in known or kind.startswith("import("):
                    continue
                if kind != "object":
                    made[title] = f"{remark(about)}export type {title} = {kind};\n"
                    continue
                lines = [remark(words, "  ") + f"  {field(key)}: {each};\n" for _, each, key, words in split(properties)]
                made[title] = f"{remark(about)}export interface {title} {{\n{''.join(lines)}}}\n"
    return made


def split(properties):
    for tag, kind, rest in properties:
        key, _, words = rest.partition(" ")
        yield tag, kind, key, words


def field(key):
    return f"{key[1:-1]}?" if key.startswith("[") else key


def members(name, text):
    """The comment and the declaration of each public member of a class."""
    body = text.split(f"\nexport class {name}", 1)[1].split("\n}\n", 1)[0]
    lines, index = body.split("\n"), 1
    while index < len(lines):
        comment = ""
        if lines[index].startswith("  /**"):
            start = index
            while "*/" not in lines[index]:
                index += 1
            comment = plain("\n".join(lines[start:index + 1]).strip().removeprefix("/**").removesuffix("*/"))
            index += 1
        line = lines[index] if index < len(lines) else ""
        index += 1
        if re.match(r"  [a-z]", line) and not line.lstrip().startswith(("//", "#")):
            yield comment, line.strip()


def member(where, comment, line):
    """One member as TypeScript, "" for what is not for others."""
    about, found = tags(comment)
    if any(tag == "internal" for tag, _, _ in found):
        return "  private constructor();\n" if line.startswith("constructor(") else ""
    typed = next((kind for tag, kind, _ in found if tag in ("type", "returns")), None)
    about = " ".join([about, *(f"Throws {kind}{rest and ': ' + rest}." for tag, kind, rest in found if tag == "throws")]).strip()
    if getter := re.match(r"get (\w+)\(", line):
        if typed is None:
            fail(f"{where}.{getter[1]}", "its comment gives no type")
        return remark(about, "  ") + f"  readonly {getter[1]}: {typed};\n"
    if stored := re.match(r"(\w+)(?: = (.*))?;", line):
        typed = typed or {"true": "boolean", "false": "boolean", '""': "string"}.get(stored[2] or "")
        if typed is None:
            fail(f"{where}.{stored[1]}", "its comment gives no type")
        return remark(about, "  ") + f"  {stored[1]}: {typed};\n"
    method = re.match(r"(async )?(\w+)\((.*)\) \{$", line)
    if method is None:
        fail(where, f"what is this? {line}")
    given = [(kind, rest.split(" ")[0]) for tag, kind, rest in found if tag == "param"]
    count = len([each for each in re.sub(r"\{[^{}]*\}", "_", method[3]).split(",") if each.strip()])
    if count != len(given):
        fail(f"{where}.{method[2]}", f"{count} parameters, of which {len(given)} are described")
    parameters = ", ".join(f"{field(key)}: {kind}" for kind, key in given)
    if method[2] == "constructor":
        return remark(about, "  ") + f"  constructor({parameters});\n"
    return remark(about, "  ") + f"  {method[2]}({parameters}): {typed or ('Promise<void>' if method[1] else 'void')};\n"


def classes():
    for name, path in CLASSES.items():
        text = (PAGES / path).read_text(encoding="utf-8")
        about = plain(COMMENT.findall(text.split(f"\nexport class {name}", 1)[0])[-1])
        parent = re.search(rf"^export class {name}( extends \w+)?", text, re.MULTILINE)[1] or ""
        listeners = LISTENERS if name == "Room" else ""
        body = "".join(member(f"{path}: {name}", *each) for each in members(name, text))
        yield remark(" ".join(about.split())) + f"export class {name}{parent} {{\n{body}{listeners}}}\n"


def declarations(known):
    """TypeScript of the module, beside the types of the protocol whose names are known."""
    made = typedefs(known)
    text = "\n".join([*made.values(), *classes()])
    code = re.sub(r"/\*\*.*?\*/|\"[^\"]*\"", "", text, flags=re.DOTALL)
    for name in sorted(set(re.findall(r"\b[A-Z]\w+\b", code)) - set(known) - set(made) - set(CLASSES) - FOREIGN):
        fail("roost.js and beside it", f"{name} is no type that is known")
    return text
