"""What strangers and hostile clients say to the server, on the wire. Each case first shows that the right form works, so
that what is refused is refused for what is wrong with it."""

import asyncio
import json
import pathlib
import re
import socket
import time
import unittest

import websockets

from limits import LimitedAsyncTest
from roost import Roost, ask, claims, put_together, token
from signaller import hear, say

OFFER = (pathlib.Path(__file__).parent.parent / "Fixtures/sdp/chromium-156-audio-video-sendrecv-offer.sdp").read_text()
OFFER = OFFER.replace("\r\n", "\n").replace("\n", "\r\n")
PROBLEM = "urn:roost:problem:"


async def request(ws, **message):
    """The answer to a request: itself, or an error."""
    await say(ws, **message, id=1 + getattr(ws, "asked", 0))
    ws.asked = 1 + getattr(ws, "asked", 0)
    while True:
        answer = json.loads(await asyncio.wait_for(ws.recv(), 5))
        if answer.get("id") == ws.asked:
            return answer


def raw(roost, data, seconds=5):
    """The head of what comes back on a connection of its own; frames that follow an upgrade are no text."""
    host, port = roost.public.split(":")
    with socket.create_connection((host, int(port)), timeout=seconds) as connection:
        connection.sendall(data)
        answer = b""
        while b"\r\n\r\n" not in answer and (chunk := connection.recv(65536)):
            answer += chunk
        return answer.partition(b"\r\n\r\n")[0].decode()


class TokenTest(LimitedAsyncTest):
    def bad(self):
        """Tokens that are no good, each with its code. All else about them is right."""
        now = int(time.time())
        right = claims("ada") | {"video": {"room": "demo", "roomJoin": True, "roomList": True}}
        header = {"alg": "HS256", "typ": "JWT"}
        signed = put_together(header, right)
        unsigned = put_together({"alg": "none", "typ": "JWT"}, right)
        return signed, [
            (unsigned.rsplit(".", 1)[0] + ".", "token-algorithm"), (unsigned, "token-algorithm"),
            (put_together({"alg": "HS512", "typ": "JWT"}, right), "token-algorithm"),
            (put_together({"typ": "JWT"}, right), "token-algorithm"),
            (put_together(header, right, secret=b"another secret"), "token-signature"),
            (signed.rsplit(".", 1)[0] + ".", "token-signature"),
            (put_together(header, right | {"iss": "stranger"}), "token-unknown-key"),
            (put_together(header, right | {"exp": now - 120}), "token-expired"),
            (put_together(header, right | {"nbf": now + 120}), "token-not-yet-valid"),
            (put_together(header, {name: value for name, value in right.items() if name != "exp"}), "token-malformed"),
            ("x", "token-malformed"), ("a.b.c.d", "token-malformed"),
        ]

    async def test_tokens_that_are_no_good_open_no_door(self):
        with Roost() as roost:
            good, bad = self.bad()
            async with roost.connect(extra_headers={"Authorization": f"Bearer {good}"}) as ws:
                await hear(ws, "joined")
            self.assertEqual(roost.get("/v1/rooms", headers={"Authorization": f"Bearer {good}"}).status, 200)
            for text, code in bad:
                with self.subTest(code=code, token=text[:40]):
                    answer = roost.get("/v1/rooms", headers={"Authorization": f"Bearer {text}"})
                    self.assertEqual((answer.status, answer.json["type"]), (401, PROBLEM + code))
                    with self.assertRaises(websockets.InvalidStatusCode) as refused:
                        async with roost.connect(extra_headers={"Authorization": f"Bearer {text}"}):
                            pass
                    self.assertEqual(refused.exception.status_code, 401)
                    async with roost.connect() as ws:
                        self.assertEqual((await request(ws, type="auth", token=text))["code"], code)
                        await asyncio.wait_for(ws.wait_closed(), 5)
                        self.assertEqual(ws.close_code, 4002)
            # Nothing of any of them is in the log.
            log = roost.log()
            for text in [good] + [text for text, _ in bad if len(text) > 20]:
                self.assertNotIn(text[-20:], log)

    async def test_a_query_never_reaches_the_log(self):
        with Roost("--log.level=debug") as roost:
            text = token("ada")
            async with websockets.connect(f"ws://{roost.public}/v1/rooms/demo/connect?access_token={text}&x=secretquery",
                                          subprotocols=["roost.v1"]) as ws:
                await hear(ws, "joined")
            raw(roost, f"GET /?access_token={text}&x=secretquery HTTP/1.1\r\nHost: localhost\r\nBad Header\r\n\r\n".encode())
            self.assertIn("participant joined", roost.log())
            self.assertNotIn("secretquery", roost.log())
            self.assertNotIn(text[-30:], roost.log())

    async def test_a_removed_participant_stays_out_with_every_earlier_token(self):
        with Roost() as roost:
            before = {name: token("ada", issued=issued) for name, issued in
                      {"iat": int(time.time()) - 5, "none": None}.items()}
            async with roost.joined("ada") as ada:
                admin = token("boss", roomAdmin=True)
                gone = ask(roost, "DELETE", "/v1/rooms/demo/participants/ada", admin)
                self.assertEqual(gone.status, 204)
                self.assertEqual((await hear(ada, "closed"))["reason"], "removed")
                await asyncio.wait_for(ada.wait_closed(), 5)
                self.assertEqual(ada.close_code, 4010)
            for text in before.values():
                with self.assertRaises(websockets.InvalidStatusCode) as refused:
                    async with roost.connect(extra_headers={"Authorization": f"Bearer {text}"}):
                        pass
                self.assertEqual(refused.exception.status_code, 403)
                async with roost.connect() as ws:
                    self.assertEqual((await request(ws, type="auth", token=text))["code"], "token-removed")
                    await asyncio.wait_for(ws.wait_closed(), 5)
                    self.assertEqual(ws.close_code, 4003)
            await asyncio.sleep(1.1)
            async with roost.connect() as ws:
                fresh = token("ada", issued=int(time.time()))
                self.assertEqual((await request(ws, type="auth", token=fresh))["type"], "joined")


class WebSocketTest(LimitedAsyncTest):
    async def test_giants_fragments_and_silence_end_their_own_connection(self):
        with Roost() as roost:
            async with roost.joined("witness") as witness:
                await asyncio.gather(self.giant(roost), self.fragments(roost), self.silence(roost), self.drip(roost),
                                     self.slow_head(roost))
                self.assertEqual((await request(witness, type="ping"))["type"], "pong")

    async def test_before_auth_one_message_of_at_most_16_kib_is_read(self):
        with Roost() as roost:
            first = json.dumps({"type": "auth", "token": token("ann"), "pad": ""})
            for more, code in [(0, None), (1, 1009)]:
                async with roost.connect() as ws:
                    await ws.send(first.replace('""', '"' + "x" * (16_384 + more - len(first)) + '"'))
                    if code:
                        await asyncio.wait_for(ws.wait_closed(), 5)
                        self.assertEqual(ws.close_code, code)
                    else:
                        await hear(ws, "joined")
            async with roost.connect(max_size=None) as ws:
                await ws.send(json.dumps({"type": "auth", "token": "x" * 16_384}))
                await asyncio.wait_for(ws.wait_closed(), 5)
                self.assertEqual(ws.close_code, 1009)
            async with roost.connect() as ws:
                await ws.send(json.dumps({"type": "zz", "tracks": [{}] * 1_000}))
                self.assertEqual((await hear(ws, "error"))["code"], "auth-required")
                await asyncio.wait_for(ws.wait_closed(), 5)
                self.assertEqual(ws.close_code, 4002)
            async with roost.connect() as ws:
                await ws.send(json.dumps({"type": "auth", "token": "x" * 12_289}))
                self.assertEqual((await hear(ws, "error"))["code"], "token-too-long")

    async def giant(self, roost):
        async with roost.joined("giant", max_size=None) as ws:
            most = json.dumps({"type": "nothing", "x": ""})
            await ws.send(most.replace('""', '"' + "x" * (262_144 - len(most)) + '"'))
            self.assertEqual((await request(ws, type="ping"))["type"], "pong")
            await ws.send(most.replace('""', '"' + "x" * (262_145 - len(most)) + '"'))
            await asyncio.wait_for(ws.wait_closed(), 5)
            self.assertEqual(ws.close_code, 1009)

    async def fragments(self, roost):
        async with roost.joined("fragments") as ws:
            await ws.send(iter(['{"type":', '"ping"', ',"id":"f"}']))
            self.assertEqual((await hear(ws, "pong"))["id"], "f")
            try:
                await ws.send(iter(["x"] * 5_000))
            except websockets.ConnectionClosed:
                pass
            await asyncio.wait_for(ws.wait_closed(), 5)
            self.assertEqual(ws.close_code, 1009)

    async def silence(self, roost):
        async with roost.connect() as ws:
            begin = time.monotonic()
            self.assertEqual((await hear(ws, "error", 8))["code"], "auth-required")
            await asyncio.wait_for(ws.wait_closed(), 5)
            self.assertEqual(ws.close_code, 4001)
            self.assertGreater(time.monotonic() - begin, 4)

    async def drip(self, roost):
        """A first message of which a byte comes now and then, for ever."""
        host, port = roost.public.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /v1/rooms/demo/connect HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                     b"Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                     b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: roost.v1\r\n\r\n")
        self.assertIn(b" 101 ", await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5))
        # A text of 16,000 bytes, masked by zeros.
        writer.write(b"\x81\xfe\x3e\x80\0\0\0\0")
        begin = time.monotonic()
        answer = b""
        while time.monotonic() - begin < 12:
            try:
                writer.write(b"x")
                chunk = await asyncio.wait_for(reader.read(4096), 0.2)
            except asyncio.TimeoutError:
                continue
            except ConnectionError:
                break
            if not chunk:
                break
            answer += chunk
        self.assertLess(time.monotonic() - begin, 10)
        self.assertIn(b"auth-required", answer)
        writer.close()

    async def slow_head(self, roost):
        """A request head of which a byte comes now and then."""
        host, port = roost.public.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        begin = time.monotonic()
        while time.monotonic() - begin < 15:
            try:
                writer.write(b"x")
                if not await asyncio.wait_for(reader.read(4096), 0.2):
                    break
            except asyncio.TimeoutError:
                continue
            except ConnectionError:
                break
        self.assertLess(time.monotonic() - begin, 13)
        writer.close()


class DescriptionTest(LimitedAsyncTest):
    async def test_malformed_descriptions_are_refused_with_their_fault(self):
        padding = "a=x\r\n"
        lines = OFFER.count("\r\n")
        twice = re.sub(r"a=mid:1\r\n", "a=mid:0\r\n", OFFER).replace("a=group:BUNDLE 0 1", "a=group:BUNDLE 0 0")
        cases = [
            (OFFER + padding * (10_001 - lines), "the description has more than 10000 lines"),
            (twice, "a=mid:0"),
            (OFFER.replace("SAVPF 111", "SAVPF 111 128"), "line 8"),
            (OFFER.replace("SAVPF 111", "SAVPF 111 4294967407"), "line 8"),
            (OFFER.replace("a=rtpmap:111 ", "a=rtpmap:300 "), "a=rtpmap"),
            (OFFER + "a=x" + "x" * 8_192 + "\r\n", "at most 8192"),
            (OFFER + "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n" * 130, "more than 128 media sections"),
            ("v=0\r\n", "expected"), ("\0", "control character"),
        ]
        with Roost() as roost:
            async with roost.joined("ada") as ada:
                for sdp, said in cases:
                    with self.subTest(said=said):
                        refused = await request(ada, type="offer", sdp=sdp)
                        self.assertEqual((refused["type"], refused.get("code")), ("error", "offer-refused"))
                        self.assertIn(said, refused["message"])
                # The longest that is read, and the session is as it was.
                answer = await request(ada, type="offer", sdp=OFFER + padding * (10_000 - lines))
                self.assertEqual((answer["type"], len(answer.get("tracks", []))), ("answer", 2), answer)


class RulesTest(LimitedAsyncTest):
    async def test_a_name_that_is_markup_comes_back_as_the_text_that_it_is(self):
        name = "<img onerror=\"fetch('/v1/rooms')\" src=x>"
        with Roost() as roost:
            async with roost.joined(name) as ws, roost.joined("bob") as bob:
                self.assertEqual(bob.joined["participants"][0]["identity"], name)
                await say(ws, type="leave")
                self.assertEqual((await hear(bob, "event"))["event"]["participant"]["identity"], name)
            async with roost.joined(name, "other"):
                shown = ask(roost, "GET", "/v1/rooms/other/participants", token("boss", "other", roomAdmin=True))
                self.assertEqual([item["identity"] for item in shown.json["items"]], [name])
                self.assertEqual(shown.headers["content-type"], "application/json")

    async def test_tracks_of_another_room_are_out_of_reach(self):
        with Roost() as roost:
            async with roost.joined("ada", "one") as ada, roost.joined("bob", "one") as bob, \
                    roost.joined("eve", "two") as eve:
                track = (await request(ada, type="offer", sdp=OFFER))["tracks"][0]["track"]
                for request_type in ("subscribe", "unsubscribe"):
                    self.assertEqual((await request(bob, type=request_type, track=track))["type"], "ok")
                    self.assertEqual((await request(eve, type=request_type, track=track))["code"], "unknown-track")
                self.assertEqual((await request(eve, type="mute", track=track, muted=True))["code"], "unknown-track")
                self.assertEqual((await request(bob, type="mute", track=track, muted=True))["code"], "unknown-track")
                path = f"/v1/rooms/two/participants/ada/tracks/{track}/mute"
                held = ask(roost, "POST", path, token("boss", "two", roomAdmin=True), {"muted": True})
                self.assertEqual((held.status, held.json["type"]), (404, PROBLEM + "participant-not-found"))

    async def test_ten_thousand_attributes_are_too_many(self):
        few = {f"k{number}": "v" for number in range(256)}
        many = {f"k{number}": "v" for number in range(10_000)}
        with Roost() as roost:
            boss = token("boss", roomAdmin=True)
            async with roost.joined("ada", canUpdateOwnMetadata=True) as ada:
                self.assertEqual((await request(ada, type="update", attributes=few))["type"], "ok")
                self.assertEqual((await request(ada, type="update", attributes=many))["code"], "bad-message")
                self.assertEqual((await request(ada, type="update", attributes={"one": "more"}))["code"], "too-large")
                path = "/v1/rooms/demo/participants/ada"
                refused = ask(roost, "PATCH", path, boss, {"attributes": many})
                self.assertEqual((refused.status, refused.json["type"]), (413, PROBLEM + "too-large"))
                shown = ask(roost, "GET", path, boss).json["attributes"]
                self.assertEqual(shown, few)
            with self.assertRaises(websockets.InvalidStatusCode) as refused:
                async with roost.connect(extra_headers={"Authorization": f"Bearer {token('eve', attributes=many)}"}):
                    pass
            self.assertIn(refused.exception.status_code, (401, 431))

    async def test_with_dev_other_hosts_and_origins_are_turned_away(self):
        with Roost() as roost:
            text = token("ada", roomList=True)
            port = roost.public.split(":")[1]
            for host, origin, status in [
                (f"localhost:{port}", None, 200), (f"127.0.0.1:{port}", f"http://localhost:{port}", 200),
                ("evil.example", None, 421), (f"localhost.evil.example:{port}", None, 421),
                (f"localhost:{port}", "https://evil.example", 403), (f"localhost:{port}", "null", 403),
            ]:
                with self.subTest(host=host, origin=origin):
                    headers = {"Host": host, "Authorization": f"Bearer {text}"}
                    if origin:
                        headers["Origin"] = origin
                    answer = roost.get("/v1/rooms", headers=headers)
                    self.assertEqual(answer.status, status, answer.body)
                    upgrade = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
                    found = raw(roost, (
                        f"GET /v1/rooms/demo/connect HTTP/1.1\r\n{upgrade}Upgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Protocol: roost.v1\r\n\r\n").encode())
                    self.assertEqual(found.split(" ")[1], "101" if status == 200 else str(status))

    async def test_what_is_too_large_or_too_much_is_a_problem_of_its_own(self):
        with Roost("--http.bodyBytes=2048", "--limits.requestsPerAddress=2",
                   "--limits.requestsAtOncePerAddress=8") as roost:
            boss = token("boss", roomCreate=True)
            made = ask(roost, "POST", "/v1/rooms", boss, {"name": "a", "metadata": "x" * 1_900})
            self.assertEqual(made.status, 201)
            large = ask(roost, "POST", "/v1/rooms", boss, {"name": "b", "metadata": "x" * 2_048})
            self.assertEqual((large.status, large.json["type"]), (413, PROBLEM + "body-too-large"))
            self.assertEqual(large.headers["content-type"], "application/problem+json")
            statuses = []
            for _ in range(20):
                answer = ask(roost, "POST", "/v1/rooms", boss, {"name": "a"})
                statuses.append(answer.status)
                if answer.status == 429:
                    break
            self.assertEqual((statuses[0], statuses[-1]), (200, 429))
            self.assertEqual(answer.json["type"], PROBLEM + "rate-limited")
            wait = int(answer.headers["retry-after"])
            self.assertGreaterEqual(wait, 1)
            with self.assertRaises(websockets.InvalidStatusCode) as refused:
                async with roost.connect():
                    pass
            self.assertEqual(refused.exception.status_code, 429)
            # The page and health go on.
            self.assertEqual((roost.get("/").status, roost.get("/healthz").status), (200, 200))
            await asyncio.sleep(wait)
            self.assertEqual(ask(roost, "POST", "/v1/rooms", boss, {"name": "a"}).status, 200)


if __name__ == "__main__":
    unittest.main()
