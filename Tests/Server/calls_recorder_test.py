"""Who records a call, by a token with `recorder` for its room: who sees it, and that the call is what it would be without it."""

import contextlib
import json
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import uuid

import signaller
from callers import UNBOUNDED, call, heard, patient, started
from calls_test import talking, until
from limits import LimitedAsyncTest, LimitedTest
from roost import BINARY, Roost, ask, token
from signaller import hear, say

PROBLEM = "urn:roost:problem:"


def document(roost, number):
    """The call as its starter reads it."""
    return patient(roost, "ada", "GET", f"/v1/calls/{number}").json


def there(roost, room):
    """Who is in the room, for who runs it."""
    items = ask(roost, "GET", f"/v1/rooms/{room}/participants", token("boss", room, roomAdmin=True)).json["items"]
    return {each["identity"]: each for each in items}


@contextlib.contextmanager
def recording(roost, room, identity, folder):
    """`roost record` with a recorder's token that is hidden."""
    bearer = token(identity, room, recorder=True, hidden=True)
    child = subprocess.Popen([BINARY, "record", "--token", bearer, "--room", room, "--url", f"http://{roost.public}", "--out", folder, "--json"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


class SeenTest(LimitedAsyncTest):
    async def events(self, ws, kind):
        """What happens to participants, until one of that kind has come."""
        found = []
        while not found or found[-1][0] != kind:
            event = (await hear(ws, "event", 10))["event"]
            if event["type"].startswith("participant."):
                found.append((event["type"], event["participant"]["identity"]))
        return found

    async def left(self, ws):
        await say(ws, type="leave")
        self.assertEqual((await hear(ws, "closed"))["reason"], "left")

    async def test_a_recorder_is_seen_unless_its_token_hides_it_and_is_none_of_the_call_s_people(self):
        with Roost(*UNBOUNDED) as roost:
            number, entry = started(roost, "ada", "bob")
            room = entry.json["call"]["room"]
            async with signaller.joined(f"http://{roost.public}", room, entry.json["token"]) as ada:
                before, last = document(roost, number), heard(roost, "ada", limit=20)[1]
                async with roost.joined("scribe", room, recorder=True) as scribe:
                    self.assertEqual([each["identity"] for each in scribe.joined["participants"]], ["ada"])
                    async with roost.joined("ghost", room, recorder=True, hidden=True) as ghost:
                        self.assertEqual({each["identity"] for each in ghost.joined["participants"]}, {"ada", "scribe"})
                        # All of them are there for who runs the room.
                        self.assertEqual({name: each["hidden"] for name, each in there(roost, room).items()},
                                         {"ada": False, "ghost": True, "scribe": False})
                        async with roost.joined("late", room, recorder=True) as late:
                            self.assertEqual({each["identity"] for each in late.joined["participants"]}, {"ada", "scribe"})
                            await self.left(late)
                        self.assertEqual(document(roost, number), before)
                        await self.left(ghost)
                    await self.left(scribe)
                self.assertEqual(await self.events(ada, "participant.left"), [
                    ("participant.joined", "scribe"), ("participant.joined", "late"), ("participant.left", "late")])
                self.assertEqual(await self.events(ada, "participant.left"), [("participant.left", "scribe")])
                self.assertEqual(set(there(roost, room)), {"ada"})
                # Neither the call nor what its people hear is another by any of that.
                self.assertEqual(document(roost, number), before)
                people = [before[f"{which}Participants"] for which in ("all", "active", "invited", "left")]
                self.assertEqual(people, [["ada", "bob"], ["ada"], ["bob"], []])
                self.assertEqual(heard(roost, "ada", after=last, limit=20)[0], [])
                known = call(roost, "ada", "GET", "/v1/people").json["items"]
                self.assertEqual({each["id"] for each in known} & {"scribe", "ghost", "late"}, set())

    async def test_a_recorder_s_token_opens_the_room_as_long_as_the_call_and_nothing_of_the_call(self):
        with Roost(*UNBOUNDED) as roost:
            number, entry = started(roost, "ada", "bob")
            room = entry.json["call"]["room"]
            bearer = token("scribe", room, recorder=True)
            async with roost.joined("scribe", room, recorder=True) as scribe:
                requests = [("GET", ""), ("DELETE", ""), ("POST", "/join"), ("POST", "/leave"), ("GET", "/sessions"), ("GET", "/deliveries")]
                # Of a call that never was it is answered the same.
                for identifier in (number, str(uuid.uuid4())):
                    for method, path in requests:
                        answer = call(roost, None, method, f"/v1/calls/{identifier}{path}", token=bearer)
                        self.assertEqual((answer.status, answer.json["type"]), (403, PROBLEM + "not-allowed"), path)
                # Nor does a token of its own: it is a stranger.
                self.assertEqual(call(roost, "scribe", "GET", f"/v1/calls/{number}").status, 404)
                self.assertEqual(call(roost, "scribe", "GET", "/v1/calls").json["items"], [])
                self.assertEqual(call(roost, "scribe", "POST", f"/v1/calls/{number}/join", {}).status, 404)
                self.assertEqual(document(roost, number)["activeParticipants"], ["ada"])
                # The call is over though the recorder is there still, and takes its room with it.
                self.assertTrue(call(roost, "ada", "POST", f"/v1/calls/{number}/leave", {}).json["ended"])
                self.assertEqual((await hear(scribe, "closed"))["reason"], "roomClosed")
            # It brings neither that room back nor makes one of such a name.
            for gone in (room, "call-that-never-was"):
                async with roost.connect(gone) as late:
                    await say(late, type="auth", token=token("scribe", gone, recorder=True))
                    self.assertEqual((await hear(late, "error"))["code"], "room-not-found", gone)
                self.assertEqual(ask(roost, "GET", f"/v1/rooms/{gone}", token("boss", "*", roomList=True)).status, 404, gone)

    async def test_a_recorder_that_is_called_like_one_who_is_rung_answers_no_ring(self):
        with Roost(*UNBOUNDED) as roost:
            number, entry = started(roost, "ada", "bob")
            room = entry.json["call"]["room"]
            before = document(roost, number)
            async with roost.joined("bob", room, recorder=True) as recorder:
                self.assertEqual(document(roost, number), before)
                await self.left(recorder)
            self.assertEqual(document(roost, number), before)
            self.assertEqual([each["event"] for each in heard(roost, "bob", limit=20)[0]], ["call.ringing"])
            # Without the grant a token for the room lets no stranger in.
            async with roost.connect(room) as other:
                await say(other, type="auth", token=token("mallory", room))
                self.assertEqual((await hear(other, "error"))["code"], "room-not-found")
            joined = call(roost, "bob", "POST", f"/v1/calls/{number}/join", {"deviceId": "phone"})
            self.assertEqual(joined.json["call"]["activeParticipants"], ["ada", "bob"], joined.body)


class MediaTest(LimitedTest):
    def test_a_recorder_s_media_connects_no_call_and_its_going_ends_none(self):
        with tempfile.TemporaryDirectory() as folder, Roost("--reconnect.seconds=1", *UNBOUNDED) as roost:
            number, entry = started(roost, "ada", "bob")
            room, take = entry.json["call"]["room"], pathlib.Path(folder, "take")
            with talking(roost, entry.json), recording(roost, room, "scribe", take) as recorder:
                until(lambda: there(roost, room).get("scribe", {"bitrates": {"sent": 0}})["bitrates"]["sent"] > 0)
                # Two have media there, and one of them is of the call.
                time.sleep(0.5)
                self.assertNotIn("connectedAt", document(roost, number))
                joined = call(roost, "bob", "POST", f"/v1/calls/{number}/join", {"deviceId": "phone"})
                with talking(roost, joined.json):
                    until(lambda: "connectedAt" in document(roost, number))
                    time.sleep(1)
                    recorder.send_signal(signal.SIGINT)
                    output, errors = recorder.communicate(timeout=20)
                    self.assertEqual(recorder.returncode, 0, errors)
                    self.assertEqual({each["identity"] for each in json.loads(output)["participants"]}, {"ada", "bob"})
                    until(lambda: "scribe" not in there(roost, room))
                    # Longer than one of its people may be gone.
                    time.sleep(2.5)
                    now = document(roost, number)
                    self.assertEqual((now["status"], now["activeParticipants"], now["leftParticipants"]), ("active", ["ada", "bob"], []))
                    self.assertEqual(now["allParticipants"], ["ada", "bob"])


if __name__ == "__main__":
    unittest.main()
