"""Figures of the server and of a room as they come, who may read them and how long, and single pictures of what is published."""

import asyncio
import contextlib
import json
import struct
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from limits import LimitedAsyncTest, LimitedTest
from listener import Listener
from media_cli_test import Clips, Running
from roost import Roost, ask, claims, logged, put_together, token

ADMIN = {"roomCreate": True, "roomList": True, "roomAdmin": True}
SIZE = 320 * 240 * 3 // 2
"""Bytes of a picture of the clips as its decoder gives it."""


def admin(identity="desk", **more):
    return token(identity, "*", **ADMIN | more)


def fetch(roost, path, text):
    """Status, header fields and bytes."""
    request = urllib.request.Request(f"http://{roost.public}{path}", headers={"Authorization": f"Bearer {text}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def tracks(roost):
    """Of the only participant of the room: its identity, and its tracks; nothing while there is none."""
    answer = ask(roost, "GET", "/v1/rooms/demo/participants", admin())
    items = answer.json["items"] if answer.status == 200 else []
    return (items[0]["identity"], items[0]["tracks"]) if items else (None, [])


def decoded(words, data=None):
    """Pictures, by FFmpeg."""
    done = subprocess.run(["ffmpeg", "-nostdin" if data is None else "-hide_banner", "-v", "error", *map(str, words), "-f", "rawvideo",
                           "-pix_fmt", "yuv420p", "-"], input=data, capture_output=True, timeout=30)
    assert done.returncode == 0, done.stderr.decode()
    return [done.stdout[start:start + SIZE] for start in range(0, len(done.stdout), SIZE)]


def in_ivf(codec, data):
    """A file with that frame alone."""
    head = struct.pack("<4sHH4sHHIIII", b"DKIF", 0, 32, codec, 320, 240, 25, 1, 1, 0)
    return head + struct.pack("<IQ", len(data), 0) + data


class FiguresTest(LimitedAsyncTest):
    seconds = 120

    async def test_the_server_and_a_room_say_how_they_do_every_two_seconds(self):
        with Roost() as roost, Running(roost, "publish", Clips.path("vp8.ivf"), "--loop"):
            async with Listener(roost, "/v1/statistics?limit=5&sort=-received", admin()) as server:
                self.assertEqual(server.status, 200)
                self.assertIn("content-type: text/event-stream\r\n", server.head)
                moments, load = [], None
                for _ in range(12):
                    kind, said = await asyncio.wait_for(server.event(), 5)
                    moments.append(time.monotonic())
                    self.assertEqual(kind, "server")
                    self.assertEqual([each["worker"] for each in said["workers"]], [0, 1])
                    load = [each.get("load") for each in said["workers"]]
                    if None not in load and said["items"] and said["items"][0]["received"] > 50_000:
                        break
                self.assertTrue(all(0 <= each <= 1 for each in load) and sum(load) > 0, load)
                self.assertRegex(said["version"], r"^\d+\.\d+")
                self.assertEqual((said["rooms"], said["participants"], said["items"][0]["name"]), (1, 1, "demo"))
                self.assertGreater(said["received"], 50_000)
                self.assertGreater(sum(each["received"] for each in said["workers"]), 50_000)
                spans = [after - before for before, after in zip(moments, moments[1:])]
                self.assertTrue(all(1.5 < each < 4 for each in spans), spans)
            async with Listener(roost, "/v1/statistics?room=demo", admin()) as room:
                for _ in range(12):
                    kind, said = await asyncio.wait_for(room.event(), 5)
                    self.assertEqual((kind, said["room"]["name"], len(said["items"])), ("room", "demo", 1))
                    (track,) = said["items"][0]["tracks"]
                    if track.get("frameRate"):
                        break
                self.assertEqual((track["codec"], track["width"], track["height"], track["encodings"]), ("VP8", 320, 240, 1))
                self.assertTrue(20 <= track["frameRate"] <= 30, track)
                self.assertTrue(50_000 < track["bitrate"] < 2_000_000, track)
                self.assertGreater(said["items"][0]["received"], 50_000)

    async def test_a_reader_asks_for_fewer(self):
        with Roost() as roost:
            async with Listener(roost, "/v1/statistics?every=4", admin()) as reader:
                moments = []
                for _ in range(3):
                    await asyncio.wait_for(reader.event(), 8)
                    moments.append(time.monotonic())
                self.assertGreater(moments[-1] - moments[0], 6)

    async def test_they_end_with_the_token_the_holder_the_room_and_the_server(self):
        with Roost("--drain.seconds=1") as roost:
            ask(roost, "POST", "/v1/rooms", admin(), {"name": "demo"})
            # It holds for a minute longer than it says, since clocks may differ.
            brief = put_together({"alg": "HS256", "typ": "JWT"}, claims("brief", "*", **ADMIN) | {"exp": int(time.time()) - 57})
            guard = token("guard", "demo", issued=int(time.time()) - 5, **ADMIN)
            async with contextlib.AsyncExitStack() as stack:
                expired, removed, over, server = [
                    await stack.enter_async_context(Listener(roost, path, text)) for path, text in (
                        ("/v1/statistics", brief), ("/v1/statistics?room=demo", guard), ("/v1/statistics?room=demo", admin()),
                        ("/v1/statistics", admin()))]
                for each in (expired, removed, over, server):
                    self.assertEqual(each.status, 200)
                    await asyncio.wait_for(each.event(), 5)
                self.assertEqual(ask(roost, "DELETE", "/v1/rooms/demo/participants/guard", admin()).status, 204)
                self.assertEqual((await asyncio.wait_for(removed.rest(), 5))[-1], ("end", {"reason": "removed"}))
                self.assertEqual((await asyncio.wait_for(expired.rest(), 10))[-1], ("end", {"reason": "tokenExpired"}))
                ask(roost, "DELETE", "/v1/rooms/demo", admin())
                self.assertEqual((await asyncio.wait_for(over.rest(), 5))[-1], ("end", {"reason": "roomFinished"}))
                roost.signal()
                said = await asyncio.wait_for(server.rest(), 10)
                self.assertEqual(said[-1], ("end", {"reason": "serverShutdown"}))
                self.assertIn("draining", [kind for kind, _ in said])
                self.assertTrue(all(each.is_whole for each in (expired, removed, over, server)))
                self.assertEqual(await roost.ended(10), 0)

    async def test_one_token_has_four_and_gives_them_back(self):
        with Roost() as roost:
            async with contextlib.AsyncExitStack() as stack:
                readers = [await stack.enter_async_context(Listener(roost, "/v1/statistics", admin())) for _ in range(5)]
                self.assertEqual([each.status for each in readers], [200] * 4 + [429])
                self.assertEqual((await readers[4].problem())["type"], "urn:roost:problem:too-many-streams")
                async with Listener(roost, "/v1/statistics", admin("another")) as other:
                    self.assertEqual(other.status, 200)
                readers[0].go()
                for _ in range(100):
                    async with Listener(roost, "/v1/statistics", admin()) as again:
                        if again.status == 200:
                            break
                    await asyncio.sleep(0.05)
                self.assertEqual(again.status, 200)
            with self.subTest("those of no grant"):
                for path, grants in (("/v1/statistics", {"roomAdmin": True}), ("/v1/statistics?room=demo", {"roomList": True})):
                    status, _, _ = await asyncio.to_thread(fetch, roost, path, token("desk", **grants | {"roomJoin": False}))
                    self.assertEqual(status, 403)


class ThumbnailTest(LimitedTest):
    seconds = 150

    def thumbnail(self, roost, clip):
        """The first that is given of what is published, with its header."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            identity, found = tracks(roost)
            if found:
                path = f"/v1/rooms/demo/participants/{identity}/tracks/{found[0]['id']}/thumbnail"
                status, headers, data = fetch(roost, path, admin())
                if status == 200:
                    return path, headers, data
                # Nothing has come yet, or no key frame in two seconds.
                self.assertIn(status, (409, 429, 503), (clip, data))
            time.sleep(0.3)
        self.fail(f"{clip}: none is given")

    def test_the_last_key_frame_is_that_of_the_publisher_and_can_be_decoded(self):
        for clip, codec, words, wrapped in (
                ("vp8.ivf", r"vp8", ["-f", "ivf"], lambda data: in_ivf(b"VP80", data)),
                ("vp9.webm", r"vp09\.00\..*", ["-f", "ivf"], lambda data: in_ivf(b"VP90", data)),
                ("h264.mkv", r"avc1\.[0-9a-f]{6}", ["-f", "h264"], lambda data: data)):
            with self.subTest(clip), Roost() as roost, Running(roost, "publish", Clips.path(clip), "--loop"):
                path, headers, data = self.thumbnail(roost, clip)
                # Once more at once it is too soon.
                self.assertEqual(fetch(roost, path, admin())[0], 429)
                self.assertRegex(headers["roost-codec"], f"^{codec}$")
                self.assertEqual((headers["roost-width"], headers["roost-height"]), ("320", "240"))
                self.assertLessEqual(len(data), 512 * 1024)
                (picture,) = decoded([*words, "-i", "-"], wrapped(data))
                keys = decoded(["-skip_frame", "nokey", "-i", Clips.path(clip), "-fps_mode", "passthrough"])
                self.assertGreater(len(keys), 1)
                # The very picture, of all that one could begin with.
                self.assertIn(picture, keys)
                time.sleep(2.1)
                status, _, again = fetch(roost, path, admin("another"))
                self.assertEqual(status, 200, again[:300])
                events = logged(roost, admin(), lambda events: [each["type"] for each in events].count("thumbnail.taken") == 2)
                taken = [each for each in events if each["type"] == "thumbnail.taken"]
                self.assertEqual(len(taken), 2)
                self.assertEqual({each["track"]["kind"] for each in taken}, {"video"})

    def test_it_is_for_those_who_administer_and_may_see(self):
        with Roost() as roost, Running(roost, "publish", Clips.path("vp8.ivf"), "--loop"):
            path, _, _ = self.thumbnail(roost, "vp8.ivf")
            for grants in ({"roomAdmin": True, "canSubscribe": False}, {"roomList": True}, {"roomAdmin": True, "roomJoin": False}):
                status, _, body = fetch(roost, path, token("desk", **grants))
                self.assertEqual((status, json.loads(body)["type"]), (403, "urn:roost:problem:token-not-for-this"), grants)
            identity = path.split("/")[5]
            track = path.split("/")[7]
            mute = f"/v1/rooms/demo/participants/{identity}/tracks/{track}/mute"
            self.assertEqual(ask(roost, "POST", mute, admin(), {"muted": True}).status, 200)
            status, _, body = fetch(roost, path, admin())
            self.assertEqual((status, json.loads(body)["detail"]), (409, "it is muted"))


if __name__ == "__main__":
    unittest.main()
