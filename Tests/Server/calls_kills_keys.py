"""What was acknowledged of keys, compared with what the server has after a kill: entries of the log, with proofs, and keys of calls."""

import collections

from callers import patient
from key_proofs import fault, has_grown, is_signed

OF_ENTRY = ("id", "leaf", "device", "algorithm", "key", "time")


def judge_keys(roost, writer, verdict):
    """The log is the same one and has only grown, and each entry is in it, once, and provably."""
    if writer.log is None:
        return
    log = patient(roost, writer.ada, "GET", "/v1/keys/log").json["key"]
    if log != writer.log:
        verdict.wrong("keys", "lost", f"the log had the key {writer.log}: {log}")
    for owner in writer.owners:
        judge_owner(roost, owner, log, verdict)


def judge_owner(roost, owner, log, verdict):
    path = f"/v1/keys/{owner.name}"
    history = patient(roost, owner.name, "GET", f"{path}/history?limit=200").json
    entries, head = history["items"][::-1], history["head"]
    times = collections.Counter(each["id"] for each in entries)
    for receipt in owner.receipts:
        wanted = receipt["entry"]
        there = [each for each in entries if each["id"] == wanted["id"]]
        if times[wanted["id"]] != 1:
            verdict.wrong("keys", "twice" if there else "lost", f"{owner.name}: {wanted} in {entries}")
        elif [there[0].get(name) for name in OF_ENTRY] != [wanted.get(name) for name in OF_ENTRY]:
            verdict.wrong("keys", "torn", f"{owner.name}: {wanted}, by now {there}")
        if problem := fault(owner.name, receipt["salt"], wanted, receipt["head"]):
            verdict.wrong("keys", "torn", f"{owner.name}, as it was answered: {problem}")
    more = entries[len(owner.receipts):]
    if more and (len(more) > 1 or owner.tried != (more[0]["device"], more[0].get("key"))):
        verdict.wrong("keys", "twice", f"{owner.name}: {owner.tried} was asked for: {more}")
    for entry in entries:
        if problem := fault(owner.name, history["salt"], entry, head):
            verdict.wrong("keys", "torn", f"{owner.name}: {problem}")
    if not is_signed(head, log):
        verdict.wrong("keys", "torn", f"a head that the log hasn't signed: {head}")
    judge_current(roost, owner, path, entries, verdict)


def judge_current(roost, owner, path, entries, verdict):
    """A device has the key of its last entry, beside a head that follows what was answered."""
    last = max((each["head"] for each in owner.receipts), key=lambda head: head["size"], default=None)
    answer = patient(roost, owner.name, "GET", f"{path}?head={last['size'] if last else 0}")
    if answer.status == 409:
        verdict.wrong("keys", "lost", f"the log had {last['size']} leaves: {answer.body}")
        return
    now = answer.json
    if last and not has_grown(last, now["head"], now["consistency"]):
        verdict.wrong("keys", "gaps", f"{now} doesn't follow {last}")
    newest = {each["device"]: each for each in entries}
    wanted = sorted(each["id"] for each in newest.values() if "key" in each)
    if sorted(each["id"] for each in now["keys"]) != wanted:
        verdict.wrong("keys", "torn", f"{owner.name} has {now['keys']}, and the entries {entries}")


def judge_wrapped(roost, writer, events, calls, verdict):
    """An encrypted call that goes on has its last key, and each change is heard once."""
    heard = collections.Counter((each["data"]["call"], each["data"]["index"]) for each in events[writer.eve][0] if each["event"] == "call.key")
    for known in writer.calls:
        # Nothing is heard of keys of calls that are over.
        if known.key is None or known.id not in calls or calls[known.id]["status"] == "inactive":
            continue
        # Joining again by the same device changes nothing, and brings the key.
        entry = patient(roost, writer.eve, "POST", f"/v1/calls/{known.id}/join", {"deviceId": "b"})
        index = entry.json.get("keyIndex")
        if entry.status != 200 or index is None or not known.key.may_be(index):
            verdict.wrong("wrapped keys", known.key.fault(index), f"{known.id} had the key {known.key.known}: {entry.status} {entry.body}")
            continue
        if entry.json["key"]["ciphertext"] != known.wrapped(index) or entry.json["keyFrom"] != writer.ada:
            verdict.wrong("wrapped keys", "torn", f"{known.id}: {entry.body}")
        for each in range(1, index + 1):
            if heard.pop((known.id, each), 0) != 1:
                verdict.wrong("wrapped keys", "torn", f"{known.id} has the key {index}, and {each} isn't heard once")
    for call, index in heard:
        verdict.wrong("wrapped keys", "torn", f"{call}: a key {index} that the call hasn't")
