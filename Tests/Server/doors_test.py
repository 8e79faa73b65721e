"""What the doors make of names that an address collapses, of tokens that are too long, and of variables that the platform sets."""

import http.client
import json
import unittest

from limits import LimitedAsyncTest, LimitedTest
from roost import Roost, ask, claims, put_together, token
from signaller import hear, say

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


def answered(roost, path, upgrade, **fields):
    """The whole answer to a request with exactly that path."""
    host, port = roost.public.split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=5)
    if upgrade:
        fields |= {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
                   "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": "roost.v1"}
    try:
        connection.request("GET", path, headers=fields)
        answer = connection.getresponse()
        body = b"" if answer.status == 101 else answer.read()
        return answer.status, json.loads(body).get("type") if body else None
    finally:
        connection.close()


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

    async def test_no_token_is_for_a_room_or_an_identity_that_is_named_by_dots(self):
        with Roost() as roost:
            path = f"/v1/rooms/.../connect?access_token={token('...', '...')}"
            self.assertEqual(answered(roost, path, True), (101, None))
            for identity, room in ((".", "demo"), ("..", "demo"), ("ada", "."), ("ada", "..")):
                with self.subTest(identity=identity, room=room):
                    text = token(identity, room)
                    self.assertEqual(answered(roost, "/v1/rooms/demo/connect", True, Authorization=f"Bearer {text}"),
                                     (401, PROBLEM + "token-malformed"))
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
                    async with roost.connect() as ws:
                        await say(ws, type="auth", token=text)
                        if opens:
                            await hear(ws, "joined")
                        else:
                            self.assertEqual((await hear(ws, "error"))["code"], "token-too-long")


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
