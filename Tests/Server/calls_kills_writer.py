"""People who call each other over REST until the server is killed, and all that was answered to them: calls, signals, devices, blocks,
shared sessions, keys of devices and keys of calls."""

import base64
import collections
import itertools
import random
import threading
import time
import uuid

from callers import GONE, call
from key_proofs import new_key

KINDS = ("calls", "histories", "rings", "signals", "devices", "blocks", "sessions", "shared events", "snapshots", "keys", "wrapped keys")
"""Of what is acknowledged, and looked for after a kill."""
CHANGES, ROTATIONS = 50, 18
"""How often one person changes sessions, and gives calls another key: the server lets it do so 60 and 20 times a minute."""


class Value:
    """Something that is changed: what was answered last, and what was asked for since, which may be done or not."""

    def __init__(self, known=None):
        self.known, self.before, self.tried = known, [], []

    def asks(self, value):
        self.tried.append(value)

    def answered(self):
        self.before.append(self.known)
        self.known, self.tried = self.tried[-1], []

    def may_be(self, seen):
        return seen == self.known or seen in self.tried

    def fault(self, seen):
        """What is wrong with a value that can't be: one of before is there, or one that never was."""
        return "lost" if seen is None or seen in self.before else "torn"


class Shared:
    """What the server has answered of one shared session."""

    def __init__(self):
        self.id = str(uuid.uuid4())
        self.is_started, self.is_joined, self.is_ended = False, False, False
        self.events, self.tried = {}, None
        """Numbers by id, as they were answered; the id of one that wasn't."""
        self.snapshot = Value()
        """Up to which number."""


class Acknowledged:
    """What the server has answered of one call."""

    def __init__(self, callee):
        self.id, self.callee = str(uuid.uuid4()), callee
        self.is_started = False
        self.metadata = Value()
        self.joined, self.left = set(), set()
        self.signals, self.tried = {}, None
        """Numbers by id, in the order in which they were answered; the id of one that wasn't."""
        self.shared = None
        self.key = None
        """Of an encrypted call: the index of its key."""

    def wrapped(self, index):
        """What stands for the call's key of that index, wrapped for its callee."""
        return base64.b64encode(f"{self.id} {index}".encode()).decode()


class KeyOwner:
    """What the server has answered a person of its entries in the log of keys."""

    def __init__(self, name):
        self.name = name
        self.receipts, self.tried = [], None
        """The answers in order; device and key of an entry that wasn't answered, the key None of a revocation."""


class CallWriter(threading.Thread):
    """Three people who use all that can be asked of calls, one request after the other."""

    def __init__(self, number, roost, seed):
        super().__init__(daemon=True)
        self.roost = roost
        self.ada, self.bob, self.eve = (f"{name}{number}" for name in ("ada", "bob", "eve"))
        self.calls, self.problems = [], []
        self.answers, self.acknowledged = 0, collections.Counter()
        """How many requests were answered, and by kind what was acknowledged by that."""
        self.devices = {f"device{number}": Value() for number in range(4)}
        self.blocks = {f"blocked{number}": Value(False) for number in range(6)}
        self.owners, self.log = [], None
        """Of keys; and the public key of the log."""
        self._changes = self._rotations = 0
        self._numbers = itertools.count(1)
        self._random = random.Random(seed)

    def run(self):
        steps = [self._talk, self._share, self._seal, self._register, self._block, self._publish]
        try:
            self.log = self._ask("others", self.ada, "GET", "/v1/keys/log").json["key"]
            while True:
                self._random.shuffle(steps)
                for step in steps:
                    step()
        except GONE:
            pass
        except AssertionError as error:
            self.problems.append(str(error))

    def _ask(self, kind, who, method, path, body=None, expected=(200, 201, 204)):
        while (answer := call(self.roost, who, method, path, body)).status == 429:
            time.sleep(0.05)
        assert answer.status in expected, f"{method} {path}: {answer.status} {answer.body}"
        self.answers += 1
        self.acknowledged[kind] += 1
        return answer

    # Calls

    def _begin(self, callee, key=None):
        known = Acknowledged(callee)
        self.calls.append(known)
        body = {"id": known.id, "recipients": [callee], "media": "audio", "deviceId": "a"}
        if key:
            known.key = Value()
            known.key.asks(0)
            body |= {"e2ee": True, "keys": [self._wrapped(known, key, 0)]}
        self._ask("calls", self.ada, "POST", "/v1/calls", body)
        known.is_started = True
        if key:
            known.key.answered()
            self.acknowledged["wrapped keys"] += 1
        return known

    def _join(self, known):
        self._ask("calls", known.callee, "POST", f"/v1/calls/{known.id}/join", {"deviceId": "b"})
        known.joined.add(known.callee)

    def _hang_up(self, known):
        self._ask("calls", self.ada, "POST", f"/v1/calls/{known.id}/leave", {"deviceId": "a"})
        known.left.add(self.ada)

    def _talk(self):
        known = self._begin(self.bob)
        path = f"/v1/calls/{known.id}"
        if self._random.random() < 0.2:
            self._ask("calls", self.bob, "POST", f"{path}/leave", {"reason": "rejected", "deviceId": "b"})
            known.left.add(self.bob)
            return
        self._join(known)
        for step in range(self._random.randint(1, 4)):
            known.metadata.asks(f"{step}")
            self._ask("calls", self.ada, "PATCH", path, {"metadata": f"{step}"})
            known.metadata.answered()
            known.tried = str(uuid.uuid4())
            answer = self._ask("signals", self.ada, "POST", f"{path}/signals",
                               {"id": known.tried, "to": self.bob, "kind": "status", "payload": "AAAA"})
            known.signals[known.tried], known.tried = answer.json["number"], None
        self._hang_up(known)

    # What people of a call share

    def _share(self):
        if self._changes > CHANGES:
            return
        known = self._begin(self.bob)
        self._join(known)
        shared = known.shared = Shared()
        path = f"/v1/calls/{known.id}/sessions"
        self._changes += 1
        self._ask("sessions", self.ada, "POST", path, {"id": shared.id, "experience": "story"})
        shared.is_started = True
        path += f"/{shared.id}"
        self._ask("sessions", self.bob, "POST", f"{path}/join")
        shared.is_joined = True
        for _ in range(self._random.randint(1, 4)):
            shared.tried = str(uuid.uuid4())
            answer = self._ask("shared events", self._random.choice((self.ada, self.bob)), "POST", f"{path}/events",
                               {"id": shared.tried, "type": "page", "data": {"id": shared.tried}})
            shared.events[shared.tried], shared.tried = answer.json["seq"], None
            if shared.snapshot.known is None or self._random.random() < 0.4:
                self._keep(shared, path, answer.json["seq"])
        if self._random.random() < 0.3:
            self._ask("sessions", self.ada, "DELETE", path)
            shared.is_ended = True
        self._hang_up(known)

    def _keep(self, shared, path, seq):
        self._changes += 1
        shared.snapshot.asks(seq)
        self._ask("snapshots", self.ada, "PUT", f"{path}/snapshot",
                  {"seq": seq, "state": {"upTo": seq}, "participants": [self.ada, self.bob], "owner": self.ada})
        shared.snapshot.answered()

    # Devices and blocks

    def _register(self):
        for name in self._random.sample(sorted(self.devices), 2):
            value = self.devices[name]
            if value.known and self._random.random() < 0.4:
                value.asks(None)
                self._ask("devices", self.ada, "DELETE", f"/v1/devices/{name}")
            else:
                wanted = {"platform": "webhook", "token": f"{next(self._numbers):04d}-{uuid.uuid4()}", "topic": f"topic{next(self._numbers)}",
                          "screen": self._random.choice(("system", "app")), "environment": self._random.choice(("production", "sandbox"))}
                value.asks(wanted | {"token": wanted["token"][:4]})
                self._ask("devices", self.ada, "PUT", f"/v1/devices/{name}", wanted)
            value.answered()

    def _block(self):
        for name in self._random.sample(sorted(self.blocks), 2):
            value = self.blocks[name]
            value.asks(not value.known)
            self._ask("blocks", self.ada, "DELETE" if value.known else "PUT", f"/v1/blocks/{name}")
            value.answered()

    # Keys

    def _publish(self):
        """A person of its own each time: one makes three entries a minute."""
        owner = KeyOwner(f"{self.ada}-{next(self._numbers)}")
        self.owners.append(owner)
        for key in (new_key(), new_key(), None)[:self._random.randint(1, 3)]:
            self._append(owner, "phone", key)

    def _append(self, owner, device, key):
        owner.tried = (device, key)
        if key:
            answer = self._ask("keys", owner.name, "PUT", f"/v1/keys/{owner.name}", {"device": device, "algorithm": "p256", "key": key}, (201,))
        else:
            answer = self._ask("keys", owner.name, "DELETE", f"/v1/keys/{owner.name}/{device}")
        owner.receipts.append(answer.json)
        owner.tried = None

    def _seal(self):
        """A call that is encrypted end to end, whose key is changed."""
        owner = next((each for each in self.owners if each.name == self.eve), None)
        if owner is None:
            owner = KeyOwner(self.eve)
            self.owners.append(owner)
            self._append(owner, "b", new_key())
        key = owner.receipts[0]["entry"]["id"]
        known = self._begin(self.eve, key)
        self._join(known)
        for index in range(1, self._random.randint(2, 4)):
            if self._rotations == ROTATIONS:
                break
            self._rotations += 1
            known.key.asks(index)
            self._ask("wrapped keys", self.ada, "POST", f"/v1/calls/{known.id}/keys", {"index": index, "keys": [self._wrapped(known, key, index)]})
            known.key.answered()
        self._hang_up(known)

    def _wrapped(self, known, key, index):
        return {"person": self.eve, "device": "b", "keyId": key, "ciphertext": known.wrapped(index)}
