"""The corpus of the targets that calls have: requests to their doors, rows of the database, an app's JSON and the log of keys."""

import json

CALL, OTHER, SESSION, EVENT = (f"{digit * 8}-0000-4000-8000-{digit * 12}" for digit in "1234")
ROOT, KEY = "ab" * 32, "BGsX0fLhLEJH+Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5uO5+tKfA+eFivOM1drMV7Oy7ZAaDe/UfU="


def asked(request, who, line, body=None, *fields):
    """A request of a person, by a word that stands for its token."""
    fields = (f"Authorization: Bearer {who}", *fields)
    return request(line, *fields) if body is None else request(line, *fields, "Content-Type: application/json", body=body.encode())


def door_messages(request):
    """Requests of people, one behind the other."""
    start = asked(request, "ada", "POST /v1/calls", '{"id":"%s","recipients":["bob","eve"],"media":"audio","metadata":"m","deviceId":"a"}' % CALL)
    join = asked(request, "bob", f"POST /v1/calls/{CALL}/join", '{"deviceId":"b","takeover":false}')
    share = asked(request, "ada", f"POST /v1/calls/{CALL}/sessions", '{"id":"%s","experience":"story"}' % SESSION)
    under = f"/v1/calls/{CALL}/sessions/{SESSION}"
    call_requests = {
        "in-and-out": b"\0".join([
            start, join, asked(request, "call", f"GET /v1/calls/{CALL}"), asked(request, "ada", f"PATCH /v1/calls/{CALL}", '{"media":"video","metadata":null}'),
            asked(request, "ada", f"POST /v1/calls/{CALL}/invite", '{"recipients":["zoe"]}'), asked(request, "eve", f"POST /v1/calls/{CALL}/leave", '{"reason":"rejected"}'),
            asked(request, "bob", f"POST /v1/calls/{CALL}/leave", '{"deviceId":"b"}'), asked(request, "bob", f"POST /v1/calls/{CALL}/forget"),
            asked(request, "$", f"DELETE /v1/calls/{CALL}")]),
        "lists": b"\0".join([
            start, asked(request, "bob", "GET /v1/calls?participant=ada&status=active&limit=1"), asked(request, "bob", "GET /v1/calls/events?after=0&limit=9&device=b"),
            asked(request, "bob", "GET /v1/calls/events?after=9", None, "Accept: text/event-stream"), asked(request, "ada", "GET /v1/people?online=true&limit=2"),
            asked(request, "ada", f"GET /v1/calls/{CALL}/deliveries?limit=3"), asked(request, "eve", "GET /v1/calls/events", None, "Last-Event-ID: 1")]),
        "again": b"\0".join([asked(request, "ada", f"POST /v1/calls/{CALL}/join", "{}", "Idempotency-Key: one"), start, start,
                             asked(request, "bob", f"POST /v1/calls/{CALL}/leave", "{}", "Idempotency-Key: one"),
                             asked(request, "bob", f"POST /v1/calls/{CALL}/leave", "{}", "Idempotency-Key: one")]),
        "glare": b"\0".join([
            asked(request, "ada", "POST /v1/calls", '{"id":"%s","recipients":["bob"],"media":"video","path":"direct"}' % CALL),
            asked(request, "bob", "POST /v1/calls", '{"id":"%s","recipients":["ada"],"media":"audio","path":"direct"}' % OTHER)]),
        "signals": b"\0".join([
            start, asked(request, "ada", f"POST /v1/calls/{CALL}/signals", '{"id":"%s","to":"bob","kind":"offer","payload":"AAAA","clear":{"a":1}}' % EVENT),
            asked(request, "call", f"POST /v1/calls/{CALL}/signals", '{"id":"%s","to":"bob","kind":"status","clear":{"connected":true}}' % OTHER)]),
        "devices": b"\0".join([
            asked(request, "bob", "PUT /v1/devices/phone", '{"platform":"apns-voip","token":"abcdef","topic":"app.example","environment":"sandbox","screen":"app"}'),
            asked(request, "eve", "PUT /v1/devices/phone", '{"platform":"apns-voip","token":"abcdef","topic":"app.example"}'),
            asked(request, "bob", "GET /v1/devices?limit=2"), asked(request, "bob", "GET /v1/calls/events?after=0"),
            asked(request, "eve", "PUT /v1/devices/a%20tablet", '{"platform":"webhook","token":"t"}'), asked(request, "eve", "DELETE /v1/devices/phone")]),
        "blocks": b"\0".join([
            asked(request, "bob", "PUT /v1/blocks/ada"), start, asked(request, "bob", "GET /v1/blocks"), asked(request, "bob", f"GET /v1/calls/{CALL}"),
            asked(request, "bob", "DELETE /v1/blocks/ada"), asked(request, "bob", "DELETE /v1/people/bob"), asked(request, "$", "DELETE /v1/people/ada")]),
        "keys": b"\0".join([
            asked(request, "bob", "PUT /v1/keys/bob", '{"device":"phone","algorithm":"p256","key":"%s"}' % KEY), asked(request, "ada", "GET /v1/keys/bob?head=0"),
            asked(request, "bob", "GET /v1/keys/bob/history?before=9&limit=3"), asked(request, "ada", "GET /v1/keys/head"), asked(request, "ada", "GET /v1/keys/consistency?from=0&to=1"),
            asked(request, "ada", "GET /v1/keys/log"), asked(request, "bob", "DELETE /v1/keys/bob/phone")]),
        "encrypted": b"\0".join([
            asked(request, "ada", "POST /v1/calls", '{"id":"%s","recipients":["bob"],"media":"audio","e2ee":true,"keys":[{"person":"bob","device":"phone","keyId":"%s",'
                  '"ciphertext":"AAAA"}],"head":{"size":1,"root":"%s"}}' % (CALL, ROOT, ROOT)),
            asked(request, "ada", f"POST /v1/calls/{CALL}/keys", '{"index":1,"keys":[]}'),
            asked(request, "ada", f"POST /v1/calls/{CALL}/invite", '{"recipients":["eve"],"keyIndex":1,"keys":[]}')]),
        "session": b"\0".join([
            start, join, share, asked(request, "bob", f"POST {under}/join"), asked(request, "bob", f"POST {under}/events", '{"id":"%s","type":"page","data":{"page":[1,2.5e3,"x"]}}' % EVENT),
            asked(request, "ada", f"PUT {under}/snapshot", '{"seq":2,"state":{"page":4},"participants":["ada","bob"],"owner":"ada"}'),
            asked(request, "bob", f"GET {under}/snapshot"), asked(request, "bob", f"GET {under}/events?after=0&limit=2"), asked(request, "bob", f"GET /v1/calls/{CALL}/sessions?status=active"),
            asked(request, "ada", f"POST {under}/owner", '{"to":"bob"}'), asked(request, "bob", f"DELETE {under}")]),
        "session-goes-on": b"\0".join([
            start, join, share, asked(request, "ada", f"PUT {under}/snapshot", '{"seq":0,"state":null}'), asked(request, "bob", f"POST {under}/join"), asked(request, "ada", f"POST {under}/leave"),
            asked(request, "bob", f"POST {under}/owner", '{"accept":true}'),
            asked(request, "ada", f"POST /v1/calls/{CALL}/sessions", '{"id":"%s","experience":"board","from":"%s"}' % (OTHER, SESSION))]),
    }
    return call_requests


def person(status, joined=None, **more):
    return {"id": more.pop("id"), "status": status, "wasConnected": False, "isHidden": False} | ({"joinedAt": joined} if joined else {}) | more


def stored_call(*people, **more):
    """A call as a row has it; moments of the clock that doesn't jump are beside `offset` of Fuzz/FuzzTargets/StoredCalls.swift."""
    return json.dumps({"id": CALL, "caller": "ada", "path": "relay", "media": "audio", "isEncrypted": False, "people": list(people),
                       "createdAt": 1_789_999_000_000, "updatedAt": 1_789_999_500_000} | more, separators=(",", ":")).encode()


def device(media, letter):
    return {"active": {"_0": {"id": OTHER, "device": f"{letter}1", "media": media, "saysConnected": False}}}


def stored_session(**more):
    return json.dumps({"id": SESSION, "call": CALL, "experience": "story", "status": "active", "owner": "ada", "participants": ["ada", "bob"],
                       "everyone": ["ada", "bob", "eve"], "lastSeq": 12, "eventBytes": 400, "createdAt": 1_789_999_000_000, "asked": []} | more,
                      separators=(",", ":")).encode()


def call_messages(request):
    """{target: {title: message}}; `request` writes one of HTTP."""
    messages = {"call-request": door_messages(request)}
    messages["opaque-json"] = {
        "body": b'{"id":"a","type":"page","data":{"page":[1,-2.5e3,true,null],"text":"\\u00e4\\ud83d\\ude00"}}',
        "deep": b'{"data":' + b"[" * 12 + b"]" * 12 + b"}",
        "too-deep": b"[" * 13 + b"]" * 13,
        "half": b'{"data":"\\ud83d"}',
        "numbers": b'[1e308,1e309,12345678901234567890123456789012,0.0000000000000000000000000000001]',
        "none": b'{"id":"x"}',
    }
    ada = person(device({"standing": {"by": OTHER}}, "a"), 1_789_999_000_000, id="ada")
    bob = person(device({"awaited": {"until": 999_990_000}}, "b"), 1_789_999_100_000, id="bob")
    rung = person({"invited": {"_0": {"id": EVENT, "from": "ada", "until": 999_995_000, "isSilent": False, "isBusy": False,
                                      "head": {"size": 7, "root": ROOT}}}}, id="eve")
    gone = person({"left": {"_0": "userLeft", "at": 1_789_999_400_000}}, 1_789_999_000_000, id="max", leftAt=1_789_999_400_000)
    messages["call-state"] = {
        "rings": stored_call(ada, rung), "talks": stored_call(ada, bob, connectedAt={"wall": 1_789_999_200_000, "steady": 999_200_000}),
        "alone": stored_call(ada, gone, aloneUntil=999_999_000, metadata="m"), "reconnects": stored_call(person(device({"gone": {"until": 1}}, "a"), id="ada"), bob),
        "direct": stored_call(ada, rung, path="direct", media="video", isEncrypted=True),
        "over": stored_call(gone, end={"at": 1_789_999_500_000, "by": "ada", "outcome": "answered", "duration": 1_000}),
        "far": stored_call(ada, rung, connectedAt={"wall": -1, "steady": -2**63}, aloneUntil=2**63 - 1),
    }
    messages["session-state"] = {
        "owned": stored_session(snapshotSeq=7),
        "degraded": stored_session(status="degraded", owner=None, offer={"to": "bob", "until": 999_999_000}, degradedUntil=999_999_500, asked=["eve"]),
        "over": stored_session(status="inactive", owner=None, endedAt=1_789_999_500_000),
        "far": stored_session(lastSeq=2**63 - 1, snapshotSeq=-2**63), "full": stored_session(lastSeq=10_000, eventBytes=16_777_216),
    }
    messages["key-log"] = {
        "one": bytes([0, 0, 0, 0, 1]), "seven": bytes([6, 3, 4, 6, 6, 0, 7, 5, 1]), "eight": bytes([7, 7, 4, 0, 8, 5, 3]),
        "many": bytes([69] + [number * 7 % 251 for number in range(60)]),
    }
    messages["access-token"] = {
        "call-claim": json.dumps({"iss": "key", "sub": "ada", "exp": 1_700_000_600, "iat": 1_700_000_000, "name": "Ada",
                                  "call": {"id": CALL, "device": "phone"}, "video": {"roomJoin": True, "room": "call-1"}}).encode(),
        "call-of-none": b'{"iss":"key","sub":"ada","exp":1700000600,"call":{"id":""}}',
        "call-is-text": b'{"iss":"key","sub":"ada","exp":1700000600,"call":"x"}',
    }
    return messages
