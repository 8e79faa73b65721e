"""What was acknowledged to people who call each other, compared with what the server has after a kill. What wasn't answered may be done
or not, and either is right; half of it is not."""

import collections

from callers import heard, patient
from calls_kills_keys import judge_keys, judge_wrapped

WRONG = ("lost", "twice", "gaps", "torn")
ENDED = ("answered", "cancelled", "missed", "declined", "busy", "failed")


class Verdict:
    """How much of each kind was acknowledged, and what is wrong with it."""

    def __init__(self):
        self.kills, self.requests, self.counts, self.problems = 0, 0, collections.Counter(), []

    def wrong(self, kind, what, text):
        self.counts[kind, what] += 1
        self.problems.append(f"{kind}, {what}: {text}")

    def add(self, other):
        self.kills += other.kills
        self.requests += other.requests
        self.counts.update(other.counts)
        self.problems += other.problems

    def faults(self):
        return {(kind, what): count for (kind, what), count in self.counts.items() if what in WRONG and count}

    def says(self, kind):
        return ", ".join(f"{self.counts[kind, each]} {each}" for each in ("acknowledged", *WRONG))


def judge(roost, writer, verdict):
    """Adds to the verdict what was acknowledged to a writer before the kill, and what has become of it."""
    verdict.problems += writer.problems
    verdict.requests += writer.answers
    for kind, count in writer.acknowledged.items():
        verdict.counts[kind, "acknowledged"] += count
    events = {who: heard(roost, who) for who in (writer.ada, writer.bob, writer.eve)}
    calls = judge_histories(roost, writer, verdict)
    for known in writer.calls:
        if known.id in calls:
            judge_call(known, calls[known.id], verdict)
    judge_rings(writer, events, calls, verdict)
    judge_numbers(writer, events, calls, verdict)
    judge_signals(writer, events, verdict)
    judge_lists(roost, writer, verdict)
    for known in writer.calls:
        if known.shared and known.id in calls:
            judge_session(roost, writer, known, calls[known.id]["status"] == "inactive", events, verdict)
    judge_keys(roost, writer, verdict)
    judge_wrapped(roost, writer, events, calls, verdict)


def occurs(count, is_certain, is_possible):
    """What is wrong with something that is there so often; None: nothing."""
    if count > 1:
        return "twice"
    if count == 0:
        return "lost" if is_certain else None
    return None if is_certain or is_possible else "torn"


def listed(roost, identity, path):
    """All of one's own list, page by page."""
    items, place = [], ""
    while True:
        page = patient(roost, identity, "GET", f"{path}?limit=200{place}").json
        items += page["items"]
        if "next" not in page:
            return items
        place = f"&before={page['next']}"


# Calls

def judge_histories(roost, writer, verdict):
    """Each call is in the history of both, once. Returns the calls that there are, as their caller reads them."""
    lists = {who: listed(roost, who, "/v1/calls") for who in (writer.ada, writer.bob, writer.eve)}
    times = {who: collections.Counter(each["id"] for each in items) for who, items in lists.items()}
    there = {each["id"]: each for each in lists[writer.ada]}
    for known in writer.calls:
        verdict.counts["histories", "acknowledged"] += 2 * known.is_started
        if known.id not in there:
            answer = patient(roost, writer.ada, "GET", f"/v1/calls/{known.id}")
            if answer.status == 200:
                there[known.id] = answer.json
            elif known.is_started:
                verdict.wrong("calls", "lost", f"{known.id}: {answer.status}")
        for who in (writer.ada, known.callee):
            if fault := occurs(times[who].pop(known.id, 0), known.id in there, False):
                verdict.wrong("histories", fault, f"{known.id} of {who}")
    for who, others in times.items():
        if others:
            verdict.wrong("histories", "torn", f"{who} has calls that weren't asked for: {others}")
    return there


def judge_call(known, there, verdict):
    left = [each["id"] for each in there["leftParticipants"]]
    people = there["activeParticipants"] + there["invitedParticipants"] + left
    if sorted(people) != sorted(there["allParticipants"]):
        verdict.wrong("calls", "torn", there)
    if known.left - set(left):
        verdict.wrong("calls", "lost", f"{known.left} had left: {there}")
    if known.joined & set(there["invitedParticipants"]):
        verdict.wrong("calls", "lost", f"{known.joined} had joined: {there}")
    if not known.metadata.may_be(there.get("metadata")):
        verdict.wrong("calls", known.metadata.fault(there.get("metadata")), f"metadata was {known.metadata.known}: {there}")
    # Of two people none is left to talk to.
    if known.left and there["status"] != "inactive":
        verdict.wrong("calls", "torn", f"{known.left} had left: {there}")
    if there["status"] == "inactive" and there["outcome"] not in ENDED:
        verdict.wrong("calls", "torn", there)


def judge_rings(writer, events, calls, verdict):
    """Each call has rung once, and each ring has ended once at most."""
    begun, ended, rings = collections.Counter(), collections.Counter(), collections.Counter()
    for items, _ in events.values():
        for each in items:
            if each["event"] == "call.ringing":
                begun[each["data"]["call"]["id"]] += 1
                rings[each["data"]["ringId"]] += 1
            elif each["event"] == "ring.ended":
                ended[each["data"]["ringId"]] += 1
    for known in writer.calls:
        verdict.counts["rings", "acknowledged"] += known.is_started
        # A call and its ring are one decision, whether it was answered or not.
        if fault := occurs(begun[known.id], known.id in calls, False):
            verdict.wrong("rings", fault, f"{known.id} has rung {begun[known.id]} times")
    for ring, count in (rings + ended).items():
        if rings[ring] != 1 or ended[ring] > 1:
            verdict.wrong("rings", "twice", f"{ring} has begun {rings[ring]} times, and ended {ended[ring]} times")


def judge_numbers(writer, events, calls, verdict):
    """A person's events are numbered from 1 without gaps, but for keys of calls that are over."""
    hidden = sum(known.key.known or 0 for known in writer.calls
                 if known.key and known.id in calls and calls[known.id]["status"] == "inactive")
    for who, (items, last) in events.items():
        numbers = [each["id"] for each in items]
        if numbers != sorted(set(numbers)):
            verdict.wrong("rings", "twice", f"events of {who}: {numbers}")
        missing = len(set(range(1, last + 1)) - set(numbers))
        if missing != (hidden if who == writer.eve else 0):
            verdict.wrong("rings", "gaps", f"events of {who} lack {missing} of {last}: {numbers}")


def judge_signals(writer, events, verdict):
    """Each signal is heard once, by its number, in the order in which they were sent."""
    found = collections.defaultdict(list)
    for place, each in enumerate(events[writer.bob][0]):
        if each["event"] == "call.signal":
            found[each["data"]["id"]].append((place, each["data"]))
    for known in writer.calls:
        seen = []
        for signal in [*known.signals, *([known.tried] if known.tried else [])]:
            there = found.pop(signal, [])
            if fault := occurs(len(there), signal in known.signals, True):
                verdict.wrong("signals", fault, f"{signal} of {known.id} is heard {len(there)} times")
            seen += there[:1]
            if there and (there[0][1]["number"] != known.signals.get(signal, len(known.signals) + 1) or there[0][1].get("payload") != "AAAA"):
                verdict.wrong("signals", "torn", f"{signal} of {known.id}, which was number {known.signals.get(signal)}: {there}")
        numbers = [data["number"] for _, data in seen]
        if numbers != list(range(1, len(seen) + 1)) or [place for place, _ in seen] != sorted(place for place, _ in seen):
            verdict.wrong("signals", "gaps", f"{known.id}: {seen}")
    for signal in found:
        verdict.wrong("signals", "torn", f"{signal} wasn't sent")


# Devices and blocks

def judge_lists(roost, writer, verdict):
    devices = listed(roost, writer.ada, "/v1/devices")
    compare("devices", writer.devices, [each["id"] for each in devices],
            {each["id"]: {name: value for name, value in each.items() if name not in ("id", "registeredAt")} for each in devices}, None, verdict)
    blocks = listed(roost, writer.ada, "/v1/blocks")
    compare("blocks", writer.blocks, blocks, dict.fromkeys(blocks, True), False, verdict)


def compare(kind, wanted, names, values, absent, verdict):
    """Each entry of a list stands as it was answered, or as was asked for since, once."""
    for name, count in collections.Counter(names).items():
        if count > 1 or name not in wanted:
            verdict.wrong(kind, "twice" if count > 1 else "torn", f"{name} stands {count} times: {names}")
    for name, value in wanted.items():
        seen = values.get(name, absent)
        if not value.may_be(seen):
            verdict.wrong(kind, value.fault(seen), f"{name} was {value.known}, {value.tried} was asked for: {seen}")


# Shared sessions

def judge_session(roost, writer, known, is_over, events, verdict):
    shared, path = known.shared, f"/v1/calls/{known.id}/sessions"
    items = patient(roost, writer.ada, "GET", path).json["items"]
    there = [each for each in items if each["id"] == shared.id]
    started = sum(each["event"] == "session.started" and each["data"]["id"] == shared.id for each in events[writer.bob][0])
    fault = occurs(len(there), shared.is_started, True) or occurs(started, bool(there), False)
    if fault or len(there) != len(items):
        verdict.wrong("sessions", fault or "torn", f"{shared.id}, whose beginning is heard {started} times: {items}")
    if len(there) != 1:
        return
    session = there[0]
    page = patient(roost, writer.ada, "GET", f"{path}/{shared.id}/events?after=0&limit=200").json["items"]
    is_ended = session["status"] == "inactive"
    if is_ended != (bool(page) and page[-1]["type"] == "system.ended") or (is_over and not is_ended):
        verdict.wrong("sessions", "torn", f"{session}: {page}")
    if shared.is_ended and not is_ended:
        verdict.wrong("sessions", "lost", f"{shared.id} had ended: {session}")
    joined = sum(each["type"] == "system.joined" and each["data"]["person"] == writer.bob for each in page)
    if fault := occurs(joined, shared.is_joined, True):
        verdict.wrong("sessions", fault, f"{writer.bob} had joined {shared.id}: {page}")
    judge_shared_events(shared, session, page, verdict)
    judge_snapshot(shared, session, patient(roost, writer.ada, "GET", f"{path}/{shared.id}/snapshot"), verdict)


def judge_shared_events(shared, session, page, verdict):
    """Each event is there once, by the number that was answered, and the numbers have no gaps."""
    numbers = [each["seq"] for each in page]
    if numbers != list(range(1, session["lastSeq"] + 1)) or session.get("lastEventId") != (page[-1]["id"] if page else None):
        verdict.wrong("shared events", "gaps", f"{session}: {page}")
    found = collections.defaultdict(list)
    for each in page:
        if each["sender"] is not None:
            found[each["id"]].append(each)
    for event in [*shared.events, *([shared.tried] if shared.tried else [])]:
        there = found.pop(event, [])
        if fault := occurs(len(there), event in shared.events, True):
            verdict.wrong("shared events", fault, f"{event} of {shared.id} is there {len(there)} times")
        if there and (there[0]["seq"] != shared.events.get(event, there[0]["seq"]) or there[0]["data"] != {"id": event}):
            verdict.wrong("shared events", "torn", f"{event} was number {shared.events.get(event)}: {there}")
    for event in found:
        verdict.wrong("shared events", "torn", f"{event} of {shared.id} wasn't sent")


def judge_snapshot(shared, session, answer, verdict):
    """The snapshot is the last one, whole, and the session knows how far it goes."""
    there = answer.json if answer.status == 200 else {}
    seq = there.get("seq")
    if not shared.snapshot.may_be(seq):
        verdict.wrong("snapshots", shared.snapshot.fault(seq), f"{shared.id} was kept up to {shared.snapshot.known}: {answer.status} {there}")
    if session.get("snapshotSeq") != seq or (there and there["state"] != {"upTo": seq}):
        verdict.wrong("snapshots", "torn", f"{session}: {there}")


