"""The planted mistakes: their cases, their places, their patches and scripts/mutants.list say the same."""

import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("mutants", str(ROOT / "scripts/mutants"))
mutants = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", LOADER))
LOADER.exec_module(mutants)

# Those that the server consists of, and what comes with it.
MODULES = ["AccessTokens", "CallDesk", "Calls", "Configuration", "Congestion", "Crypto", "Engine", "Gateway", "HTTPClient", "HTTPServer", "ICE", "KeyDirectory",
           "Load",
           "Logging", "Media", "Model", "Negotiation", "Operator", "Peer", "Polling", "Rooms", "Storage", "Transport", "WebSocketClient",
           "Wire", "roost"]

# Behaviour that was once broken unseen, and what breaks it: the mistake itself and its kin, each of which a check has to find.
BEHAVIOURS = {
    "a first message has at most 16 KiB, and there is one": ["long-greeting", "second-message", "waits-unbounded"],
    "each message is charged for what it costs": ["unknown-for-nothing", "malformed-for-nothing", "ping-for-nothing",
                                                  "candidate-for-nothing", "short-for-nothing", "answered-for-nothing"],
    "a token has at most 12 KiB": ["long-token"],
    "an offer costs its bytes": ["format-unbounded", "codecs-per-format", "offers-for-nothing"],
    "an event is encoded once": ["encoded-for-each"],
    "numbers follow what was sent": ["no-rejoin", "runs-ahead-by-one", "last-not-latest", "leap-leaves"],
    "with every section stopped nothing flows": ["media-without-sections"],
    "what was withdrawn is not published again": ["publishes-again", "withdrawn-source", "standing-mute-forgotten", "mute-shaken-off"],
    "a path goes to who has proven it": ["path-displaced", "path-not-returned", "proof-overwritten"],
    "one screen of a participant comes first": ["screens-outrank", "all-first"],
    "who is removed stays out": ["removal-raced", "removal-of-absent", "removal-forgotten", "removal-crowded-out",
                                 "removal-same-second"],
    "a source is of its kind and allowed": ["source-of-any-kind", "source-unchecked", "forbidden-section"],
    "a renewed token lives as long as the first": ["renewed-for-ever"],
    "what reaches the HTTP server is bounded": ["field-cut", "name-of-dots", "body-read-on", "handshakes-unrationed"],
    "memory of a slot goes with it": ["kept-when-gone"],
    "nothing names who is hidden": ["hidden-permissions", "hidden-present", "hidden-sender", "hidden-quality", "hidden-away"],
    "who waits knows nothing, and hosts alone know of it": ["waiters-known", "admission-by-name", "refused-unforbidden"],
    "those outside keep no one from what is inside, nor from the door": ["waiting-unpaced", "waiting-for-one-link"],
    "what is kept goes to who may hear it": ["history-for-all", "history-of-removed"],
    "a link gives no more than its maker has, and no budgets": ["invited-to-more", "opened-unpaced", "revoked-holds"],
    "sources of unknown names allow nothing": ["unknown-source", "no-source-written"],
    "origins are compared whole": ["origin-prefix", "origin-port", "origin-scheme", "origin-case", "development-origin"],
    "each compound of reports opens under its own source": ["second-compound", "compound-overfull"],
    "tables that wrap": ["path-gap"],
    "what waits while a peer is being adopted keeps its order": ["batch-backwards"],
    "a closed room waits for nothing": ["closed-room-waits", "finished-changes"],
    "who is refused changes nothing of a room's time": ["refused-counts"],
    "events leave a room in their order": ["asked-too-soon"],
    "what the store refuses is taken of no budget": ["spending-kept"],
    "reports after a restart, and those of retransmissions": ["report-after-restart", "report-of-before", "rtx-report-clock"],
    "another source's pictures are its own": ["picture-of-before"],
    "feedback names a stream that goes on": ["feedback-of-ended"],
    "the path of who gets nothing is measured": ["checks-unheeded"],
    "what one listener says of losses doesn't last": ["loss-for-ever"],
    "nothing is wanted of tracks that are over": ["last-track-wanted"],
    "a mute is the track's, whatever its encodings": ["new-encodings-flow"],
    "a moment is filled once": ["filled-again"],
    "numbers and picture ids over a change of source": ["picture-id-width", "picture-id-repeated", "nack-other-source",
                                                        "late-is-highest"],
    "moves and mutes are seen by the simulation": ["lost-at-handover", "muted-flows-after-move", "unmute-without-key-frame"],
    "what is answered is stored": ["answered-before-sync", "answered-unsynced", "unwritten-forgotten"],
    "no number of an event is given twice": ["shown-unstored", "numbers-again"],
    "a reader of events is asked, and known by its room": ["reader-unasked", "removal-unnoticed", "last-seen-anywhere"],
    "the operator's tokens go where they should, and allow what is asked": ["token-for-all", "token-in-clear", "loopback-prefix",
                                                                            "redirect-followed"],
    "resume tokens that are broken hang nothing": ["resumed-twice", "resume-lost"],
    "no one learns of a call that is not of it": ["call-of-anyone", "call-token-of-any", "call-token-for-ever", "signal-to-all",
                                                  "sessions-for-removed", "key-for-removed", "device-token-shown"],
    "a call goes as its rules say": ["removed-returns", "later-reason", "any-device-leaves", "rung-twice", "connected-by-one",
                                     "restart-at-once", "alone-for-ever", "clock-believed", "merged-with-many", "busy-rung"],
    "what the log of keys shows is true": ["revoked-current", "salt-kept", "devices-unbounded", "leaf-unchecked"],
}


class MutantsTest(LimitedTest):
    def setUp(self):
        self.cases = mutants.read_cases()
        self.patches = mutants.read_patches()
        self.rows = mutants.read_list()
        self.places = {}
        for path in sorted((ROOT / "Sources").rglob("*.swift")):
            planted, depth = None, 0
            for line in path.read_text().splitlines():
                if re.match(r"\s*#if\b", line):
                    depth += 1
                    planted = depth if "PLANTED_DEFECTS" in line and planted is None else planted
                elif re.match(r"\s*#endif\b", line):
                    planted = None if planted == depth else planted
                    depth -= 1
                for case in re.findall(r"PlantedDefect\.isOn\(\.(\w+)\)", line):
                    self.assertIsNotNone(planted, f"{path}: {line}")
                    self.places.setdefault(case, set()).add(path.relative_to(ROOT / "Sources").parts[0])

    def test_there_are_at_least_seventy_over_all_modules(self):
        self.assertGreaterEqual(len(self.cases) + len(self.patches), 70)
        self.assertEqual([module for module in MODULES if module not in set().union(*self.places.values())], [])

    def test_each_case_has_its_sentence_and_its_place(self):
        text = (ROOT / mutants.CASES).read_text()
        cases = re.findall(r"^ *case (\w+)", text, re.MULTILINE)
        self.assertEqual(len(cases), len(self.cases), "a case without a sentence")
        self.assertEqual(sorted(cases), sorted(self.places))
        for name, sentence in (self.cases | self.patches).items():
            self.assertRegex(sentence, r"^[A-Z].*\.$", name)

    def test_each_is_in_the_list_once_and_is_there(self):
        names = [row[0] for row in self.rows]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual([name for name in names if name not in self.cases and name not in self.patches], [])
        self.assertEqual([name for name in self.patches if name not in names], [])

    def test_what_was_once_broken_unseen_is_planted(self):
        planted = set(self.cases) | set(self.patches)
        for behaviour, names in BEHAVIOURS.items():
            self.assertEqual([name for name in names if name not in planted], [], behaviour)
        every = [name for names in BEHAVIOURS.values() for name in names]
        self.assertEqual(len(every), len(set(every)))

    def test_what_the_simulation_is_to_see_is_its_own_to_find(self):
        """A case of its own kind, or of both: else `scripts/accept.d/defects` leaves it out."""
        kinds = {name: kind for name, kind, _ in self.rows}
        for name in BEHAVIOURS["moves and mutes are seen by the simulation"] + [
                "media-without-sections", "publishes-again", "standing-mute-forgotten", "removal-raced", "source-unchecked",
                "screens-outrank", "no-rejoin", "hidden-present", "hidden-permissions"]:
            self.assertIn(kinds.get(name, "simulation"), ("simulation", "both"), name)

    def test_help_and_unknown_options_build_nothing(self):
        for option, status, said in [("--help", 0, "mutants [--accept] [NAME ...]"), ("-h", 0, "mutants ["), ("--hlep", 1, "--hlep")]:
            run = subprocess.run([ROOT / "scripts/mutants", option], capture_output=True, text=True, timeout=10, check=False)
            self.assertEqual(run.returncode, status)
            self.assertIn(said, run.stdout + run.stderr)

    def test_each_check_is_there(self):
        swift = "\n".join(path.read_text() for path in (ROOT / "Tests").rglob("*.swift"))
        suites = set(re.findall(r"\bstruct (\w+)", swift))
        for name, kind, what in self.rows:
            self.assertEqual(kind == "script", name in self.patches, name)
            if kind in ("test", "both"):
                for part in what.replace("[.]", ".").split("|"):
                    suite = part.split(".")[-1]
                    self.assertTrue(suite in suites or f"func `{suite}" in swift, f"{name}: {part}")
            elif kind == "server":
                module, _, test = what.split(".")
                self.assertIn(f"def {test}(", (ROOT / "Tests/Server" / f"{module}.py").read_text(), name)
            else:
                self.assertEqual(kind, "script", name)
                path, *test = what.split()
                text = (ROOT / path).read_text()
                self.assertTrue(not test or f"def {test[0].split('.')[1]}(" in text, name)

    def test_each_patch_applies(self):
        for name in self.patches:
            patch = str(ROOT / "scripts/mutants.d" / f"{name}.patch")
            done = subprocess.run(["git", "apply", "--check", patch], cwd=ROOT, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
