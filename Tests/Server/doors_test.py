"""What the doors make of names that an address collapses, of tokens that are too long, of an administrator's mute whose track ends, and of
variables that the platform sets."""

import asyncio
import contextlib
import http.client
import json
import pathlib
import time
import unittest

from limits import LimitedAsyncTest, LimitedTest
from roost import Roost, ask, claims, put_together, token
from signaller import hear, say

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = HERE.parents[1] / ".build-python/bin/python"
CLIENT = HERE.parent / "Clients/whip_peer.py"
OFFER = (HERE.parent / "Fixtures/sdp/chromium-156-audio-video-sendrecv-offer.sdp").read_text()
PROBLEM = "urn:roost:problem:"
LONGEST = 12_288
"""Bytes of a token."""


def long_token(length):
    """A token that is good but for its length."""
    for filler in range(length * 3 // 4 - 400, length):
        text = put_together({"alg": "HS256", "typ": "JWT"}, claims("ada", roomList=True) | {"filler": "x" * filler})
        if len(text) >= length:
            assert len(text) == length, f"no token has {length} bytes"
            return text


def answered(roost, path, upgrade, method="GET", body=None, **fields):
    """The whole answer to a request with exactly that path."""
    host, port = roost.public.split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=5)
    if upgrade:
        fields |= {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
                   "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": "roost.v1"}
    try:
        connection.request(method, path, body, fields)
        answer = connection.getresponse()
        body = b"" if answer.status == 101 else answer.read()
        is_json = (answer.getheader("Content-Type") or "").endswith("json")
        return answer.status, json.loads(body).get("type") if is_json else None
    finally:
        connection.close()


def offered(roost, path, text):
    """The answer to an offer to WHIP or WHEP."""
    return answered(roost, path, False, "POST", OFFER, **{"Authorization": f"Bearer {text}", "Content-Type": "application/sdp"})


class NamesTest(LimitedAsyncTest):
    """Names `.` and `..`, also percent-encoded, are taken out of an address by clients and proxies (RFC 3986, 5.2.4)."""

    async def test_no_room_and_no_identity_is_named_by_dots(self):
        with Roost() as roost:
            boss = token("boss", "*", roomAdmin=True, roomCreate=True)
            self.assertEqual(ask(roost, "POST", "/v1/rooms", boss, {"name": "..."}).status, 201)
            self.assertEqual(ask(roost, "GET", "/v1/rooms/...", boss).status, 200)
            gone = ask(roost, "DELETE", "/v1/rooms/.../participants/...", boss)
            self.assertEqual(gone.status, 204, gone.body)
            for name in (".", ".."):
                made = ask(roost, "POST", "/v1/rooms", boss, {"name": name})
                self.assertEqual((made.status, made.json["type"]), (400, PROBLEM + "body"), name)
            for name in ("%2E", "%2E%2E", "%2e%2e", ".%2E", ".", ".."):
                with self.subTest(name=name):
                    bearer = {"Authorization": f"Bearer {boss}"}
                    for path, problem in [(f"/v1/rooms/{name}", "room-name"), (f"/v1/rooms/{name}/participants", "room-name"),
                                          (f"/v1/rooms/{name}/participants/ada", "room-name"),
                                          (f"/v1/rooms/.../participants/{name}", "identity")]:
                        self.assertEqual(answered(roost, path, False, **bearer), (400, PROBLEM + problem), path)
                    self.assertEqual(answered(roost, f"/v1/rooms/{name}/connect", True, **bearer), (400, PROBLEM + "room-name"))
                    for door in ("whip", "whep"):
                        self.assertEqual(offered(roost, f"/{door}/{name}", boss), (400, PROBLEM + "room-name"), door)
                        for method in ("GET", "PATCH", "DELETE"):
                            self.assertEqual(answered(roost, f"/{door}/{name}/session", False, method, **bearer),
                                             (400, PROBLEM + "room-name"), (door, method))
                    self.assertEqual(offered(roost, f"/whep/...?participant={name}", token("ada", "...")), (400, PROBLEM + "query"))
            for door in ("whip", "whep"):
                self.assertEqual(offered(roost, f"/{door}/...", token("ada", "...")), (201, None), door)

    async def test_no_token_is_for_a_room_or_an_identity_that_is_named_by_dots(self):
        with Roost() as roost:
            path = f"/v1/rooms/.../connect?access_token={token('...', '...')}"
            self.assertEqual(answered(roost, path, True), (101, None))
            for identity, room in ((".", "demo"), ("..", "demo"), ("ada", "."), ("ada", "..")):
                with self.subTest(identity=identity, room=room):
                    text = token(identity, room)
                    self.assertEqual(answered(roost, "/v1/rooms/demo/connect", True, Authorization=f"Bearer {text}"),
                                     (401, PROBLEM + "token-malformed"))
                    for door in ("whip", "whep"):
                        self.assertEqual(offered(roost, f"/{door}/demo", text), (401, PROBLEM + "token-malformed"), door)
                    async with roost.connect() as ws:
                        await say(ws, type="auth", token=text)
                        self.assertEqual((await hear(ws, "error"))["code"], "token-malformed")


class LongTokenTest(LimitedAsyncTest):
    async def test_a_token_that_is_too_long_is_refused_at_every_door(self):
        with Roost() as roost:
            for length, opens in ((LONGEST, True), (LONGEST + 1, False)):
                text = long_token(length)
                refused = (401, PROBLEM + "token-too-long")
                bearer = {"Authorization": f"Bearer {text}"}
                query = f"?access_token={text}"
                with self.subTest(length=length):
                    self.assertEqual(answered(roost, "/v1/rooms", False, **bearer), (200, None) if opens else refused)
                    self.assertEqual(answered(roost, "/v1/rooms/demo/connect", True, **bearer), (101, None) if opens else refused)
                    self.assertEqual(answered(roost, f"/v1/rooms/demo/connect{query}", True), (101, None) if opens else refused)
                    for door in ("whip", "whep"):
                        self.assertEqual(offered(roost, f"/{door}/demo", text), (201, None) if opens else refused, door)
                    async with roost.connect() as ws:
                        await say(ws, type="auth", token=text)
                        if opens:
                            await hear(ws, "joined")
                        else:
                            self.assertEqual((await hear(ws, "error"))["code"], "token-too-long")


class Encoder:
    """An encoder that publishes by WHIP, as far as requests go: no media follows its offer."""

    def __init__(self, roost):
        self._roost, self._boss = roost, token("boss", roomAdmin=True)

    def publish(self, **grants):
        """Begins a session by a token with these grants. Answers with the tracks of ada by their source."""
        fields = {"Authorization": f"Bearer {token('ada', **grants)}", "Content-Type": "application/sdp"}
        answer = self._roost.get("/whip/demo", method="POST", headers=fields, data=OFFER.encode())
        assert answer.status == 201, answer.body
        self._session = answer.headers["location"]
        return self.tracks()

    def end(self):
        assert ask(self._roost, "DELETE", self._session, token("ada")).status == 200

    def tracks(self):
        """{source: track} of ada as administrators see it; None where ada isn't in the room."""
        answer = ask(self._roost, "GET", "/v1/rooms/demo/participants/ada", self._boss)
        if answer.status == 404:
            return None
        assert answer.status == 200, answer.body
        return {each["source"]: each for each in answer.json["tracks"]}

    def mute(self, track, muted=True):
        """An administrator's mute, or its end. Answers with the track."""
        answer = ask(self._roost, "POST", f"/v1/rooms/demo/participants/ada/tracks/{track['id']}/mute", self._boss, {"muted": muted})
        assert answer.status == 200, answer.body
        return answer.json


def mutes(tracks):
    """{source: (whether it is muted, whether by an administrator)}"""
    return {source: (track["muted"], track["mutedByAdmin"]) for source, track in tracks.items()}


FREE, MUTED = (False, False), (True, True)


class MuteTest(LimitedAsyncTest):
    """An administrator's mute outlives its track at WHIP as it does natively, as long as the participant stays."""

    async def test_who_stays_can_not_shake_off_a_mute_by_another_whip_session(self):
        with Roost() as roost:
            encoder = Encoder(roost)
            async with roost.joined("ada") as ada, roost.joined("bob") as bob:
                first = encoder.publish()
                self.assertEqual(mutes(first), {"camera": FREE, "microphone": FREE})
                self.assertEqual(mutes({"camera": encoder.mute(first["camera"])}), {"camera": MUTED})
                encoder.end()
                self.assertEqual(encoder.tracks(), {})

                again = encoder.publish()
                self.assertNotEqual(again["camera"]["id"], first["camera"]["id"])
                # It binds that source alone.
                self.assertEqual(mutes(again), {"camera": MUTED, "microphone": FREE})
                self.assertEqual(await self._announced(bob, again["camera"]["id"]), MUTED)
                await say(ada, type="mute", id=1, track=again["camera"]["id"], muted=False)
                self.assertEqual((await hear(ada, "error"))["code"], "not-allowed")
                self.assertEqual(mutes(encoder.tracks())["camera"], MUTED)

                # A track of another source neither has it nor ends it.
                encoder.end()
                self.assertEqual(mutes(encoder.publish(canPublishSources=["screen_share", "screen_share_audio"])),
                                 {"screen_share": FREE, "screen_share_audio": FREE})
                encoder.end()
                third = encoder.publish()
                self.assertEqual(mutes(third), {"camera": MUTED, "microphone": FREE})

                # Once lifted it is over, also for the next one.
                self.assertEqual(mutes({"camera": encoder.mute(third["camera"], False)}), {"camera": FREE})
                encoder.end()
                self.assertEqual(mutes(encoder.publish()), {"camera": FREE, "microphone": FREE})

    async def test_a_mute_ends_with_the_participant_that_leaves_with_its_last_whip_session(self):
        with Roost() as roost:
            encoder = Encoder(roost)
            async with roost.joined("bob") as bob:
                first = encoder.publish()
                encoder.mute(first["camera"])
                encoder.end()
                left = await self._event(bob, "participant.left")
                self.assertEqual((left["participant"]["identity"], encoder.tracks()), ("ada", None))
                again = encoder.publish()
                self.assertEqual(mutes(again), {"camera": FREE, "microphone": FREE})
                self.assertEqual(await self._announced(bob, again["camera"]["id"]), FREE)

    async def _event(self, ws, kind):
        while (event := (await hear(ws, "event"))["event"])["type"] != kind:
            pass
        return event

    async def _announced(self, ws, track):
        """Whether others hear that a track is muted as it begins."""
        while (its := (await self._event(ws, "track.published"))["track"])["id"] != track:
            pass
        return its["muted"], its["mutedByAdmin"]

    async def test_nothing_of_a_camera_whose_mute_has_outlived_its_session_reaches_a_player(self):
        with Roost() as roost:
            encoder = Encoder(roost)
            async with roost.joined("ada"), self._client("play", roost, "tv", "whep/demo?participant=ada"):
                encoder.mute(encoder.publish()["camera"])
                encoder.end()
                async with self._client("publish", roost, "ada", "whip/demo"):
                    await self._until(lambda: self._why(roost).get("microphone") == "best")
                    self.assertEqual(self._why(roost), {"camera": "muted", "microphone": "best"})
                    await asyncio.sleep(2)
                    self.assertEqual(self._why(roost), {"camera": "muted", "microphone": "best"})
                    self.assertEqual(self._rate(roost, "camera"), 0)
                    self.assertGreater(self._rate(roost, "microphone"), 5_000)
                    # The same camera is seen as soon as that is lifted.
                    encoder.mute(encoder.tracks()["camera"], False)
                    await self._until(lambda: self._rate(roost, "camera") > 5_000)

    @contextlib.asynccontextmanager
    async def _client(self, what, roost, identity, path):
        """aiortc, connected."""
        child = await asyncio.create_subprocess_exec(
            PYTHON, CLIENT, what, f"http://{roost.public}/{path}", token(identity), "60", stdout=asyncio.subprocess.PIPE)
        try:
            self.assertEqual(await asyncio.wait_for(child.stdout.readline(), 20), b"connected\n")
            yield child
        finally:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()

    async def _until(self, holds, seconds=10):
        deadline = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), deadline, "not in time")
            await asyncio.sleep(0.1)

    def _subscriptions(self, roost):
        """What the player gets of ada, by source."""
        items = ask(roost, "GET", "/v1/rooms/demo/explain", token("boss", roomAdmin=True)).json["items"]
        return {each["source"]: each for item in items if item["identity"] == "tv" for each in item["subscriptions"]}

    def _why(self, roost):
        return {source: each["reason"] for source, each in self._subscriptions(roost).items()}

    def _rate(self, roost, source):
        """Bits per second that are sent to it."""
        return self._subscriptions(roost)[source].get("bitrate", 0)


class VariablesTest(LimitedTest):
    def test_variables_that_a_platform_sets_are_named_in_the_log_and_stop_nothing(self):
        platform = {"ROOST_PORT": "tcp://10.0.0.1:7880", "ROOST_SERVICE_HOST": "10.0.0.1",
                    "ROOST_PORT_7880_TCP_ADDR": "10.0.0.1", "ROOST_MEDIA_PORT": "udp://10.0.0.1:7882",
                    "ROOST_HTTP_BODYBYTES": "tcp://10.0.0.1:80"}
        ours = {"ROOST_URL": "http://127.0.0.1:7880", "ROOST_TOKEN": "x", "ROOST_LOG_LEVEL": "debug", "OTHER_PORT": "1"}
        with Roost(environment=platform | ours) as roost:
            self.assertEqual(roost.get("/healthz").status, 200)
            warnings = [line for line in roost.log().splitlines() if "environment variable ignored" in line]
            for name in platform:
                self.assertEqual(len([line for line in warnings if f"name={name}" in line.split()]), 1, name)
            self.assertEqual(len(warnings), len(platform))
            for line in warnings:
                self.assertRegex(line, r"\bwarning\b")
                self.assertNotIn("10.0.0.1", line)


if __name__ == "__main__":
    unittest.main()
