"""What /openapi.json says of calls, held to what the server answers: every operation, right and wrong."""

import json
import sqlite3
import unittest
import uuid

import recording_parts
from callers import person
from limits import LimitedTest
from openapi_client import CALLS, Client, Exchanges
from openapi_test import OFFER, STREAM, drains, may_stay_unseen, read_by
from roost import Roost, token

LIMITS = ("--calls.startsPerMinute=60", "--calls.ringsPerMinute=60")
ADA, BOB, ZOE = (person(each) for each in ("ada", "bob", "zoe"))
UNSEEN = ("Late", "StoreGone")
"""StoreGone: a database that takes nothing can be read all the same; CallStoreTests asks everything of one that is gone."""
LATE = {("sendSignal", "410"), ("listSharedEvents", "410")}
"""A minute after the end of a call, and of events that a snapshot has replaced: CallSignalsTests and SessionDoorTests see them."""
DEVICE = {"platform": "webhook", "token": "t"}
KEY = "BGsX0fLhLEJH+Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5uO5+tKfA+eFivOM1drMV7Oy7ZAaDe/UfU="
"""The base point of P-256."""


def call(*recipients, **more):
    return {"id": str(uuid.uuid4()), "recipients": list(recipients), "media": "audio", "deviceId": "laptop"} | more


def signal(**more):
    return {"id": str(uuid.uuid4()), "to": "ada", "kind": "status", "payload": "AAAA"} | more


class CallsTest(LimitedTest):
    seconds = 150

    # What is sent where nothing is wrong with it, by operation.
    BODIES = {"changeCallKey": {"index": 1, "keys": []}, "publishKey": {"device": "phone", "algorithm": "p256", "key": KEY},
              "startSharedSession": {"id": str(uuid.uuid4()), "experience": "story"}, "ownSharedSession": {"accept": True},
              "appendSharedEvent": {"id": str(uuid.uuid4()), "type": "page", "data": {"page": 4}},
              "keepSharedSnapshot": {"seq": 1, "state": {}}, "startCall": call("bob"), "changeCall": {"media": "video"}, "joinCall": {"deviceId": "phone"}, "leaveCall": {"reason": "userLeft"},
              "inviteToCall": {"recipients": ["zoe"]}, "sendSignal": signal(), "registerDevice": DEVICE}

    def test_every_operation_of_calls_answers_as_described_and_all_that_is_described_is_seen(self):
        with recording_parts.directory() as folder, Roost(f"--storage.directory={folder}", *LIMITS) as roost:
            self.exchanges = Exchanges(roost.get("/openapi.json").json, lambda template: template.startswith(CALLS))
            client = Client(self.exchanges, roost)
            self.refusals(client)
            self.talk(client)
            self.wrong(client)
            self.people(client)
            self.keys(client)
            self.sessions(client)
            self.too_many(client)
            self.not_stored(client, folder)
            # With someone in a room it waits.
            client.send("POST", "/whip/other", token("cam", "other"), OFFER["openWhip"].encode(), "application/sdp")
            drains(roost)
            client.ask("startCall", 503, ADA, call("bob"), problem="draining")
        self.small()
        self.too_often()
        verdict = self.exchanges.verdict()
        self.assertEqual(verdict["faults"], [], "\n" + "\n".join(verdict["faults"]))
        described, seen = ({(operation, status) for operation, status in verdict[each] if operation in self.exchanges.operations}
                           for each in ("described", "seen"))
        self.assertEqual(described - seen, may_stay_unseen(self.exchanges, UNSEEN) | LATE, "described and never seen")
        print(f"\n  {len(self.exchanges.all)} answers, {len(seen)} of {len(described)} statuses of "
              f"{len(self.exchanges.operations)} operations of calls", flush=True)

    def each(self, status):
        """Operations that have it, with a body."""
        for name, (method, template, operation) in self.exchanges.operations.items():
            if status in operation["responses"]:
                yield name, method, template, self.BODIES.get(name)

    def refusals(self, client):
        for name, _, _, body in self.each("401"):
            client.ask(name, 401, body=body, problem="token-absent")
        for name, _, _, body in self.each("403"):
            client.ask(name, 403, token("ada", "demo"), body=body, problem="not-allowed")
        for name, _, template, body in self.each("404"):
            if "{call}" in template:
                client.ask(name, 404, token("boss", "*", roomAdmin=True) if name == "endCall" else ZOE, body=body, problem="not-found")
        for name, _, _, body in self.each("415"):
            client.ask(name, 415, ADA, body=body, kind="text/plain", problem="content-type")
        for template in self.exchanges.document["paths"]:
            if template.startswith(CALLS):
                client.send("OPTIONS", Client.target(template, {}))
        client.send("HEAD", "/v1/calls", ADA)

    def talk(self, client):
        """One call from its beginning to its end."""
        wanted = call("bob", "zoe", metadata="m")
        entry = client.ask("startCall", 201, ADA, wanted).json
        client.ask("startCall", 201, ADA, wanted)
        names = {"call": wanted["id"]}
        page = client.ask("listPersonEvents", 200, BOB, query="?after=0&limit=1&device=phone").json
        ring = page["items"][0]["data"]
        joined = client.ask("joinCall", 200, ring["token"], {"deviceId": "phone"}, names=names).json
        client.ask("showCall", 200, joined["token"], names=names)
        client.ask("changeCall", 200, ADA, {"media": "video"}, names=names)
        client.ask("changeCall", 200, ADA, {"metadata": None}, names=names, kind="application/json")
        client.ask("inviteToCall", 200, ADA, {"recipients": ["eve"]}, names=names)
        client.ask("sendSignal", 201, BOB, signal(), names=names)
        client.ask("listDeliveries", 200, ADA, names=names)
        boss = token("boss", entry["call"]["room"], roomAdmin=True)
        client.ask("listDeliveries", 200, boss, names=names)
        client.ask("showCall", 200, boss, names=names)
        client.ask("leaveCall", 200, BOB, {"reason": "networkError", "deviceId": "phone"}, names=names)
        reader = client.later("listPersonEvents", 200, ADA, **STREAM)
        read_by(client.roost, 1)
        client.ask("endCall", 200, boss, names=names)
        for name, body in (("joinCall", {}), ("changeCall", {"media": "audio"}), ("inviteToCall", {"recipients": ["tom"]})):
            client.ask(name, 410, ADA, body, names=names, problem="call-ended")
        client.ask("forgetCall", 204, ADA, names=names)
        client.ask("startCall", 201, ADA, call("bob"))
        first = client.ask("listCalls", 200, ADA, query="?limit=1&status=active&participant=bob").json
        client.ask("listCalls", 200, BOB, query="?limit=1")
        self.assertEqual(len(first["items"]), 1)
        self.reader = reader

    def wrong(self, client):
        names = {"call": call()["id"]}
        for name, _, _, body in self.each("400"):
            if body is not None:
                client.ask(name, 400, ADA, body | {"unknown": 1}, names=names, problem="body")
        for query in ("?limit=0", "?before=*"):
            client.ask("listCalls", 400, ADA, query=query, problem="query")
        for name in ("listDevices", "listBlocks"):
            client.ask(name, 400, ADA, query="?limit=0", problem="query")
        client.ask("listPersonEvents", 400, ADA, query="?after=x", problem="query")
        client.ask("listPeople", 400, ADA, query="?online=perhaps", problem="query")
        client.ask("forgetCall", 400, ADA, names=names, problem="idempotency-key", **{"idempotency-key": "k" * 129})
        for name in ("blockPerson", "unblockPerson", "erasePerson"):
            client.ask(name, 400, ADA, names={"person": "*"}, problem="body")
        client.ask("removeDevice", 400, ADA, names={"device": "d" * 129}, problem="body")
        # Under a key that was used for something else.
        mine = call("bob")
        client.ask("startCall", 201, ADA, mine)
        client.ask("startCall", 409, ADA, mine | {"media": "video"}, problem="id-taken")
        names = {"call": mine["id"]}
        key = {"idempotency-key": "one"}
        client.ask("leaveCall", 200, BOB, {"deviceId": "phone"}, names=names, **key)
        client.ask("listDeliveries", 400, ADA, names=names, query="?limit=0", problem="query")
        for name in ("joinCall", "leaveCall", "inviteToCall", "forgetCall", "sendSignal"):
            client.ask(name, 409, BOB, None if name == "forgetCall" else self.BODIES[name], names=names, problem="id-taken", **key)
        client.ask("startCall", 422, ADA, call("ada"), problem="no-recipients")
        client.ask("inviteToCall", 422, ADA, {"recipients": [f"p{number}" for number in range(40)]}, names=names, problem="too-many-people")
        client.ask("changeCall", 413, ADA, {"metadata": "m" * 4_097}, names=names, problem="too-large")
        client.ask("startCall", 413, ADA, call("bob", metadata="m" * 4_097), problem="too-large")
        client.ask("sendSignal", 413, ADA, signal(to="bob", payload="A" * 87_388), names=names, problem="too-large")

    def people(self, client):
        client.ask("registerDevice", 200, ADA, DEVICE)
        client.ask("registerDevice", 400, ADA, {"platform": "apns-voip", "token": "t"}, problem="body")
        client.ask("listDevices", 200, ADA)
        client.ask("removeDevice", 204, ADA)
        client.ask("removeDevice", 404, ADA, problem="not-found")
        client.ask("blockPerson", 204, ADA)
        client.ask("listBlocks", 200, ADA)
        client.ask("unblockPerson", 204, ADA)
        client.ask("listPeople", 200, ADA, query="?limit=1&online=false")
        client.ask("listPeople", 200, ADA, query="?online=true")
        client.ask("erasePerson", 403, ADA, names={"person": "bob"}, problem="not-allowed")
        client.ask("erasePerson", 204, token("boss", "*", roomAdmin=True))

    def keys(self, client):
        ada, bob = {"person": "ada", "device": "phone"}, {"person": "bob", "device": "phone"}
        made = client.ask("publishKey", 201, ADA, self.BODIES["publishKey"], names=ada).json["entry"]
        client.ask("publishKey", 200, ADA, self.BODIES["publishKey"], names=ada)
        client.ask("publishKey", 413, ADA, self.BODIES["publishKey"] | {"key": "A" * 8_192}, names=ada, problem="too-large")
        client.ask("publishKey", 422, person("head"), self.BODIES["publishKey"], names={"person": "head"}, problem="reserved-name")
        for name in ("showKeys", "listKeyHistory"):
            client.ask(name, 200, ADA, names=ada)
        client.ask("showKeys", 200, BOB, names=ada, query="?head=0")
        client.ask("showKeys", 409, BOB, names=ada, query="?head=999", problem="no-such-head")
        client.ask("showKeys", 400, BOB, names=ada, query="?head=x", problem="query")
        client.ask("listKeyHistory", 400, ADA, names=ada, query="?limit=0", problem="query")
        client.ask("showKeyHead", 200, ADA)
        client.ask("showKeyLog", 200, ADA)
        client.ask("showKeyConsistency", 200, ADA, query="?from=0&to=1")
        client.ask("showKeyConsistency", 409, ADA, query="?from=0&to=999", problem="no-such-head")
        client.ask("showKeyConsistency", 400, ADA, problem="query")
        client.ask("revokeKey", 404, ADA, names={"person": "ada", "device": "none"}, problem="not-found")
        client.ask("revokeKey", 400, ADA, names={"person": "ada", "device": "d" * 129}, problem="body")
        theirs = client.ask("publishKey", 201, BOB, self.BODIES["publishKey"], names=bob).json["entry"]
        wrapped = {"person": "bob", "device": "phone", "keyId": theirs["id"], "ciphertext": "AAAA"}
        client.ask("startCall", 422, ADA, call("bob", e2ee=True), problem="key-missing")
        client.ask("startCall", 409, ADA, call("bob", e2ee=True, keys=[wrapped | {"keyId": made["id"]}]), problem="stale-key")
        secret = call("bob", e2ee=True, keys=[wrapped])
        client.ask("startCall", 201, ADA, secret)
        names = {"call": secret["id"]}
        self.assertEqual(client.ask("joinCall", 200, BOB, {"deviceId": "phone"}, names=names).json["key"]["ciphertext"], "AAAA")
        client.ask("changeCallKey", 422, ADA, {"index": 1, "keys": []}, names=names, problem="key-missing")
        client.ask("changeCallKey", 200, ADA, {"index": 1, "keys": [wrapped]}, names=names)
        client.ask("changeCallKey", 409, ADA, {"index": 1, "keys": []}, names=names, problem="id-taken")
        client.ask("changeCallKey", 400, ADA, {"index": 0, "keys": []}, names=names, problem="body")
        client.ask("changeCallKey", 413, ADA, {"index": 2, "keys": [wrapped | {"ciphertext": "A" * 1_400}]}, names=names, problem="too-large")
        client.ask("leaveCall", 200, ADA, {"deviceId": "laptop"}, names=names)
        client.ask("changeCallKey", 410, ADA, {"index": 2, "keys": [wrapped]}, names=names, problem="call-ended")
        client.ask("revokeKey", 200, ADA, names=ada)

    def sessions(self, client):
        own = call("bob", "zoe")
        client.ask("startCall", 201, ADA, own)
        names = {"call": own["id"]}
        client.ask("joinCall", 200, BOB, {"deviceId": "phone"}, names=names)
        wanted = self.BODIES["startSharedSession"] | {"id": str(uuid.uuid4())}
        client.ask("startSharedSession", 201, ADA, wanted, names=names)
        client.ask("startSharedSession", 200, BOB, wanted | {"id": str(uuid.uuid4())}, names=names)
        client.ask("startSharedSession", 409, ADA, wanted | {"experience": "another"}, names=names, problem="id-taken")
        client.ask("listSharedSessions", 200, ADA, names=names, query="?status=active")
        client.ask("listSharedSessions", 400, ADA, names=names, query="?status=x", problem="query")
        names["session"] = wanted["id"]
        for name, body in (("joinSharedSession", None), ("leaveSharedSession", None), ("ownSharedSession", {"to": "ada"})):
            client.ask(name, 400, BOB, body, names=names, problem="idempotency-key", **{"idempotency-key": "k" * 129})
        client.ask("leaveSharedSession", 200, BOB, names=names, **{"idempotency-key": "left"})
        client.ask("joinSharedSession", 409, BOB, names=names, problem="id-taken", **{"idempotency-key": "left"})
        client.ask("joinSharedSession", 200, BOB, names=names, **{"idempotency-key": "joined"})
        for name, body in (("leaveSharedSession", None), ("ownSharedSession", {"to": "ada"})):
            client.ask(name, 409, BOB, body, names=names, problem="id-taken", **{"idempotency-key": "joined"})
        event = self.BODIES["appendSharedEvent"]
        last = client.ask("appendSharedEvent", 201, ADA, event, names=names).json["seq"]
        client.ask("appendSharedEvent", 409, ADA, event | {"data": 5}, names=names, problem="id-taken")
        client.ask("appendSharedEvent", 422, ADA, event | {"id": str(uuid.uuid4()), "type": "system.x"}, names=names, problem="reserved-type")
        client.ask("appendSharedEvent", 413, ADA, event | {"id": str(uuid.uuid4()), "data": "x" * 16_400}, names=names, problem="too-large")
        client.ask("listSharedEvents", 200, BOB, names=names, query="?after=0&limit=1")
        client.ask("listSharedEvents", 400, BOB, names=names, query="?after=x", problem="query")
        client.ask("showSharedSnapshot", 404, ADA, names=names, problem="not-found")
        client.ask("keepSharedSnapshot", 422, ADA, {"seq": last + 9, "state": {}}, names=names, problem="beyond-last")
        client.ask("keepSharedSnapshot", 204, ADA, {"seq": last, "state": {"page": 4}, "participants": ["ada"], "owner": "ada"}, names=names)
        client.ask("keepSharedSnapshot", 409, ADA, {"seq": last - 1, "state": {}}, names=names, problem="stale-snapshot")
        client.ask("showSharedSnapshot", 200, BOB, names=names)
        client.ask("ownSharedSession", 200, ADA, {"to": "bob"}, names=names)
        client.ask("leaveSharedSession", 200, ADA, names=names)
        client.ask("endSharedSession", 200, BOB, names=names)
        for name in ("joinSharedSession", "ownSharedSession", "appendSharedEvent", "keepSharedSnapshot"):
            client.ask(name, 410, BOB, {"accept": True} if name == "ownSharedSession" else event | {"id": str(uuid.uuid4())} if name == "appendSharedEvent"
                       else {"seq": last, "state": {}} if name == "keepSharedSnapshot" else None, names=names)
        client.ask("leaveCall", 200, ADA, {"deviceId": "laptop"}, names=names)
        client.ask("leaveCall", 200, BOB, {"deviceId": "phone"}, names=names)
        for name in ("leaveSharedSession", "endSharedSession"):
            client.ask(name, 410, BOB, names=names, problem="call-ended")
        client.ask("endCall", 410, token("boss", "*", roomAdmin=True), names=names, problem="call-ended")
        client.ask("startSharedSession", 410, BOB, wanted | {"id": str(uuid.uuid4())}, names=names, problem="call-ended")

    def too_many(self, client):
        last = [client.send("POST", "/v1/calls", person("tim"), json.dumps(call("tom")).encode(), "application/json").status for _ in range(61)]
        self.assertEqual(last[-1], 429)

    def not_stored(self, client, folder):
        """While another program writes into the database, and doesn't end."""
        names = {"call": client.ask("startCall", 201, ADA, call("bob")).json["call"]["id"]}
        client.ask("joinCall", 200, BOB, {"deviceId": "phone"}, names=names)
        names["session"] = client.ask("startSharedSession", 201, ADA, self.BODIES["startSharedSession"] | {"id": str(uuid.uuid4())},
                                      names=names).json["id"]
        client.ask("joinSharedSession", 200, BOB, names=names)
        # What has to be written, where the bodies above ask for nothing new.
        bodies = self.BODIES | {"startSharedSession": {"id": "", "experience": "another"}, "ownSharedSession": {"to": "bob"}}
        other = sqlite3.connect(f"{folder}/roost.db", isolation_level=None)
        other.executemany("INSERT INTO blocks VALUES (?, ?, 0)", [(b"eve", b"other%d" % number) for number in range(1_000)])
        client.ask("blockPerson", 413, person("eve"), names={"person": "one-more"}, problem="too-large")
        other.execute("BEGIN IMMEDIATE")
        boss = token("boss", "*", roomAdmin=True)
        waiting = []
        for name, (_, _, operation) in self.exchanges.operations.items():
            if operation["responses"]["503"] == {"$ref": "#/components/responses/CallUnavailable"}:
                body = bodies.get(name)
                body = body | {"id": str(uuid.uuid4())} if body and "id" in body else body
                waiting.append(client.later(name, 503, boss if name == "endCall" else ADA, body, names=names | {"person": "zoe" if name.endswith("blockPerson") else "ada"},
                                            problem="store-unavailable"))
        for each in waiting:
            each.result(60)
        other.execute("ROLLBACK")
        other.close()

    def small(self):
        with Roost("--http.bodyBytes=16384", "--calls.directory=closed") as roost:
            client = Client(self.exchanges, roost)
            for name, method, template, body in self.each("413"):
                if body is not None:
                    client.ask(name, 413, ADA, " " * 16_385, problem="body-too-large")

    def too_often(self):
        with Roost("--limits.requestsPerAddress=1", "--limits.requestsAtOncePerAddress=1") as roost:
            client = Client(self.exchanges, roost)
            for name, (method, template, _) in self.exchanges.operations.items():
                # One a second is let through.
                answers = [client.send(method, Client.target(template, {})).status for _ in range(2)]
                self.assertIn(429, answers, name)


if __name__ == "__main__":
    unittest.main()
