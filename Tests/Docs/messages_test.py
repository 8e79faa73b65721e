"""Messages, tokens and problems are as docs/signalling.md, tokens.md and rest.md say."""

import asyncio
import json
import pathlib
import re
import socket
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Server")]

import commands  # noqa: E402
from blocks import ALL, ROOT  # noqa: E402
from doors import join  # noqa: E402
from limits import LimitedTest  # noqa: E402
from receiver import Receiver  # noqa: E402
from roost import Roost, ask, claims, put_together, token  # noqa: E402
from signaller import hear, say  # noqa: E402


class MessagesTest(LimitedTest):
    def test_messages_of_the_protocol(self):
        """Each is what the schema says; scripts/check-messages reads those under the two headings."""
        done = subprocess.run([ROOT / "scripts/check-messages", "--examples"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        read = int(re.search(r"^(\d+) messages", done.stdout, re.MULTILINE)[1])
        there = sum(len(re.findall(r'^\{"type"', block.text, re.MULTILINE)) for block in ALL
                    if block.page == "signalling.md" and commands.kind_of(block) == "json")
        self.assertEqual(read, there)

    def test_every_json_is_json_and_looked_at(self):
        pages = {block.page for block in ALL if commands.kind_of(block) == "json"}
        self.assertEqual(pages, {"events.md", "keys.md", "sessions.md", "signalling.md", "tokens.md"}, "say here what holds the new page's JSON to its schema")

    def test_the_notice_of_a_webhook(self):
        """It has the members of one that a receiver really gets."""
        said = [json.loads(block.text) for block in ALL if block.page == "events.md" and commands.kind_of(block) == "json"][0]
        with Receiver() as receiver, Roost(f"--webhooks.urls={receiver.url}#devkey") as roost:
            desk = token("desk", roomCreate=True)
            self.assertEqual(ask(roost, "POST", "/v1/rooms", desk, {"name": "demo"}).status, 201)
            got = receiver.wait(1)[0]
        self.assertEqual(got.headers["Content-Type"], "application/webhook+json")
        notice = json.loads(got.body)
        self.assertEqual(set(notice), set(said))
        self.assertEqual(set(notice["event"]), set(said["event"]))
        self.assertEqual((notice["event"]["type"], notice["event"]["id"]), (said["event"]["type"], said["event"]["id"]))
        self.assertEqual(notice["id"], f"{notice['event']['roomId']}:1")
        self.assertEqual(notice["createdAt"], notice["event"]["time"])

    def test_the_claims_of_a_token(self):
        header, said = [json.loads(block.text) for block in ALL
                        if block.page == "tokens.md" and commands.kind_of(block) == "json"]
        self.assertEqual(said["exp"] - said["iat"], 600)
        now = int(time.time())
        said |= {"iss": "devkey", "iat": now, "exp": now + 600}
        with Roost() as roost:
            joined = join(roost, put_together(header, said))
        self.assertEqual(joined["participant"]["name"], said["name"])
        self.assertEqual(joined["participant"]["permissions"]["canPublishSources"], said["video"]["canPublishSources"])

    def test_refusals_of_tokens(self):
        """The table of tokens.md against tokens that deserve each of it."""
        page = (ROOT / "docs/tokens.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"^\| `(token-[\w-]+)` \| (\d+) \|", page, re.MULTILINE))
        good, head, now = claims("ann"), {"alg": "HS256", "typ": "JWT"}, int(time.time())
        tokens = {
            "token-absent": None, "token-malformed": "abc",
            "token-algorithm": put_together({"alg": "HS512"}, good),
            "token-unknown-key": put_together(head, good | {"iss": "other"}),
            "token-signature": put_together(head, good, b"other"),
            "token-expired": put_together(head, good | {"exp": now - 120}),
            "token-not-yet-valid": put_together(head, good | {"nbf": now + 120}),
            "token-not-for-this": put_together(head, good),
        }
        with Roost() as roost:
            for code, status in rows.items():
                if code not in tokens:  # below, in Tests/Server/hostile_test.py and waiting_test.py
                    continue
                headers = {"Authorization": f"Bearer {tokens[code]}"} if tokens[code] else {}
                answer = roost.get("/v1/rooms", headers=headers)
                self.assertEqual((answer.status, answer.json["type"]), (int(status), f"urn:roost:problem:{code}"), code)
        self.assertEqual(set(rows), set(tokens) | {"token-removed", "token-revoked", "token-too-long"})

    def test_a_token_of_more_than_12_kib_is_too_long(self):
        head = {"alg": "HS256", "typ": "JWT"}
        padded = (put_together(head, claims("ann") | {"padding": "x" * count}) for count in range(8_000, 10_000))
        by_length = {len(text): text for text in padded}
        with Roost() as roost:
            for length, said in [(12_288, (403, "token-not-for-this")), (12_289, (401, "token-too-long"))]:
                answer = roost.get("/v1/rooms", headers={"Authorization": f"Bearer {by_length[length]}"})
                self.assertEqual((answer.status, answer.json["type"].rsplit(":", 1)[1]), said)

    def test_the_claims_of_the_page_are_those_that_are_read(self):
        page = (ROOT / "docs/tokens.md").read_text(encoding="utf-8")
        top, grants = page.split("\n## Claims\n", 1)[1].split("\n## ", 1)[0].split("`video` holds the grants")
        listed = [set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)) for part in (top, grants)]
        code = (ROOT / "Sources/AccessTokens/AccessToken+Verify.swift").read_text(encoding="utf-8")
        read = set(re.findall(r'\b(?:video|read)\.(?:text|id|date|flag)\("(\w+)"', code)) | set(re.findall(r'claims\["(\w+)"\]', code))
        self.assertEqual(listed[0] | listed[1], read)

    def test_claims_are_honoured_or_ignored_as_the_page_says(self):
        head, good = {"alg": "HS256", "typ": "JWT"}, claims("ann")

        def with_grants(**grants):
            return good | {"video": good["video"] | grants}

        with Roost() as roost:
            def first(said):
                answer = join(roost, put_together(head, said))
                return answer.get("code") or answer["participant"].get("permissions")

            # Of the wrong type.
            for name in ("iss", "exp", "nbf", "iat", "sub", "name", "metadata", "attributes", "roost", "video"):
                self.assertEqual(first(good | {name: [1]}), "token-malformed", name)
            for name in ("room", "roomJoin", "canPublish", "canPublishSources", "canSubscribe", "canPublishData",
                         "canUpdateOwnMetadata", "hidden", "recorder", "roomCreate", "roomList", "roomAdmin"):
                self.assertEqual(first(with_grants(**{name: 5})), "token-malformed", name)
            for name in ("admitted", "invitation"):
                self.assertEqual(first(good | {"roost": {name: 5}}), "token-malformed", name)
            # Null counts as absent, and so does what isn't known.
            usual = first(good)
            self.assertEqual(usual, {"canPublish": True, "canSubscribe": True, "canPublishData": True, "canUpdateOwnMetadata": False})
            for more in ({"nbf": None}, {"name": None}, {"attributes": None}, {"jti": 1}, {"aud": ["x"]}, {"kind": "egress"},
                         {"sha256": ""}, {"roomConfig": {}}, {"roost": {"admitted": True}}):
                self.assertEqual(first(good | more), usual, more)
            for more in ({"canPublish": None}, {"canPublishSources": []}, {"roomRecord": True}, {"agent": True}, {"recorder": True}):
                self.assertEqual(first(with_grants(**more)), usual, more)
            # What stands for what.
            self.assertEqual(first(with_grants(canPublish=False))["canPublishData"], False)
            # A list that allows nothing is shown as what it comes to, since an empty one would allow everything.
            none = first(with_grants(canPublishSources=["hologram"]))
            self.assertEqual((none["canPublish"], "canPublishSources" in none), (False, False))
            self.assertEqual(first(with_grants(roomJoin=False)), "token-not-for-this")
            self.assertEqual(first(good | {"sub": None}), "token-not-for-this")
            # Clocks may differ by 60 s.
            now = int(time.time())
            for more, wanted in [({"exp": now - 50}, usual), ({"exp": now - 70}, "token-expired"), ({"nbf": now + 50}, usual),
                                 ({"nbf": now + 70}, "token-not-yet-valid")]:
                self.assertEqual(first(good | more), wanted, more)


    def test_who_administers_what(self):
        """roomAdmin is for the token's room, for all rooms with "*", and without a room for none."""
        def asked(roost, path, **video):
            said = {"iss": "devkey", "exp": int(time.time()) + 60, "video": {"roomAdmin": True} | video}
            text = put_together({"alg": "HS256", "typ": "JWT"}, said)
            return ask(roost, "GET", f"/v1/rooms/{path}/participants", text).status

        with Roost() as roost:
            creator = {"iss": "devkey", "exp": int(time.time()) + 60, "video": {"roomCreate": True}}
            for room in ("demo", "other"):
                made = ask(roost, "POST", "/v1/rooms", put_together({"alg": "HS256"}, creator), {"name": room})
                self.assertEqual(made.status, 201)
            self.assertEqual([asked(roost, room, room="demo") for room in ("demo", "other")], [200, 403])
            self.assertEqual([asked(roost, room, room="*") for room in ("demo", "other")], [200, 200])
            self.assertEqual([asked(roost, room) for room in ("demo", "other")], [403, 403])


class StatementsTest(LimitedTest):
    """What signalling.md says about the order of things."""

    def offer(self, name):
        return (ROOT / f"Tests/Fixtures/sdp/chromium-156-{name}-offer.sdp").read_text(encoding="utf-8").replace("\n", "\r\n")

    def test_a_sendrecv_section_is_a_track_and_a_slot(self):
        async def answered(roost):
            async with roost.joined("ann") as ws:
                await say(ws, type="offer", sdp=self.offer("audio-video-sendrecv"))
                return await hear(ws, "answer")

        with Roost() as roost:
            answer = asyncio.run(answered(roost))
        self.assertEqual([each["mid"] for each in answer["tracks"]], ["0", "1"])
        self.assertEqual([each["mid"] for each in answer["slots"]], ["0", "1"])

    def test_an_offer_is_wanted_only_after_the_first(self):
        async def heard(roost):
            async with roost.joined("ann") as ann, roost.joined("bob") as bob:
                await say(ann, type="offer", sdp=self.offer("audio-video-sendonly"))
                await hear(ann, "answer")
                before = await until(bob, "pong", lambda: say(bob, type="ping"), pause=0.5)
                await say(bob, type="offer", sdp=self.offer("audio-only"))
                return before, await until(bob, "offerWanted")

        async def until(ws, kind, ask=None, pause=0):
            await asyncio.sleep(pause)
            if ask:
                await ask()
            heard = []
            while not heard or heard[-1]["type"] != kind:
                heard.append(json.loads(await asyncio.wait_for(ws.recv(), 5)))
            return heard

        with Roost() as roost:
            before, after = asyncio.run(heard(roost))
        self.assertIn("track.published", [each["event"]["type"] for each in before if each["type"] == "event"])
        self.assertNotIn("offerWanted", [each["type"] for each in before])
        self.assertIn("answer", [each["type"] for each in after])
        self.assertEqual((after[-1]["audio"], after[-1]["video"], after[-1]["reason"]), (1, 1, "slots"))

    def test_a_room_refuses_over_the_open_socket_whichever_way_the_token_came(self):
        async def refusals(roost):
            found = []
            headers = {"Authorization": f"Bearer {token('bob')}"}
            async with roost.joined("ann"):
                for more, said in [({"extra_headers": headers}, None), ({}, token("bob"))]:
                    async with roost.connect(**more) as ws:  # 101
                        if said:
                            await say(ws, type="auth", token=said)
                        error = await hear(ws, "error")
                        await asyncio.wait_for(ws.wait_closed(), 5)
                        found.append((error["code"], ws.close_code))
            return found

        with Roost("--limits.participantsPerRoom=1") as roost:
            self.assertEqual(asyncio.run(refusals(roost)), [("room-full", 4005)] * 2)

    def test_4002_is_no_good_token_and_neither_auth_nor_resume(self):
        async def closed(roost, **message):
            async with roost.connect() as ws:
                await say(ws, **message)
                error = await hear(ws, "error")
                await asyncio.wait_for(ws.wait_closed(), 5)
                return error["code"], ws.close_code

        with Roost() as roost:
            self.assertEqual(asyncio.run(closed(roost, type="ping")), ("auth-required", 4002))
            self.assertEqual(asyncio.run(closed(roost, type="auth", token="x")), ("token-malformed", 4002))
            self.assertEqual(asyncio.run(closed(roost, type="auth", token=token("ann", "other"))), ("token-not-for-this", 4003))
            self.assertEqual(asyncio.run(closed(roost, type="resume", resumeToken="x", after=0)), ("session-gone", 4007))


class ProblemsTest(LimitedTest):
    """Problems that no operation of REST has of its own, as the table of rest.md says."""

    # By type and status: what is sent, HOST standing for the server.
    REQUESTS = {
        ("head", 400): b"GET / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n",
        ("length", 400): b"POST /v1/rooms HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        ("head-too-large", 431): b"GET / HTTP/1.1\r\nHost: HOST\r\nX: " + b"x" * 17_000 + b"\r\n\r\n",
        ("unknown-method", 501): b"BREW /v1/rooms HTTP/1.1\r\nHost: HOST\r\n\r\n",
        ("transfer-coding", 501): b"POST /v1/rooms HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: gzip\r\n\r\n",
        ("not-found", 404): b"GET /nowhere HTTP/1.1\r\nHost: HOST\r\n\r\n",
        ("method", 405): b"DELETE /v1/rooms HTTP/1.1\r\nHost: HOST\r\n\r\n",
        ("upgrade", 426): b"GET /v1/rooms/demo/connect HTTP/1.1\r\nHost: HOST\r\n\r\n",
        ("subprotocol", 400): b"GET /v1/rooms/demo/connect HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                              b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        ("host", 421): b"GET /v1/rooms HTTP/1.1\r\nHost: desk.example\r\n\r\n",
        ("origin", 403): b"GET /v1/rooms HTTP/1.1\r\nHost: HOST\r\nOrigin: https://desk.example\r\n\r\n",
        ("body-too-large", 413): b"POST /v1/rooms HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1048577\r\n\r\n",
    }

    def test_each_is_answered_as_the_table_says(self):
        page = (ROOT / "docs/rest.md").read_text(encoding="utf-8")
        with Roost() as roost:
            for (code, status), request in self.REQUESTS.items():
                row = next(line for line in page.splitlines() if line.startswith("| `") and f"`{code}`" in line)
                self.assertIn(str(status), row)
                self.assertEqual(self.ask(roost, request), (status, f"urn:roost:problem:{code}"), code)

    def ask(self, roost, request):
        host, port = roost.public.split(":")
        with socket.create_connection((host, int(port)), 10) as connection:
            connection.sendall(request.replace(b"HOST", roost.public.encode()))
            answer = b""
            while b'"type"' not in answer or b"}" not in answer:
                if not (more := connection.recv(65_536)):
                    break
                answer += more
        head, _, body = answer.partition(b"\r\n\r\n")
        self.assertIn(b"{", body, request[:200] + b" is answered by " + answer)
        return int(head.split()[1]), json.loads(body[body.index(b"{"):body.rindex(b"}") + 1])["type"]


if __name__ == "__main__":
    unittest.main()
