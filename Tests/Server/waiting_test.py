"""Who waits to be let in, who is kept out, who comes by an invitation, and what is kept for those who come late: by real sockets, WHIP
and WHEP."""

import asyncio
import contextlib
import json
import pathlib
import tempfile
import time
import unittest

from limits import LimitedAsyncTest
from metrics_test import scrape, total
from receiver import Receiver
from roost import HERE, Roost, ask, claims, get, logged, put_together, token
from signaller import hear, heard, say

OFFERS = pathlib.Path(HERE).parent / "Fixtures/sdp"
OFFER = {"whip": (OFFERS / "chromium-156-audio-video-sendonly-offer.sdp").read_text(encoding="utf-8"),
         "whep": (OFFERS / "chromium-156-whep-recvonly-offer.sdp").read_text(encoding="utf-8")}
DESK = token("desk", "*", roomCreate=True, roomList=True, roomAdmin=True)


def admitted(identity, room="demo"):
    """A token whose holder needn't wait."""
    return put_together({"alg": "HS256"}, claims(identity, room) | {"roost": {"admitted": True}})


@contextlib.asynccontextmanager
async def waiting(roost, identity, text=None):
    """A socket that waits, with `waiting` as the server said it."""
    async with roost.connect() as ws:
        await say(ws, type="auth", token=text or token(identity), id=1)
        ws.waiting = await hear(ws, "waiting")
        yield ws


async def first(ws, wanted):
    """The first message for which that holds; others that come before it can be found later."""
    aside = vars(ws).setdefault("aside", [])
    for index, message in enumerate(aside):
        if wanted(message):
            return aside.pop(index)
    while True:
        message = await asyncio.wait_for(heard(ws), 5)
        if wanted(message):
            return message
        aside.append(message)


async def event(ws, kind):
    """The next event of that type."""
    return (await first(ws, lambda message: message["type"] == "event" and message["event"]["type"] == kind))["event"]


async def answer(ws, number, **message):
    """What answers that request."""
    await say(ws, id=number, **message)
    return await first(ws, lambda found: found.get("id") == number)


async def refused(ws):
    """The error's code, and the code of the close behind it."""
    error = await hear(ws, "error")
    await asyncio.wait_for(ws.wait_closed(), 5)
    return error["code"], ws.close_code


async def up_to_pong(ws):
    """All that has come and wasn't looked at, up to the answer to a ping."""
    await say(ws, type="ping")
    found = vars(ws).pop("aside", [])
    while not found or found[-1]["type"] != "pong":
        found.append(await asyncio.wait_for(heard(ws), 5))
    return found


def by_http(roost, door, text, room="demo", offer=None):
    """The status of an offer there, and the type of its problem."""
    found = get(f"http://{roost.public}/{door}/{room}", method="POST", data=offer or OFFER[door].encode(),
                headers={"Authorization": f"Bearer {text}", "Content-Type": "application/sdp"})
    return found.status, found.json["type"].rsplit(":", 1)[1] if found.status >= 400 else None, found.headers["Location"]


class WaitingTest(LimitedAsyncTest):
    async def test_a_host_lets_one_in_and_refuses_another(self):
        with Receiver() as receiver, Roost("--rooms.admission=true", f"--webhooks.urls={receiver.url}#devkey") as roost:
            async with roost.joined("host", roomAdmin=True) as host, waiting(roost, "ada") as ada:
                self.assertEqual((host.joined["waiting"], host.joined["room"]["admission"]), ([], True))
                self.assertEqual((ada.waiting["id"], ada.waiting["pingInterval"]), (1, 20))
                comes = await event(host, "participant.waiting")
                self.assertEqual(comes["waiting"]["identity"], "ada")
                now = scrape(roost)
                self.assertEqual((total(now, "roost_waiting"), total(now, "roost_participants")), (1, 1))
                self.assertEqual((await answer(host, 2, type="admit", waiting=comes["waiting"]["id"]))["type"], "ok")
                joined = await hear(ada, "joined")
                self.assertEqual((joined["id"], joined["participant"]["identity"]), (1, "ada"))
                self.assertNotIn("waiting", joined)
                self.assertEqual((await event(host, "waiting.ended"))["waiting"]["reason"], "admitted")
                gone = await answer(host, 3, type="admit", waiting=comes["waiting"]["id"])
                self.assertEqual(gone["code"], "unknown-participant")
                self.assertEqual((await answer(ada, 2, type="admit", waiting="WT_1"))["code"], "not-allowed")

                async with waiting(roost, "bob") as bob:
                    comes = await event(host, "participant.waiting")
                    said = await answer(host, 4, type="admit", waiting=comes["waiting"]["id"], allowed=False)
                    self.assertEqual(said["type"], "ok")
                    self.assertEqual((await hear(bob, "closed"))["reason"], "removed")
                    await asyncio.wait_for(bob.wait_closed(), 5)
                    self.assertEqual(bob.close_code, 4010)
                async with roost.connect() as again:
                    await say(again, type="auth", token=token("bob"))
                    self.assertEqual(await refused(again), ("token-removed", 4003))
                # Those who are no hosts hear of none of it.
                types = {found["event"]["type"] for found in await up_to_pong(ada) if found["type"] == "event"}
                self.assertEqual(types & {"participant.waiting", "waiting.ended"}, set())
            events = logged(roost, DESK, lambda events: [each["type"] for each in events].count("waiting.ended") == 2)
            said = [(found["type"], found["waiting"].get("reason")) for found in events if "waiting" in found]
            self.assertEqual(said, [("participant.waiting", None), ("waiting.ended", "admitted"), ("participant.waiting", None),
                                    ("waiting.ended", "removed")])
            notices = [notice.json["event"] for notice in receiver.wait(len(events))]
            self.assertEqual([found["type"] for found in notices if "waiting" in found], [kind for kind, _ in said])

    async def test_who_waits_hears_and_does_nothing(self):
        with Roost("--rooms.admission=true") as roost:
            async with roost.joined("host", roomAdmin=True) as host, waiting(roost, "ada") as ada:
                await say(host, type="data", payload="aGk=", destinations=["ada"])
                await say(host, type="hand", raised=True)
                self.assertEqual(ask(roost, "PATCH", "/v1/rooms/demo", DESK, {"metadata": "m"}).status, 200)
                await event(host, "room.updated")
                self.assertEqual([found["type"] for found in await up_to_pong(ada)], ["pong"])
                for number, message in enumerate([{"type": "data", "payload": "aGk="}, {"type": "hand", "raised": True},
                                                  {"type": "offer", "sdp": OFFER["whip"]}, {"type": "nothing"}], 10):
                    self.assertEqual((await answer(ada, number, **message))["code"], "admission-required")
                # As in a session, what is of a later version or of no interest has no answer that no one asks for.
                await say(ada, type="nothing")
                await say(ada, type="candidate", candidate="", mid="0")
                self.assertEqual([found["type"] for found in await up_to_pong(ada)], ["pong"])
                people = ask(roost, "GET", "/v1/rooms/demo/participants", DESK).json["items"]
                self.assertEqual([found["identity"] for found in people], ["host"])
                await say(ada, type="leave")
                self.assertEqual((await hear(ada, "closed"))["reason"], "left")
                self.assertEqual((await event(host, "waiting.ended"))["waiting"]["reason"], "left")
            room = ask(roost, "GET", "/v1/rooms/demo", DESK).json
            self.assertEqual(room["waiting"], 0)

    async def test_a_later_session_of_a_name_takes_the_place_of_the_earlier(self):
        with Roost("--rooms.admission=true") as roost:
            async with roost.joined("host", roomAdmin=True), waiting(roost, "ada") as first, waiting(roost, "ada") as second:
                self.assertEqual((await hear(first, "closed"))["reason"], "duplicateIdentity")
                await asyncio.wait_for(first.wait_closed(), 5)
                self.assertEqual(first.close_code, 4012)
                listed = ask(roost, "GET", "/v1/rooms/demo/waiting", DESK).json["items"]
                self.assertEqual(len(listed), 1)
                path = "/v1/rooms/demo/participants/ada/admit"
                self.assertEqual(ask(roost, "POST", path, DESK, {"waiting": listed[0]["id"]}).status, 204)
                await hear(second, "joined")
                self.assertEqual(ask(roost, "POST", path, DESK).json["type"], "urn:roost:problem:participant-not-found")

    async def test_when_the_room_asks_no_longer_there_are_as_many_as_it_takes(self):
        with Roost() as roost:
            ask(roost, "POST", "/v1/rooms", DESK, {"name": "demo", "admission": True, "maxParticipants": 3})
            async with contextlib.AsyncExitStack() as stack:
                host = await stack.enter_async_context(roost.joined("host", roomAdmin=True))
                guests = [await stack.enter_async_context(waiting(roost, f"guest{number}")) for number in range(5)]
                self.assertEqual(ask(roost, "PATCH", "/v1/rooms/demo", DESK, {"admission": False}).status, 200)
                for guest in guests[:2]:
                    await hear(guest, "joined")
                for guest in guests[2:]:
                    self.assertEqual(await refused(guest), ("room-full", 4005))
                self.assertEqual(ask(roost, "GET", "/v1/rooms/demo", DESK).json["participants"], 3)
                reasons = [(await event(host, "waiting.ended"))["waiting"]["reason"] for _ in guests]
                self.assertEqual(reasons, ["admitted"] * 2 + ["refused"] * 3)
                now = scrape(roost)
                self.assertEqual((total(now, "roost_waiting"), total(now, "roost_participants")), (0, 3))

    async def test_encoders_and_players_can_not_wait(self):
        with Roost("--rooms.admission=true") as roost:
            for door in OFFER:
                self.assertEqual(by_http(roost, door, token("cam"))[:2], (403, "admission-required"))
                status, _, location = by_http(roost, door, admitted(f"cam-{door}"))
                self.assertEqual(status, 201)
                self.assertEqual(by_http(roost, door, token("desk", roomAdmin=True))[0], 201)
                self.assertEqual(ask(roost, "PATCH", "/v1/rooms/demo", DESK, {"locked": True}).status, 200)
                # Before what it would have to wait for.
                self.assertEqual(by_http(roost, door, admitted("late"))[:2], (403, "room-locked"))
                self.assertEqual(ask(roost, "GET", location, admitted(f"cam-{door}")).status, 204, "what is there goes on")
                self.assertEqual(ask(roost, "PATCH", "/v1/rooms/demo", DESK, {"locked": False}).status, 200)
            self.assertGreater(total(scrape(roost), "roost_joins_refused_total", reason="notAdmitted"), 1)

    async def test_a_room_has_fifty_who_wait(self):
        with Roost("--rooms.admission=true") as roost:
            async with contextlib.AsyncExitStack() as stack:
                for number in range(50):
                    await stack.enter_async_context(waiting(roost, f"guest{number}"))
                async with roost.connect() as ws:
                    await say(ws, type="auth", token=token("late"))
                    self.assertEqual(await refused(ws), ("room-full", 4005))
                self.assertEqual(len(ask(roost, "GET", "/v1/rooms/demo/waiting", DESK).json["items"]), 50)
                self.assertEqual(ask(roost, "DELETE", "/v1/rooms/demo", DESK).status, 204)
            self.assertEqual(total(scrape(roost), "roost_waiting"), 0)


class LockedTest(LimitedAsyncTest):
    async def test_no_new_session_gets_in_and_who_was_in_comes_back(self):
        with Roost() as roost:
            async with roost.joined("ada") as ada:
                self.assertEqual(ask(roost, "PATCH", "/v1/rooms/demo", DESK, {"locked": True}).json["locked"], True)
                self.assertEqual((await event(ada, "room.updated"))["settings"], {"admission": False, "locked": True})
                for identity in ("bob", "ada"):
                    async with roost.connect() as ws:
                        await say(ws, type="auth", token=token(identity))
                        self.assertEqual(await refused(ws), ("room-locked", 4005))
                known = ada.joined
                ada.transport.abort()
            async with roost.connect() as ws:
                await say(ws, type="resume", resumeToken=known["resumeToken"], after=known["lastEvent"])
                await hear(ws, "resumed")
                async with roost.joined("host", roomAdmin=True) as host:
                    self.assertEqual([found["identity"] for found in host.joined["participants"]], ["ada"])
            self.assertEqual(total(scrape(roost), "roost_joins_refused_total", reason="locked"), 2)


    async def test_who_is_refused_neither_ends_a_room_nor_keeps_it(self):
        # By default a room that everybody has left goes sooner than one that was made ahead.
        with Roost("--rooms.departureTimeout=1") as roost:
            for name, setting in (("locked", {"locked": True}), ("asks", {"admission": True}), ("short", {"emptyTimeout": 3})):
                self.assertEqual(ask(roost, "POST", "/v1/rooms", DESK, {"name": name} | setting).status, 201)
            began = time.monotonic()
            while time.monotonic() < began + 4:
                async with roost.connect("locked") as ws:
                    await say(ws, type="auth", token=token("eve", "locked"))
                    self.assertEqual(await refused(ws), ("room-locked", 4005))
                self.assertEqual(by_http(roost, "whip", token("eve", "asks"), "asks")[:2], (403, "admission-required"))
                self.assertEqual(by_http(roost, "whip", token("eve", "short"), "short", b"v=0")[0], 400)
                await asyncio.sleep(0.5)
            # Each that came since made one of that name, which went with it.
            self.assertEqual(ask(roost, "GET", "/v1/rooms/short", DESK).status, 404)
            await asyncio.sleep(2.5)
            for name in ("locked", "asks"):
                self.assertEqual(ask(roost, "GET", f"/v1/rooms/{name}", DESK).status, 200)


class InvitationTest(LimitedAsyncTest):
    @staticmethod
    def opened(roost, secret, **more):
        return get(f"http://{roost.public}/v1/invitations/open", method="POST", headers={"Content-Type": "application/json"},
                   data=json.dumps({"invitation": secret} | more).encode())

    async def test_each_who_has_the_link_comes_as_somebody_else(self):
        with Roost() as roost:
            host = token("host", roomAdmin=True, canPublishSources=["camera", "microphone"])
            async with roost.joined("host", roomAdmin=True):
                made = ask(roost, "POST", "/v1/rooms/demo/invitations", host, {"ttl": 60, "grants": {"canPublishSources": ["microphone"]}})
                self.assertEqual(made.status, 201)
                self.assertEqual(made.json["url"], f"http://{roost.public}/?room=demo#invitation={made.json['invitation']}")
                found = [self.opened(roost, made.json["invitation"], name=name).json for name in ("Eve", "Eve", "Zoe")]
                self.assertEqual(len({each["identity"] for each in found}), 3)
                async with roost.connect() as ws:
                    await say(ws, type="auth", token=found[0]["token"])
                    me = (await hear(ws, "joined"))["participant"]
                    self.assertEqual((me["identity"], me["name"]), (found[0]["identity"], "Eve"))
                    self.assertEqual(me["permissions"]["canPublishSources"], ["microphone"])
                    too = ask(roost, "POST", "/v1/rooms/demo/invitations", host, {"ttl": 60, "grants": {"canUpdateOwnMetadata": True}})
                    self.assertEqual((too.status, too.json["type"]), (403, "urn:roost:problem:not-allowed"))
                    gone = ask(roost, "DELETE", f"/v1/rooms/demo/invitations/{made.json['id']}", DESK)
                    self.assertEqual(gone.status, 204)
                    self.assertEqual((await up_to_pong(ws))[-1]["type"], "pong", "who is in stays")
                async with roost.connect() as ws:
                    await say(ws, type="auth", token=found[1]["token"])
                    self.assertEqual(await refused(ws), ("token-revoked", 4003))
                self.assertEqual(self.opened(roost, made.json["invitation"]).json["type"], "urn:roost:problem:invitation-not-found")

    async def test_who_waits_by_a_link_that_is_revoked_waits_no_longer(self):
        with Roost("--rooms.admission=true") as roost:
            ask(roost, "POST", "/v1/rooms", DESK, {"name": "demo"})
            made = ask(roost, "POST", "/v1/rooms/demo/invitations", token("host", roomAdmin=True), {"ttl": 60}).json
            async with roost.connect() as ws:
                await say(ws, type="auth", token=self.opened(roost, made["invitation"]).json["token"])
                await hear(ws, "waiting")
                self.assertEqual(ask(roost, "DELETE", f"/v1/rooms/demo/invitations/{made['id']}", DESK).status, 204)
                self.assertEqual(await refused(ws), ("token-revoked", 4003))
            self.assertEqual(ask(roost, "GET", "/v1/rooms/demo/waiting", DESK).json["items"], [])

    async def test_one_address_opens_ten_at_once(self):
        with Roost() as roost:
            ask(roost, "POST", "/v1/rooms", DESK, {"name": "demo"})
            host = token("host", roomAdmin=True)
            links = [ask(roost, "POST", "/v1/rooms/demo/invitations", host, {"ttl": 60}).json["invitation"] for _ in range(2)]
            statuses = [self.opened(roost, links[number % 2]).status for number in range(10)]
            self.assertEqual(statuses, [200] * 10)
            late = [self.opened(roost, link) for link in links]
            # Where ten took longer than six seconds one more is there.
            self.assertIn(429, [found.status for found in late])
            self.assertGreater(int(late[-1].headers["Retry-After"] or 1), 0)

    async def test_it_outlives_a_restart_with_its_room_and_no_further(self):
        with tempfile.TemporaryDirectory(prefix="roost-waiting-") as folder:
            host = token("host", roomAdmin=True)
            with Roost(f"--storage.directory={folder}") as roost:
                ask(roost, "POST", "/v1/rooms", DESK, {"name": "demo", "admission": True, "locked": True})
                made = ask(roost, "POST", "/v1/rooms/demo/invitations", host, {"ttl": 60, "uses": 2}).json
                self.assertEqual(self.opened(roost, made["invitation"]).status, 200)
            # It was killed.
            with Roost(f"--storage.directory={folder}") as roost:
                room = ask(roost, "GET", "/v1/rooms/demo", DESK).json
                self.assertEqual((room["admission"], room["locked"]), (True, True))
                listed = ask(roost, "GET", "/v1/rooms/demo/invitations", host).json["items"]
                self.assertEqual([(found["id"], found["opened"]) for found in listed], [(made["id"], 1)])
                self.assertEqual([self.opened(roost, made["invitation"]).status for _ in range(2)], [200, 404])
                self.assertEqual(ask(roost, "DELETE", "/v1/rooms/demo", DESK).status, 204)
                self.assertEqual(ask(roost, "POST", "/v1/rooms", DESK, {"name": "demo"}).status, 201)
                self.assertEqual(ask(roost, "GET", "/v1/rooms/demo/invitations", host).json["items"], [])


class HistoryTest(LimitedAsyncTest):
    async def test_who_comes_late_gets_what_was_said_right_behind_joined(self):
        terms = {"topics": ["chat"], "max": 2, "seconds": 60}
        with Roost() as roost:
            ask(roost, "POST", "/v1/rooms", DESK, {"name": "demo", "dataHistory": terms})
            async with roost.joined("ann") as ann:
                self.assertNotIn("history", [found["type"] for found in await up_to_pong(ann)])
                for payload, more in [("MQ==", {}), ("Mg==", {}), ("Mw==", {"topic": "other"}), ("NA==", {"destinations": ["bob"]}),
                                      ("NQ==", {"reliable": False}), ("Ng==", {})]:
                    said = await answer(ann, payload, **{"type": "data", "payload": payload, "topic": "chat"} | more)
                    self.assertEqual(said["type"], "ok")
                async with roost.joined("bob") as bob:
                    history = await asyncio.wait_for(heard(bob), 5)
                    self.assertEqual(history["type"], "history")
                    self.assertEqual([found["payload"] for found in history["messages"]], ["Mg==", "Ng=="])
                    first = history["messages"][0]
                    self.assertEqual((first["identity"], first["topic"], first["from"]), ("ann", "chat", ann.joined["participant"]["id"]))
                async with roost.joined("deaf", canSubscribe=False) as deaf:
                    self.assertNotIn("history", [found["type"] for found in await up_to_pong(deaf)])
                self.assertEqual(ask(roost, "DELETE", "/v1/rooms/demo/participants/ann", DESK).status, 204)
                async with roost.joined("eve") as eve:
                    self.assertNotIn("history", [found["type"] for found in await up_to_pong(eve)], "it goes with who is removed")


class HandTest(LimitedAsyncTest):
    async def test_a_hand_is_seen_by_who_comes_later_and_lowered_by_a_host(self):
        with Roost() as roost:
            async with roost.joined("ann", canPublish=False, canPublishData=False) as ann:
                self.assertEqual((await answer(ann, 1, type="hand", raised=True))["type"], "ok")
                async with roost.joined("host", roomAdmin=True) as host:
                    (seen,) = host.joined["participants"]
                    self.assertTrue(seen["hand"].endswith("Z"))
                    own = await answer(ann, 2, type="hand", raised=False, participant=host.joined["participant"]["id"])
                    self.assertEqual(own["code"], "not-allowed")
                    lowered = await answer(host, 1, type="hand", raised=False, participant=seen["id"])
                    self.assertEqual(lowered["type"], "ok")
                    updates = [(await event(ann, "participant.updated"))["participant"] for _ in range(2)]
                    self.assertEqual(["hand" in found for found in updates], [True, False])
                # Ten requests each: there are ten at once.
                codes = [(await answer(ann, 100 + number, type="hand", raised=number % 2 == 0)).get("code") for number in range(20)]
                self.assertIn("rate-limited", codes)
                self.assertEqual(codes[0], None)


if __name__ == "__main__":
    unittest.main()
