"""People who call each other over REST, and what was acknowledged to them: for tests that kill the server under load."""

import collections
import http.client
import random
import threading
import time
import uuid

from roost import ask, put_together

GONE = (OSError, http.client.HTTPException)
"""What a request ends with whose server is killed."""
ENDED = ("answered", "cancelled", "missed", "declined", "busy", "failed")


def person(identity, name=None, valid=3_600):
    """A token of a person: it names no room."""
    said = {"iss": "devkey", "sub": identity, "exp": int(time.time()) + valid, "iat": int(time.time())}
    return put_together({"alg": "HS256", "typ": "JWT"}, said | ({"name": name} if name else {}))


def call(roost, identity, method, path, body=None, token=None):
    return ask(roost, method, path, token or person(identity), body)


def started(roost, caller, *others, **more):
    """A call's id, and what starting it was answered."""
    number = str(uuid.uuid4())
    body = {"id": number, "recipients": list(others), "media": "audio", "deviceId": f"{caller}-phone"} | more
    return number, call(roost, caller, "POST", "/v1/calls", body)


def heard(roost, identity, after=0, device=None):
    """A person's events from there on, and the number of the last one."""
    items = []
    while True:
        more = f"&device={device}" if device else ""
        page = call(roost, identity, "GET", f"/v1/calls/events?after={after}&limit=200{more}").json
        items += page["items"]
        if not page["items"]:
            return items, page["last"]
        after = page["last"]


class Acknowledged:
    """What the server has answered of one call."""

    def __init__(self, number):
        self.id = number
        self.started = False
        self.metadata, self.tried = None, []
        """The last value that was answered, and all that were asked for since."""
        self.joined, self.left = set(), set()
        self.signals = []
        """Numbers in the order in which they were answered."""


class CallWriter(threading.Thread):
    """Starts calls, joins and leaves them, changes them and sends signals, one request after the other."""

    def __init__(self, number, roost, seed):
        super().__init__(daemon=True)
        self.roost, self.ada, self.bob = roost, f"ada{number}", f"bob{number}"
        self.calls, self.problems, self.done = [], [], 0
        self._random = random.Random(seed)

    def run(self):
        try:
            while True:
                self._live()
        except GONE:
            pass
        except AssertionError as error:
            self.problems.append(str(error))

    def _ask(self, who, method, path, body=None, expected=(200, 201)):
        answer = call(self.roost, who, method, path, body)
        assert answer.status in expected, f"{method} {path}: {answer.status} {answer.body}"
        self.done += 1
        return answer

    def _live(self):
        """One call from its beginning to its end, or as far as it comes."""
        known = Acknowledged(str(uuid.uuid4()))
        self.calls.append(known)
        path = f"/v1/calls/{known.id}"
        self._ask(self.ada, "POST", "/v1/calls",
                  {"id": known.id, "recipients": [self.bob], "media": "audio", "deviceId": "a"})
        known.started = True
        if self._random.random() < 0.2:
            self._ask(self.bob, "POST", f"{path}/leave", {"reason": "rejected", "deviceId": "b"})
            known.left.add(self.bob)
            return
        self._ask(self.bob, "POST", f"{path}/join", {"deviceId": "b"})
        known.joined.add(self.bob)
        for step in range(self._random.randint(0, 4)):
            value = f"{step}"
            known.tried.append(value)
            self._ask(self.ada, "PATCH", path, {"metadata": value})
            known.metadata, known.tried = value, []
            answer = self._ask(self.ada, "POST", f"{path}/signals",
                               {"id": str(uuid.uuid4()), "to": self.bob, "kind": "status", "payload": "AAAA"})
            known.signals.append(answer.json["number"])
        self._ask(self.ada, "POST", f"{path}/leave", {"deviceId": "a"})
        known.left.add(self.ada)


def judge(roost, writer, counts):
    """Compares what was acknowledged to a writer with what the server has: problems, as text."""
    problems = list(writer.problems)
    for known in writer.calls:
        answer = call(roost, writer.ada, "GET", f"/v1/calls/{known.id}")
        if answer.status == 404:
            if known.started:
                counts["lost"] += 1
                problems.append(f"call {known.id} was answered and isn't there")
            continue
        there = answer.json
        counts["calls"] += 1
        away = {each["id"] for each in there["leftParticipants"]}
        whole = there["activeParticipants"] + there["invitedParticipants"] + [each["id"] for each in there["leftParticipants"]]
        if sorted(whole) != sorted(there["allParticipants"]):
            counts["torn"] += 1
            problems.append(f"{known.id}: {there}")
        if known.left - away:
            counts["lost"] += 1
            problems.append(f"{known.id}: {known.left - away} had left: {there}")
        if writer.bob in known.joined and writer.bob in there["invitedParticipants"]:
            counts["lost"] += 1
            problems.append(f"{known.id}: {writer.bob} had joined: {there}")
        if known.metadata is not None and there.get("metadata") not in [known.metadata, *known.tried]:
            counts["lost"] += 1
            problems.append(f"{known.id}: metadata {known.metadata} was answered: {there}")
        if known.signals != list(range(1, len(known.signals) + 1)):
            counts["gaps"] += 1
            problems.append(f"{known.id}: signals {known.signals}")
        if there["status"] == "inactive" and there["outcome"] not in ENDED:
            counts["torn"] += 1
            problems.append(f"{known.id}: {there}")
    return problems + events(roost, writer.bob, counts)


def events(roost, identity, counts):
    """A person's events have no gaps, and each ring that was heard ends or goes on, once."""
    items, _ = heard(roost, identity)
    problems, rings = [], collections.Counter()
    numbers = [each["id"] for each in items if each["event"] != "state"]
    if numbers and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        counts["gaps"] += 1
        problems.append(f"{identity}: events {numbers}")
    for each in items:
        if each["event"] == "call.ringing":
            rings[each["data"]["ringId"], "begun"] += 1
        elif each["event"] == "ring.ended":
            rings[each["data"]["ringId"], "ended"] += 1
    twice = [ring for ring, count in rings.items() if count > 1]
    if twice:
        counts["twice"] += 1
        problems.append(f"{identity}: {twice}")
    return problems
