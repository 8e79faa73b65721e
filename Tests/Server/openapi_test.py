"""What the server says of itself at /openapi.json, held to what it answers: every operation, right and wrong, by validators that
others wrote."""

import asyncio
import base64
import contextlib
import copy
import json
import pathlib
import sqlite3
import time
import unittest

import recording_parts
from limits import LimitedTest
from metrics_test import scrape, total
from openapi_client import CALLS, HERE, Client, Exchanges
from roost import Roost, get, token
from signaller import hear, say
from still_disk import still_disk

OFFERS = HERE.parent / "Fixtures/sdp"
OFFER = {"openWhip": (OFFERS / "chromium-156-audio-video-sendonly-offer.sdp").read_text(),
         "openWhep": (OFFERS / "chromium-156-whep-recvonly-offer.sdp").read_text()}
FRAGMENT = "a=group:BUNDLE 0 1\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n"
RESTART = FRAGMENT + "a=ice-ufrag:another\r\na=ice-pwd:anotheranotheranotheranother\r\n"
# What is sent where nothing is wrong with it, by operation.
BODIES = {
    "createRoom": {"name": "demo", "metadata": "m", "maxParticipants": 9, "emptyTimeout": 60, "departureTimeout": 60},
    "changeRoom": {"metadata": "changed", "departureTimeout": 30, "maxParticipants": None},
    "admitParticipant": {"waiting": "WT_none"}, "makeInvitation": {"ttl": 60, "uses": 9, "grants": {"canPublish": None}},
    "openInvitation": {"invitation": "none", "name": "Eve"},
    "changeParticipant": {"name": "A", "metadata": "m", "attributes": {"a": "b"},
                          "permissions": {"canPublishSources": ["camera", "microphone"], "canPublishData": None}},
    "muteTrack": {"muted": True},
    "sendData": {"payload": "aGk=", "topic": "t", "reliable": False, "destinations": ["ada"]},
    "startRecording": {"sources": ["camera", "microphone"], "maxBytes": 1_048_576},
    "changeWhip": RESTART, "changeWhep": RESTART} | OFFER
DOORS = ("Whip", "Whep")
STREAM = {"accept": "text/event-stream"}
EVERYTHING = {"roomCreate": True, "roomList": True, "roomAdmin": True}
# What may stay unseen of what is described: an answer by the name that it has there, and why.
UNSEEN = {"Late": "the server takes a minute without an answer, which no request brings about; LimitTests in HTTPServerTests sees it"}


# Whether it is seen is chance: of a track that none has looked at, a key frame may come within two seconds, or not; ThumbnailRESTTests and
# RoomThumbnailTests see both.
PERHAPS = {("showThumbnail", "503")}


def boss(room="*", identity="boss", **more):
    return token(identity, room, **EVERYTHING | more)


def read_by(roost, count):
    """Waits until so many read events as they happen."""
    recording_parts.until(lambda: total(scrape(roost), "roost_http_streams") == count)


def drains(roost):
    """Asks it to stop, and waits until it knows; a second signal ends it."""
    roost.signal()
    recording_parts.until(lambda: roost.get("/readyz").status == 503)


@contextlib.contextmanager
def someone_waiting(roost, identity, room):
    """A session at the native door that waits to be let in."""
    async def begin():
        ws = await roost.connect(room)
        await say(ws, type="auth", token=token(identity, room))
        await hear(ws, "waiting")
        return ws

    with asyncio.Runner() as runner:
        ws = runner.run(begin())
        try:
            yield
        finally:
            runner.run(ws.close())


def may_stay_unseen(exchanges, names=tuple(UNSEEN)):
    """Pairs of operation and status."""
    answers = [{"$ref": f"#/components/responses/{name}"} for name in names]
    return {(name, status) for name, (_, _, operation) in exchanges.operations.items()
            for status, answer in operation["responses"].items() if answer in answers}


class OpenAPITest(LimitedTest):
    # Six servers, one of which waits until its store gives up.
    seconds = 150

    def test_every_operation_answers_as_described_and_all_that_is_described_is_seen(self):
        with recording_parts.directory() as folder, Roost(f"--storage.directory={folder}", "--stun.urls=stun:127.0.0.1:3478") as roost:
            self.exchanges = Exchanges(roost.get("/openapi.json").json, lambda template: not template.startswith(CALLS))
            client = Client(self.exchanges, roost)
            client.ask("describe", 200)
            self.refusals(client)
            self.nothing_there(client)
            self.rooms(client)
            with recording_parts.publisher(roost, 60) as child:
                recording_parts.published(child)
                self.recordings(client, pathlib.Path(folder))
                self.participants(client)
            self.at_the_door(client)
            for door in DOORS:
                self.sessions(client, door)
            self.events(client)
        self.without_a_directory()
        self.small()
        self.full()
        self.not_stored()
        self.disk_slow()
        self.too_often()
        verdict = self.exchanges.verdict()
        self.assertEqual(verdict["faults"], [], "\n" + "\n".join(verdict["faults"]))
        described, seen = ({(operation, status) for operation, status in verdict[each] if operation in self.exchanges.operations}
                           for each in ("described", "seen"))
        self.assertEqual(set(self.exchanges.operations) - {operation for operation, _ in seen}, set(), "never asked")
        self.assertEqual(described - seen - PERHAPS, may_stay_unseen(self.exchanges), "described and never seen")
        print(f"\n  {len(self.exchanges.all)} answers, {len(seen)} of {len(described)} statuses of "
              f"{len(self.exchanges.operations)} operations", flush=True)

    # MARK: every operation

    def each(self, status):
        """Operations that have it, with their paths and a body."""
        for name, (_, template, operation) in self.exchanges.operations.items():
            if status in operation["responses"]:
                yield name, template, BODIES.get(name)

    def refusals(self, client):
        for name, _, body in self.each("401"):
            client.ask(name, 401, body=body, problem="token-absent")
            client.ask(name, 401, "x.y.z", body=body, problem="token-malformed")
        for name, _, body in self.each("403"):
            client.ask(name, 403, token("ada", "other"), body=body, problem="token-not-for-this")
        for name, template, body in self.each("400"):
            if "{room}" in template:
                client.ask(name, 400, boss(), body=body, names={"room": "*"}, problem="room-name")
        for name, _, body in self.each("415"):
            session = name.removeprefix("change") in DOORS
            client.ask(name, 415, boss("demo"), body=body, kind="text/plain", problem="content-type", **{"if-match": "*"} if session else {})
        for template, methods in self.exchanges.document["paths"].items():
            target = Client.target(template, {})
            client.send("PUT", target, boss())
            client.send("OPTIONS", target)

    def nothing_there(self, client):
        for name, _, body in self.each("404"):
            if name == "streamStatistics":
                client.ask(name, 404, boss(), query="?room=none", problem="room-not-found")
            elif name not in OFFER:
                client.ask(name, 404, boss("demo" if name[-4:] in DOORS else "*"), body=body, **{"if-match": "*"} if name[-4:] in DOORS else {})
        client.ask("openWhep", 404, boss("demo"), OFFER["openWhep"], "?track=TR_none", problem="track-not-found")

    def rooms(self, client):
        client.ask("createRoom", 201, boss(), BODIES["createRoom"])
        client.ask("createRoom", 200, boss(), {"name": "demo"})
        client.ask("createRoom", 201, boss(), {"name": "other"})
        client.ask("createRoom", 400, boss(), {"name": "demo", "x": 1}, problem="body")
        client.ask("createRoom", 413, boss(), {"name": "large", "metadata": "x" * 65_537}, problem="too-large")
        page = client.ask("listRooms", 200, boss(), query="?limit=1").json
        self.assertEqual(client.ask("listRooms", 200, boss(), query=f"?limit=1&after={page['next']}").json["items"][0]["name"], "other")
        client.ask("listRooms", 400, boss(), query="?limit=0", problem="query")
        client.ask("listRooms", 400, boss(), query="?sort=beauty", problem="query")
        self.assertEqual(client.ask("listRooms", 200, boss(), query="?sort=-created&search=OTH").json["items"][0]["name"], "other")
        client.ask("showRoom", 200, boss())
        client.ask("changeRoom", 200, boss(), BODIES["changeRoom"])
        client.ask("changeRoom", 200, boss(), BODIES["changeRoom"], kind="application/json")
        client.ask("changeRoom", 400, boss(), {"maxParticipants": 0}, problem="body")
        for path in ("/openapi.json", "/v1/rooms", "/v1/rooms/demo", "/whip/demo", "/whep/demo"):
            client.send("HEAD", path, boss())

    def participants(self, client):
        ada = {"identity": "ada"}
        client.ask("listParticipants", 200, boss(), query="?limit=1")
        client.ask("listParticipants", 200, boss(), query="?sort=-received&search=a")
        client.ask("listParticipants", 400, boss(), query="?after=*", problem="query")
        tracks = client.ask("showParticipant", 200, boss(), names=ada).json["tracks"]
        client.ask("showParticipant", 400, boss(), names={"identity": "*"}, problem="identity")
        client.ask("changeParticipant", 200, boss(), BODIES["changeParticipant"], names=ada)
        client.ask("changeParticipant", 400, boss(), {"permissions": {"canFly": True}}, names=ada, problem="body")
        client.ask("changeParticipant", 413, boss(), {"metadata": "x" * 65_537}, names=ada, problem="too-large")
        client.ask("sendData", 204, boss(), BODIES["sendData"])
        client.ask("sendData", 400, boss(), {"payload": "*"}, problem="body")
        for muted in (True, False):
            client.ask("muteTrack", 200, boss(), {"muted": muted}, names=ada | {"track": tracks[0]["id"]})
        client.ask("muteTrack", 404, boss(), {"muted": True}, names=ada, problem="track-not-found")
        answer = client.ask("openWhep", 201, token("viewer"), OFFER["openWhep"])
        page = client.ask("explainRoom", 200, boss(), query="?limit=100").json
        self.assertTrue(any(each["subscriptions"] for each in page["items"]), page)
        client.ask("explainRoom", 400, boss(), query="?limit=101", problem="query")
        one = client.ask("explainRoom", 200, boss(), query="?identity=ada").json
        self.assertEqual([each["identity"] for each in one["items"]], ["ada"])
        sound, picture = (next(each["id"] for each in tracks if each["kind"] == kind) for kind in ("audio", "video"))
        client.ask("showThumbnail", 409, boss(), names=ada | {"track": sound}, problem="no-thumbnail")
        # Where none is kept yet, the next may be more than two seconds away.
        recording_parts.until(lambda: client.send("GET", f"/v1/rooms/demo/participants/ada/tracks/{picture}/thumbnail", boss()).status == 200)
        client.ask("showThumbnail", 429, boss(), names=ada | {"track": picture}, problem="rate-limited")
        client.ask("showFlight", 200, boss(), names=ada)
        path = "/v1/rooms/demo/participants/ada/flight"
        recording_parts.until(lambda: client.send("GET", path, boss()).status == 429)
        client.ask("closeWhep", 200, token("viewer"), names={"session": answer.headers["location"].rsplit("/", 1)[1]})
        client.ask("removeParticipant", 204, boss(), names=ada)

    def at_the_door(self, client):
        """Of a room of its own, which asks and keeps messages."""
        room, host = {"room": "asking"}, token("host", "asking", roomAdmin=True)
        terms = {"topics": ["chat"], "max": 5, "seconds": 60}
        client.ask("createRoom", 201, boss(), {"name": "asking", "admission": True, "locked": False, "dataHistory": terms})
        client.ask("changeRoom", 200, boss(), {"dataHistory": None, "locked": None, "admission": True}, names=room)
        client.ask("changeRoom", 400, boss(), {"dataHistory": terms | {"max": 201}}, names=room, problem="body")
        with someone_waiting(client.roost, "guest", "asking"):
            page = client.ask("listWaiting", 200, boss(), names=room).json
            self.assertEqual([each["identity"] for each in page["items"]], ["guest"])
            names = room | {"identity": "guest"}
            client.ask("changeRoom", 200, boss(), {"locked": True}, names=room)
            client.ask("admitParticipant", 403, boss(), names=names, problem="room-locked")
            client.ask("changeRoom", 200, boss(), {"locked": False, "maxParticipants": 1}, names=room)
            client.ask("openWhip", 201, host, OFFER["openWhip"], names=room)
            client.ask("admitParticipant", 503, boss(), names=names, problem="full")
            client.ask("changeRoom", 200, boss(), {"maxParticipants": None}, names=room)
            client.ask("admitParticipant", 204, boss(), {"waiting": page["items"][0]["id"]}, names=names)
            client.ask("admitParticipant", 404, boss(), names=names, problem="participant-not-found")
            client.ask("changeParticipant", 200, boss(), {"handRaised": False}, names=names)
        for door in DOORS:
            client.ask(f"open{door}", 403, token("cam", "asking"), OFFER[f"open{door}"], names=room, problem="admission-required")
        made = client.ask("makeInvitation", 201, host, BODIES["makeInvitation"], names=room).json
        client.ask("makeInvitation", 400, host, {"ttl": 1}, names=room, problem="body")
        client.ask("makeInvitation", 403, host, {"ttl": 60, "grants": {"canUpdateOwnMetadata": True}}, names=room, problem="not-allowed")
        opened = client.ask("openInvitation", 200, None, {"invitation": made["invitation"]}).json
        client.ask("openInvitation", 400, None, {"name": "Eve"}, problem="body")
        client.ask("listInvitations", 200, host, names=room)
        client.ask("endInvitation", 204, host, names=room | {"invitation": made["id"]})
        client.ask("endInvitation", 404, host, names=room, problem="invitation-not-found")
        client.ask("openWhip", 403, opened["token"], OFFER["openWhip"], names=room, problem="token-revoked")

    def recordings(self, client, folder):
        made = client.ask("startRecording", 201, boss(), {}).json
        other = client.ask("startRecording", 201, boss(), BODIES["startRecording"]).json
        client.ask("startRecording", 400, boss(), {"maxBytes": 1}, problem="body")
        client.ask("startRecording", 404, boss(), {"tracks": ["TR_none"]}, problem="track-not-found")

        def written():
            found = client.ask("showRecording", 200, boss(), names={"recording": made["id"]}).json
            return len([track for track in found["tracks"] if track["files"]]) == 2

        recording_parts.until(written)
        page = client.ask("listRecordings", 200, boss(), query="?limit=1").json
        client.ask("listRecordings", 200, boss(), query=f"?after={page['next']}")
        client.ask("listRecordings", 400, boss(), query="?limit=x", problem="query")
        client.ask("endRecording", 400, boss(), names={"recording": made["id"]}, query="?purge=perhaps", problem="query")
        for each in (made, other):
            client.ask("endRecording", 204, boss(), names={"recording": each["id"]}, query="?purge=false")
            recording_parts.ended(client.roost, each["id"])
        client.ask("showRecording", 200, boss(), names={"recording": made["id"]})
        # A folder isn't removed as a file is.
        manifest = folder / "recordings" / made["id"] / "manifest.json"
        manifest.unlink()
        manifest.mkdir()
        client.ask("endRecording", 500, boss(), names={"recording": made["id"]}, query="?purge", problem="not-erased")
        manifest.rmdir()
        client.ask("endRecording", 204, boss(), names={"recording": made["id"]}, query="?purge=true")
        client.ask("endRecording", 204, boss(), names={"recording": other["id"]}, query="?purge")

    def sessions(self, client, door):
        offer, cam, grant = OFFER[f"open{door}"], token(f"cam-{door}"), "canPublish" if door == "Whip" else "canSubscribe"
        client.ask(f"find{door}", 204 if door == "Whip" else 200)
        answers = [client.ask(f"open{door}", 201, cam, offer, "?participant=ada" if door == "Whep" and not each else "") for each in range(3)]
        client.ask(f"open{door}", 409, cam, offer, problem="session-limit")
        client.ask(f"open{door}", 400, token("two"), "v=1", problem="sdp")
        client.ask(f"open{door}", 403, token("mute", **{grant: False}), offer, problem="not-allowed")
        client.ask(f"open{door}", 422, token("two"), offer.replace("a=fingerprint", "a=none"), problem="offer-refused")
        declined = client.ask(f"open{door}", 422, token("two"), offer.replace("m=audio", "m=text"), problem="sections-declined")
        self.assertTrue(declined.json["sections"])
        names = {"session": answers[0].headers["location"].rsplit("/", 1)[1]}
        self.assertIn('rel="ice-server"', answers[0].headers["link"])
        client.ask(f"show{door}", 204, cam, names=names)
        for name, body in ((f"show{door}", None), (f"change{door}", FRAGMENT), (f"close{door}", None)):
            client.ask(name, 403, token("two"), body, names=names, problem="session-foreign", **{"if-match": "*"})
        tag = answers[0].headers["etag"]
        client.ask(f"change{door}", 428, cam, FRAGMENT, names=names, problem="if-match-missing")
        client.ask(f"change{door}", 204, cam, FRAGMENT, names=names, **{"if-match": tag})
        client.ask(f"change{door}", 200, cam, RESTART, names=names, **{"if-match": "*"})
        client.ask(f"change{door}", 412, cam, FRAGMENT, names=names, problem="if-match-stale", **{"if-match": tag})
        client.ask(f"change{door}", 400, cam, "x", names=names, problem="sdp", **{"if-match": "*"})
        client.ask(f"change{door}", 400, cam, FRAGMENT + "a=ice-ufrag:half\r\n", names=names, problem="ice-credentials", **{"if-match": "*"})
        for each in answers:
            client.ask(f"close{door}", 200, cam, names={"session": each.headers["location"].rsplit("/", 1)[1]})

    def events(self, client):
        page = client.ask("listRoomEvents", 200, boss(), query="?limit=2").json
        client.ask("listRoomEvents", 200, boss(), query=f"?after={page['next']}&roomId={page['roomId']}")
        client.ask("listRoomEvents", 400, boss(), query="?after=x", problem="query")
        client.ask("listRoomEvents", 410, boss(), query="?after=99999", problem="events-gone")
        first = client.ask("listEvents", 200, boss(), query="?limit=1").json
        client.ask("listEvents", 200, boss(), query=f"?after={first['next']}")
        client.ask("listEvents", 400, boss(), query="?after=x", problem="query")
        # As a server says that has started at another time.
        strange = base64.urlsafe_b64encode(bytes(16)).decode().rstrip("=")
        client.ask("listEvents", 410, boss(), query=f"?after={strange}", problem="events-gone")
        for name in ("listRoomEvents", "listEvents"):
            client.ask(name, 400, boss(), problem="last-event-id", **STREAM | {"last-event-id": "x"})
            client.ask(name, 410, boss(), problem="events-gone", **STREAM | {"last-event-id": "RM_none:1" if name == "listRoomEvents" else strange})
        client.ask("streamStatistics", 400, boss(), query="?every=1", problem="query")
        of_room = client.later("listRoomEvents", 200, boss(), **STREAM)
        of_all = client.later("listEvents", 200, boss(), **STREAM)
        of_server = client.later("streamStatistics", 200, boss(), query="?limit=1&sort=-sent&every=5", **STREAM)
        of_people = client.later("streamStatistics", 200, boss(), query="?room=demo&search=a&sort=loss", **STREAM)
        read_by(client.roost, 4)
        # Until both have said something.
        time.sleep(0.5)
        client.ask("closeRoom", 204, boss())
        self.assertIn("roomFinished", of_room.result().body.decode())
        people = of_people.result().body.decode()
        self.assertIn("event: room", people)
        self.assertIn("roomFinished", people)
        over = client.ask("listRoomEvents", 200, boss(), query="?limit=1").json
        client.ask("listRoomEvents", 204, boss(), **STREAM | {"last-event-id": f"{over['roomId']}:{over['lastEvent']}"})
        # With somebody in a room it waits, and says so.
        client.ask("openWhip", 201, token("cam", "other"), OFFER["openWhip"], names={"room": "other"})
        drains(client.roost)
        streams = ("listEvents", "streamStatistics")
        for name in ("createRoom", *OFFER, *streams):
            client.ask(name, 503, boss("other") if name in OFFER else boss(), BODIES.get(name), names={"room": "other"}, problem="draining",
                      **STREAM if name in streams else {})
        client.roost.signal()
        for said in (of_all.result().body.decode(), of_server.result().body.decode()):
            self.assertIn("event: draining", said)
            self.assertIn("serverShutdown", said)

    # MARK: servers that have less

    def without_a_directory(self):
        with Roost() as roost:
            client = Client(self.exchanges, roost)
            client.ask("createRoom", 201, boss(), {"name": "demo"})
            for name, _, body in self.each("409"):
                if "Recording" in name:
                    client.ask(name, 409, boss(), body, problem="recording-off")

    def small(self):
        """Of bodies, of the disk, and without rooms that aren't made before."""
        with recording_parts.directory() as folder, \
                Roost(f"--storage.directory={folder}", "--http.bodyBytes=16384", "--rooms.create=false", f"--recording.freeBytes={2**50}") as roost:
            client = Client(self.exchanges, roost)
            for name, _, _ in self.each("413"):
                client.ask(name, 413, boss("demo"), " " * 16_385, problem="body-too-large")
            for name in OFFER:
                client.ask(name, 404, boss("none"), OFFER[name], names={"room": "none"}, problem="room-not-found")
            client.ask("createRoom", 201, boss(), {"name": "demo"})
            client.ask("startRecording", 507, boss(), {}, problem="no-space")

    def full(self):
        with recording_parts.directory() as folder, \
                Roost(f"--storage.directory={folder}", "--limits.rooms=1", "--limits.peers=1", "--http.streams=1", "--recording.atOnce=1",
                      "--recording.freeBytes=0") as roost:
            client = Client(self.exchanges, roost)
            client.ask("createRoom", 201, boss(), {"name": "demo"})
            client.ask("createRoom", 503, boss(), {"name": "another"}, problem="full")
            client.ask("startRecording", 201, boss(), {})
            client.ask("startRecording", 503, boss(), {}, problem="full")
            client.ask("openWhip", 201, token("cam"), OFFER["openWhip"])
            for name in OFFER:
                client.ask(name, 503, token("one"), OFFER[name], problem="full")
            reader = client.later("listEvents", 200, boss(), **STREAM)
            read_by(roost, 1)
            for name in ("listEvents", "listRoomEvents"):
                client.ask(name, 503, boss(), problem="full", **STREAM)
            drains(roost)
            roost.signal()
            self.assertIn("serverShutdown", reader.result().body.decode())

    def not_stored(self):
        """While another program writes into the database, and doesn't end."""
        with recording_parts.directory() as folder, Roost(f"--storage.directory={folder}") as roost:
            client = Client(self.exchanges, roost)
            for room in ("demo", "closed"):
                client.ask("createRoom", 201, boss(), {"name": room})
            links = [client.ask("makeInvitation", 201, token("host", roomAdmin=True), {"ttl": 60}).json for _ in range(2)]
            other = sqlite3.connect(f"{folder}/roost.db", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            waiting = [client.later(name, 503, boss(), body, names={"room": room}, problem="not-stored") for name, room, body in (
                ("createRoom", "demo", {"name": "new"}), ("changeRoom", "demo", BODIES["changeRoom"]), ("closeRoom", "closed", None),
                ("removeParticipant", "demo", None))]
            host = token("host", roomAdmin=True)
            waiting += [client.later(name, 503, text, body, names={"invitation": links[1]["id"]}, problem="not-stored") for name, text, body in (
                ("makeInvitation", host, BODIES["makeInvitation"]), ("endInvitation", host, None),
                ("openInvitation", None, {"invitation": links[0]["invitation"]}))]
            for each in waiting:
                each.result()
            other.execute("ROLLBACK")
            other.close()

    def disk_slow(self):
        """While the disk doesn't say how much is free; what is asked next waits behind that."""
        with recording_parts.directory() as folder, still_disk(f"--storage.directory={folder}") as (roost, _, looks):
            client = Client(self.exchanges, roost)
            client.ask("createRoom", 201, boss(), {"name": "demo"})
            made = client.ask("startRecording", 201, boss(), {}).json["id"]
            client.ask("endRecording", 204, boss(), names={"recording": made})
            recording_parts.ended(roost, made)
            looks.touch()
            first = client.later("startRecording", 503, boss(), {}, problem="disk-slow")
            time.sleep(0.5)
            waiting = [client.later(name, 503, boss(), query=query, names={"recording": made}, problem="disk-slow") for name, query in (
                ("listRecordings", ""), ("showRecording", ""), ("endRecording", "?purge"))]
            for each in (first, *waiting):
                each.result()

    def too_often(self):
        with Roost("--limits.requestsPerAddress=1", "--limits.requestsAtOncePerAddress=1") as roost:
            client = Client(self.exchanges, roost)
            for name, (method, template, _) in self.exchanges.operations.items():
                # One a second is let through.
                answers = [client.send(method, Client.target(template, {})).status for _ in range(2)]
                self.assertIn(429, answers, name)


class JudgeTest(LimitedTest):
    def test_what_is_not_as_described_is_found(self):
        with Roost() as roost:
            exchanges = Exchanges(get(f"http://{roost.public}/openapi.json").json)
            client = Client(exchanges, roost)
            client.ask("createRoom", 201, boss(), BODIES["createRoom"])
            client.ask("showRoom", 200, boss())
            client.ask("showRoom", 404, boss(), names={"room": "none"})
        made, shown, refused = exchanges.all
        self.assertEqual(exchanges.verdict()["faults"], [])

        def changed(exchange, **more):
            return copy.deepcopy(exchange) | more

        def with_body(exchange, part, **fields):
            value = json.loads(base64.b64decode(exchange[part])) | fields
            return changed(exchange, **{part: base64.b64encode(json.dumps(value).encode()).decode()})

        def without(exchange, name):
            return changed(exchange, heard=[each for each in exchange["heard"] if each[0].lower() != name])

        wrong = {
            "no such path": changed(shown, target="/v1/room"),
            "has no status 418": changed(refused, status=418),
            "'x' was unexpected": with_body(shown, "answer", x=1),
            "is not of type 'integer'": with_body(shown, "answer", tracks="1"),
            "is not a 'date-time'": with_body(shown, "answer", createdAt="yesterday"),
            "the problem's status": with_body(refused, "answer", status=403),
            "request: ": with_body(made, "body", maxParticipants=0),
            "body of type text/plain": changed(made, sent=made["sent"] | {"content-type": "text/plain"}),
            "header location is missing": without(made, "location"),
            "content of type none": without(shown, "content-type"),
            "header x-new isn't described": changed(shown, heard=shown["heard"] + [["x-new", "1"]]),
            "without a token": changed(shown, sent={}),
            "body that isn't described": changed(shown, body="e30="),
            "query's limit isn't described": changed(shown, target="/v1/rooms/demo?limit=1"),
            "is too long": changed(shown, target=f"/v1/rooms/{'x' * 129}"),
            "data of end: reason": changed(shown, target="/v1/rooms/demo/events", heard=[["content-type", "text/event-stream"]],
                                           answer=base64.b64encode(b'event: end\ndata: {"reason": "bored"}\n\n').decode()),
            "event: ": changed(shown, target="/v1/events", heard=[["content-type", "text/event-stream"]],
                               answer=base64.b64encode(b"event: room.started\ndata: {}\n\n").decode()),
            "Allow is": changed(refused, method="PUT", status=405),
        }
        faults = exchanges.verdict(list(wrong.values()))["faults"]
        self.assertEqual(len(faults), len(wrong), faults)
        for words, fault in zip(wrong, faults):
            self.assertIn(words, fault)

        document = exchanges.document
        document["components"]["schemas"]["Idle"] = {"type": "string"}
        del document["paths"]["/v1/rooms"]["get"]["responses"]["200"]["description"]
        unsound, idle = exchanges.verdict()["faults"]
        self.assertIn("description", unsound)
        self.assertIn("no operation leads to #/components/schemas/Idle", idle)


if __name__ == "__main__":
    unittest.main()
