"""`Where to add what` in docs/architecture.md is true: its files are there, and what the server has of each kind today stands in
them and in no others."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECTION = (ROOT / "docs/architecture.md").read_text().split("\n## Where to add what\n", 1)[1].split("\n## ", 1)[0]
KINDS = {name: [path for path in re.findall(r"`([^`\s]+)`", text) if "/" in path]
         for name, text in re.findall(r"^### Add an? (.*?)\n(.*?)(?=^### |\Z)", SECTION, re.M | re.S)}
# What the far ends of tests, load tools and commands have is theirs.
SERVER = {str(path.relative_to(ROOT)): path.read_text() for path in sorted((ROOT / "Sources").rglob("*.swift"))
          if path.relative_to(ROOT).parts[1] not in ("SyntheticPeers", "Simulation", "Load", "Client", "roost-load", "roost-simulate", "roost-link")}


def text(path):
    return (ROOT / path).read_text()


def cases(code, enum):
    """The cases of an enum that are declared without values of their own."""
    body = re.search(rf"\benum {enum}\b.*?\{{(.*?)\n  (?:public )?(?:init|var)\b", code, re.S)[1]
    return [name for line in re.findall(r"^  case (.*)$", body, re.M) for name in re.findall(r"(\w+)(?: = \d+)?,?", re.sub(r"= \d+", "", line))]


def members(code, names):
    """Which of the names stand in the code as `.name` without anything before the dot; flags of the same name don't count."""
    code = re.sub(r"//.*", "", code)
    code = re.sub(r"flags\.(contains|insert|remove)\([^)]*\)", "", code)
    return set(re.findall(rf"(?<![\w)\]?!>`])\.({'|'.join(names)})\b(?!\()", code))


# What is asked of calls has places of its own.
CALLS = ("/v1/calls", "/v1/devices", "/v1/blocks", "/v1/people", "/v1/keys")


class PlacesTest(LimitedTest):
    def test_each_file_is_there_and_lists_have_an_order(self):
        self.assertEqual(list(KINDS), ["RTCP message", "header extension", "front door", "REST request", "record", "metric"])
        for kind, paths in KINDS.items():
            self.assertGreater(len(paths), 4, kind)
            self.assertEqual([path for path in paths if not (ROOT / path).exists()], [], kind)
        for items in re.findall(r"^### .*?(?=^### |\Z)", SECTION, re.M | re.S):
            numbers = [int(number) for number in re.findall(r"^(\d+)\. ", items, re.M)]
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)))

    def only_in(self, kind, found, allowed=()):
        """`found`: {path: what stands there}. Nothing stands outside of the list."""
        self.assertTrue(found)
        self.assertEqual({path: what for path, what in found.items() if path not in KINDS[kind] and path not in allowed}, {})

    def test_rtcp_messages(self):
        kinds = [name for name in cases(text("Sources/Wire/RTCP/RTCPReader.swift"), "RTCPKind") if name != "other"]
        self.assertGreater(len(kinds), 8)
        handled = members(text("Sources/Media/Session/MediaSession+RTCP.swift"), kinds)
        self.assertEqual(handled, set(kinds), "kinds that nothing is decided about")
        tested = text("Tests/WireTests/RTCP/RTCPMessageTests.swift") + text("Tests/WireTests/RTCP/RTCPReaderTests.swift") \
            + text("Tests/WireTests/RTCP/TransportFeedbackTests.swift")
        untested = set(kinds) - set(re.findall(r"\.(\w+)", tested))
        self.assertEqual(untested, set())
        self.only_in("RTCP message", {path: what for path, code in SERVER.items()
                                      if (what := re.findall(r"\bRTCP(?:Reader|Writer)\(", code))})

    def test_header_extensions(self):
        model = text("Sources/Model/HeaderExtension.swift")
        names = cases(model, "HeaderExtension")
        self.assertGreater(len(names), 8)
        self.assertEqual(members(text("Sources/Negotiation/SectionTerms.swift"), names), set(names))
        self.only_in("header extension", {path: what for path, code in SERVER.items() if (what := members(code, names) - {"mid", "rid"})})
        carried = re.findall(r"\.(\w+)", re.search(r"var isCarried: Bool \{.*?case (.*?): true", model, re.S)[1])
        self.assertGreater(len(carried), 2)
        for path in ("Sources/Media/Session/MediaSession+Receiving.swift", "Sources/Media/Send/OutgoingExtensions.swift",
                     "Fuzz/FuzzTargets/PeerMedia.swift"):
            self.assertEqual(set(carried) - members(text(path), names), set(), path)
        for name in carried:
            for path in ("Sources/Media/PacketInfo.swift", "Sources/Media/PacketInfo+Wire.swift"):
                self.assertRegex(text(path).lower(), name.lower().removeprefix("dependency").removeprefix("absolute"), path)
            self.assertIn(f".{name}", text("Tests/MediaTests/CarriedExtensionTests.swift") + text("Tests/MediaTests/CodecMappingTests.swift"))

    def test_front_doors(self):
        doors = {re.search(r"^(?:public |package )?(?:struct|enum|actor|final class) (\w+)", code, re.M)[1]: path
                 for path, code in SERVER.items() if path.startswith("Sources/Gateway/")
                 and re.search(r"\bfunc respon[ds]e?\((?:to|path)\b|\bactor SignallingConnection\b", code) and not path.endswith("/Gateway.swift")}
        self.assertGreater(len(doors), 4)
        gates = text("Sources/Gateway/Gateway.swift") + text("Sources/roost/Serve.swift")
        self.assertEqual([name for name in doors if not re.search(rf"\b{name}\b", gates)], [])
        # Nothing but the gate and the executable knows which doors there are.
        self.only_in("front door", {path: name for name in doors for path, code in SERVER.items()
                                    if not path.startswith("Sources/Gateway/") and re.search(rf"\b{name}[(.<]", re.sub(r"//.*", "", code))})

    def test_rest_requests(self):
        described = {(method, path) for path, methods in json.loads(text("Sources/Gateway/REST/openapi.json"))["paths"].items()
                     for method in methods if method != "parameters" and not path.startswith(("/whip/", "/whep/", *CALLS))}
        rows = re.findall(r'\.init\(\s*\.(\w+), "([^"]+)", \.\w+,(?: isStored: true,)?\s*RESTDoor\.(\w+)\)', text("Sources/Gateway/REST/RESTOperation.swift"))
        self.assertEqual({(method, path) for method, path, _ in rows}, described)
        self.only_in("REST request", {path: name for _, _, name in rows for path, code in SERVER.items() if f"func {name}(_ call: RESTCall)" in code})
        for _, _, name in rows:
            self.assertTrue(any(f"func {name}(_ call: RESTCall)" in code for code in SERVER.values()), name)
        page = text("docs/rest.md")
        for method, path, _ in rows:
            tail = path.removeprefix("/v1/rooms/{room}")
            wanted = [f"{method.upper()} {path}", f"{method.upper()} …{tail}"]
            self.assertTrue(any(row in page for row in wanted), wanted)

    def test_records(self):
        # Who says what stands in the database; the store itself asks for the version of that.
        written = {path: what for path, code in SERVER.items() if not path.startswith("Sources/Storage/")
                   if (what := re.findall(r"\b(?:INSERT INTO|DELETE FROM|UPDATE|SELECT) \w+", code))}
        self.only_in("record", written)
        tables = set(re.findall(r"CREATE TABLE (\w+)", text("Sources/Storage/Schema/Schema+Rooms.swift")))
        self.assertGreater(len(tables), 5)
        for name in ("RecordWriter", "RecordReader"):
            code = text(f"Sources/Rooms/Records/{name}.swift")
            self.assertEqual([table for table in tables if not re.search(rf"(INTO|FROM|JOIN) {table}\b", code)], [], name)
        self.assertIn("RoomEvent.rewritten", text("Fuzz/FuzzTargets/HandedOnState.swift"))

    def test_metrics(self):
        names = {path: set(re.findall(r'"((?:roost|process)_[a-z_]+)"', code)) for path, code in SERVER.items() if path.startswith("Sources/Gateway/")}
        self.only_in("metric", {path: found for path, found in names.items() if found})
        exposed = set().union(*names.values())
        self.assertGreater(len(exposed), 60)
        page = text("docs/operating.md")
        self.assertEqual(sorted(name for name in exposed if not re.search(rf"\b{name}\b", page)), [])


if __name__ == "__main__":
    unittest.main()
