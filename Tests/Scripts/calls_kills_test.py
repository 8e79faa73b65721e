"""What calls_kills.py finds wrong after a kill: each kind of loss is one in what it compares, and what is right is none. The proofs of the log of
keys are followed as RFC 9162 says."""

import hashlib
import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Server"))
import calls_kills_judge  # noqa: E402
import key_proofs  # noqa: E402
from calls_kills_judge import Verdict  # noqa: E402
from calls_kills_writer import Acknowledged, CallWriter, Shared, Value  # noqa: E402
from limits import LimitedTest  # noqa: E402


def known_value(value, *tried):
    found = Value()
    found.asks(value)
    found.answered()
    found.tried = list(tried)
    return found


def event(place, kind, **data):
    return {"id": place, "event": kind, "data": data}


class JudgeTest(LimitedTest):
    def setUp(self):
        self.writer = CallWriter(1, None, 1)
        self.call = Acknowledged(self.writer.bob)
        self.call.is_started = True
        self.writer.calls.append(self.call)

    def faults(self, judged, *arguments):
        verdict = Verdict()
        judged(*arguments, verdict)
        return set(verdict.faults())

    def test_a_value_is_what_was_answered_or_asked_for_since(self):
        value = known_value("new", "tried")
        self.assertTrue(value.may_be("new") and value.may_be("tried"))
        self.assertEqual([value.fault(each) for each in (None, "other")], ["lost", "torn"])
        value.asks("newer")
        value.answered()
        self.assertEqual((value.may_be("new"), value.fault("new")), (False, "lost"))

    def test_signals_are_heard_once_in_order(self):
        self.call.signals, self.call.tried = {"one": 1, "two": 2}, "three"

        def heard(*signals):
            items = [event(place, "call.signal", id=name, number=number, payload="AAAA") for place, (name, number) in enumerate(signals, 1)]
            return self.faults(calls_kills_judge.judge_signals, self.writer, {self.writer.bob: (items, len(items))})

        self.assertEqual(heard(("one", 1), ("two", 2)), set())
        self.assertEqual(heard(("one", 1), ("two", 2), ("three", 3)), set())
        self.assertEqual(heard(("one", 1)), {("signals", "lost")})
        self.assertEqual(heard(("two", 2), ("one", 1)), {("signals", "gaps")})
        self.assertEqual(heard(("one", 1), ("two", 2), ("two", 2)), {("signals", "twice")})
        self.assertEqual(heard(("one", 1), ("two", 2), ("three", 4)), {("signals", "torn"), ("signals", "gaps")})
        self.assertEqual(heard(("one", 1), ("two", 2), ("four", 3)), {("signals", "torn")})

    def test_each_call_rings_once_and_a_ring_ends_once(self):
        def rung(*items, there=True):
            return self.faults(calls_kills_judge.judge_rings, self.writer, {self.writer.bob: (items, 0)}, {self.call.id} if there else set())

        ring, end = event(1, "call.ringing", ringId="r", call={"id": self.call.id}), event(2, "ring.ended", ringId="r")
        self.assertEqual([rung(ring), rung(ring, end), rung(there=False)], [set()] * 3)
        self.assertEqual(rung(), {("rings", "lost")})
        self.assertEqual(rung(ring, there=False), {("rings", "torn")})
        self.assertEqual([rung(ring, ring), rung(ring, end, end), rung(end, ring, ring)], [{("rings", "twice")}] * 3)

    def test_events_have_no_gaps_but_for_keys_of_calls_that_are_over(self):
        sealed = Acknowledged(self.writer.eve)
        sealed.key = known_value(1)
        self.writer.calls.append(sealed)

        def numbered(who, numbers, last, status="inactive"):
            return self.faults(calls_kills_judge.judge_numbers, self.writer, {who: ([{"id": each} for each in numbers], last)},
                               {sealed.id: {"status": status}})

        self.assertEqual([numbered(self.writer.bob, [1, 2, 3], 3), numbered(self.writer.eve, [1, 3], 3)], [set()] * 2)
        self.assertEqual([numbered(self.writer.bob, [1, 3], 3), numbered(self.writer.bob, [1, 2], 3), numbered(self.writer.eve, [1, 2, 3], 3),
                          numbered(self.writer.eve, [1, 3], 3, "active")], [{("rings", "gaps")}] * 4)
        self.assertEqual(numbered(self.writer.bob, [1, 1, 2], 2), {("rings", "twice")})

    def test_a_call_stands_as_it_was_answered(self):
        bob = self.writer.bob
        self.call.joined, self.call.metadata = {bob}, known_value("1", "2")
        right = {"allParticipants": ["ada", bob], "activeParticipants": ["ada", bob], "invitedParticipants": [], "leftParticipants": [],
                 "status": "active", "outcome": None, "metadata": "2"}

        def stands(**changes):
            return self.faults(calls_kills_judge.judge_call, self.call, right | changes)

        self.assertEqual(stands(), set())
        self.assertEqual([stands(metadata=None), stands(activeParticipants=["ada"], invitedParticipants=[bob])], [{("calls", "lost")}] * 2)
        self.assertEqual([stands(metadata="9"), stands(activeParticipants=["ada"]), stands(status="inactive")], [{("calls", "torn")}] * 3)
        self.call.left = {"ada"}
        self.assertEqual(stands(), {("calls", "lost"), ("calls", "torn")})

    def test_lists_are_compared_entry_by_entry(self):
        def compared(**values):
            return self.faults(calls_kills_judge.compare, "blocks", {"x": known_value(True), "y": known_value(False, True)}, list(values), values, False)

        self.assertEqual([compared(x=True), compared(x=True, y=True)], [set()] * 2)
        self.assertEqual(compared(y=True), {("blocks", "torn")})
        self.assertEqual(compared(x=True, z=True), {("blocks", "torn")})
        twice = self.faults(calls_kills_judge.compare, "blocks", {"x": known_value(True)}, ["x", "x"], {"x": True}, False)
        self.assertEqual(twice, {("blocks", "twice")})
        gone = self.faults(calls_kills_judge.compare, "devices", {"x": known_value("one")}, [], {}, None)
        self.assertEqual(gone, {("devices", "lost")})

    def test_shared_events_keep_their_numbers(self):
        shared = Shared()
        shared.events, shared.tried = {"one": 2}, "two"

        def there(*events, last=None):
            page = [{"seq": seq, "id": name, "sender": sender, "data": {"id": name}} for seq, name, sender in events]
            session = {"lastSeq": last or len(page), "lastEventId": page[-1]["id"]}
            return self.faults(calls_kills_judge.judge_shared_events, shared, session, page)

        self.assertEqual([there((1, "s", None), (2, "one", "ada")), there((1, "s", None), (2, "one", "ada"), (3, "two", "ada"))], [set()] * 2)
        self.assertEqual(there((1, "s", None)), {("shared events", "lost")})
        self.assertEqual(there((1, "one", "ada")), {("shared events", "torn")})
        self.assertEqual(there((1, "s", None), (2, "one", "ada"), (3, "one", "ada")), {("shared events", "twice")})
        self.assertEqual(there((1, "s", None), (2, "one", "ada"), last=3), {("shared events", "gaps")})
        self.assertEqual(there((1, "s", None), (2, "one", "ada"), (3, "other", "ada")), {("shared events", "torn")})

    def test_a_snapshot_is_the_last_one_and_whole(self):
        class Given:
            def __init__(self, seq, state=None):
                self.status, self.json = (200, {"seq": seq, "state": {"upTo": state or seq}}) if seq else (404, {})

        shared = Shared()
        shared.snapshot = known_value(2, 3)
        shared.snapshot.before = [None, 1]

        def kept(answer, knows):
            return self.faults(calls_kills_judge.judge_snapshot, shared, {"snapshotSeq": knows} if knows else {}, answer)

        self.assertEqual([kept(Given(2), 2), kept(Given(3), 3)], [set()] * 2)
        self.assertEqual([kept(Given(1), 1), kept(Given(None), None)], [{("snapshots", "lost")}] * 2)
        self.assertEqual([kept(Given(3), 2), kept(Given(3, 2), 3), kept(Given(9), 9)], [{("snapshots", "torn")}] * 3)


class ProofTest(LimitedTest):
    def tree(self, leaves):
        """The root as RFC 9162 §2.1.1 defines it."""
        if len(leaves) < 2:
            return leaves[0] if leaves else hashlib.sha256().digest()
        half = 1 << (len(leaves) - 1).bit_length() - 1
        return key_proofs.node(self.tree(leaves[:half]), self.tree(leaves[half:]))

    def path(self, index, leaves):
        if len(leaves) < 2:
            return []
        half = 1 << (len(leaves) - 1).bit_length() - 1
        if index < half:
            return [*self.path(index, leaves[:half]), self.tree(leaves[half:])]
        return [*self.path(index - half, leaves[half:]), self.tree(leaves[:half])]

    def growth(self, size, leaves, is_whole=True):
        if size == len(leaves):
            return [] if is_whole else [self.tree(leaves)]
        half = 1 << (len(leaves) - 1).bit_length() - 1
        if size <= half:
            return [*self.growth(size, leaves[:half], is_whole), self.tree(leaves[half:])]
        return [*self.growth(size - half, leaves[half:], False), self.tree(leaves[:half])]

    def test_every_proof_of_every_small_tree_holds_and_none_of_another(self):
        leaves = [key_proofs.leaf_hash(bytes([each])) for each in range(20)]
        for size in range(1, 21):
            root = self.tree(leaves[:size])
            for index in range(size):
                path = self.path(index, leaves[:size])
                self.assertEqual(key_proofs.follows(leaves[index], index, size, path), root)
                self.assertNotEqual(key_proofs.follows(leaves[index], index ^ 1, size, path), root)
                self.assertNotEqual(key_proofs.follows(leaves[-1], index, size, path), root if index < 19 else None)
                self.assertNotEqual(key_proofs.follows(leaves[index], index, size, [*path, root]), root)
            for first in range(1, size):
                path, old = self.growth(first, leaves[:size]), self.tree(leaves[:first])
                self.assertTrue(key_proofs.grew(first, old, size, root, path), (first, size))
                self.assertFalse(key_proofs.grew(first, leaves[-1], size, root, path))
                self.assertFalse(key_proofs.grew(first, old, size, leaves[-1], path))
                self.assertFalse(key_proofs.grew(first, old, size, root, path[:-1]))
                self.assertFalse(key_proofs.grew(size, root, first, old, path))

    def test_the_answers_of_the_docs_are_proven_and_others_are_not(self):
        text = (ROOT / "docs/keys.md").read_text()
        answers = [json.loads(each) for each in re.findall(r"```json\n(.+?)```", text, re.S)]
        receipts = [each for each in answers if "entry" in each]
        log = next(each["key"] for each in answers if each.get("algorithm") == "ecdsa-p256-sha256")
        self.assertEqual(len(receipts), 2)
        for receipt in receipts:
            entry, head = receipt["entry"], receipt["head"]
            self.assertIsNone(key_proofs.fault("ada", receipt["salt"], entry, head))
            self.assertIsNotNone(key_proofs.fault("bob", receipt["salt"], entry, head))
            self.assertIsNotNone(key_proofs.fault("ada", receipt["salt"], entry, head | {"root": "00" * 32}))
            self.assertTrue(key_proofs.is_signed(head, log))
            self.assertFalse(key_proofs.is_signed(head | {"size": 9}, log))
        path = next(each["consistency"] for each in answers if each.get("from") == 1)
        first, second = (each["head"] for each in receipts)
        self.assertTrue(key_proofs.has_grown(first, second, path))
        self.assertFalse(key_proofs.has_grown(first, second, []))


if __name__ == "__main__":
    unittest.main()
