"""Those who read events as they happen: a thousand at once, some that don't read, some that go, and the end of the server."""

import asyncio
import contextlib
import os
import random
import resource
import time
import unittest

from limits import FULL, LimitedAsyncTest
from listener import Listener
from metrics_test import scrape, total
from roost import Roost, ask, claims, put_together, token
from signaller import hear, say

READERS = 1000
PATH = "/v1/rooms/demo/events"
ADMIN = {"roomCreate": True, "roomList": True, "roomAdmin": True}


def admin():
    return token("desk", **ADMIN)


def processor(pid):
    """Seconds that the process has computed."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    """Bytes that it has in memory."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def change(roost, metadata):
    """Something happens in the room."""
    answer = await asyncio.to_thread(ask, roost, "PATCH", "/v1/rooms/demo", admin(), {"metadata": metadata})
    assert answer.status == 200, answer.body


async def listeners(stack, roost, count, path=PATH, **more):
    """So many, a hundred at a time."""
    found = []
    while len(found) < count:
        some = [stack.enter_async_context(Listener(roost, path, admin(), **more)) for _ in range(min(100, count - len(found)))]
        found += await asyncio.gather(*some)
    return found


class StreamsTest(LimitedAsyncTest):
    seconds = 120

    def setUp(self):
        # A socket for each reader at this end.
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    async def test_a_thousand_readers_get_each_event_once_and_cost_little(self):
        with Roost() as roost:
            self.assertEqual(ask(roost, "POST", "/v1/rooms", admin(), {"name": "demo"}).status, 201)
            async with contextlib.AsyncExitStack() as stack:
                ada = await stack.enter_async_context(roost.joined("ada"))
                before = memory(roost.pid)
                readers = await listeners(stack, roost, READERS)
                self.assertEqual({each.status for each in readers}, {200})
                for each in readers:
                    self.assertEqual([(await each.event())[0] for _ in range(2)], ["room.started", "participant.joined"])
                per_reader = (memory(roost.pid) - before) / READERS

                # Nothing happens: they cost nothing but a comment now and then.
                idle = processor(roost.pid)
                await asyncio.sleep(3)
                idle = (processor(roost.pid) - idle) / 3

                rounds, events = 40 if FULL else 8, 5
                busy, slowest, worst_ping = processor(roost.pid), 0, 0
                for number in range(rounds):
                    began = time.monotonic()
                    for each in range(events):
                        await say(ada, type="ping", id=number * 100 + each)
                        asked = time.monotonic()
                        await change(roost, f"{number}.{each}")
                        await hear(ada, "pong")
                        worst_ping = max(worst_ping, time.monotonic() - asked)
                    for reader in readers:
                        for each in range(events):
                            kind, data = await asyncio.wait_for(reader.event(), 10)
                            self.assertEqual((kind, data["metadata"]), ("room.updated", f"{number}.{each}"))
                            self.assertEqual(data["id"], 3 + number * events + each)
                    slowest = max(slowest, time.monotonic() - began)
                busy = (processor(roost.pid) - busy) / (rounds * events * READERS)
                now = scrape(roost)
                self.assertEqual(total(now, "roost_http_streams"), READERS)
                grown = (memory(roost.pid) - before) / READERS
                print(f"\n{READERS} readers: {per_reader / 1024:.1f} KiB each, {grown / 1024:.1f} KiB after "
                      f"{rounds * events} events; {busy * 1e6:.1f} µs for each event of each, idle {idle * 100:.1f} % of a "
                      f"processor; the slowest round of {events} events {slowest * 1000:.0f} ms, a ping at most {worst_ping * 1000:.0f} ms")
                self.assertLess(per_reader, 20 * 1024)
                self.assertLess(grown, 24 * 1024)
                self.assertLess(busy, 25e-6)
                self.assertLess(idle, 0.03)

                # So many may one address have, and no more.
                refused = await listeners(stack, roost, 1)
                self.assertEqual(refused[0].status, 429)
                self.assertIn("retry-after: 5\r\n", refused[0].head)
                self.assertEqual((await refused[0].problem())["type"], "urn:roost:problem:too-many-streams")
                for each in readers:
                    each.go()
                for _ in range(100):
                    now = scrape(roost)
                    if not total(now, "roost_http_streams"):
                        break
                    await asyncio.sleep(0.05)
                self.assertEqual(total(now, "roost_http_streams"), 0)
                self.assertEqual(total(now, "roost_http_streams_ended_total", reason="clientGone"), READERS)
                self.assertEqual(total(now, "roost_http_streams_refused_total", reason="perAddress"), 1)

    async def test_those_who_do_not_read_are_cut_off_with_the_reason_and_cost_others_nothing(self):
        with Roost("--limits.requestsPerAddress=100000") as roost:
            ask(roost, "POST", "/v1/rooms", admin(), {"name": "demo"})
            async with contextlib.AsyncExitStack() as stack:
                deaf = await listeners(stack, roost, 50, receive_buffer=4096)
                for each in deaf:
                    await each.event()
                    each.deafen()
                one = (await listeners(stack, roost, 1))[0]
                await one.event()
                before, began = memory(roost.pid), time.monotonic()
                for number in range(200):
                    await change(roost, f"{number} " + "x" * 30_000)
                    # Each comes at once, however many don't read.
                    _, data = await asyncio.wait_for(one.event(), 2)
                    self.assertTrue(data["metadata"].startswith(f"{number} "))
                # The log itself has 200 times as much.
                grown = memory(roost.pid) - before - 200 * 3 * 30_000
                self.assertLess(grown, 50 * 200_000)
                while total(scrape(roost), "roost_http_streams_ended_total", reason="stalled") < 50:
                    self.assertLess(time.monotonic() - began, 40)
                    await asyncio.sleep(0.5)
                for each in deaf:
                    each.listen()
                for each in deaf:
                    events = await asyncio.wait_for(each.rest(), 10)
                    self.assertEqual(events[-1], ("end", {"reason": "tooSlow"}))
                    self.assertTrue(each.is_whole)
                    self.assertEqual([data["id"] for _, data in events[:-1]], list(range(2, len(events) + 1)))
                self.assertEqual(total(scrape(roost), "roost_http_streams"), 1)

    async def test_one_who_is_cut_off_at_any_point_goes_on_without_gap_or_repeat(self):
        generator = random.Random(5)
        with Roost("--limits.requestsPerAddress=100000") as roost:
            ask(roost, "POST", "/v1/rooms", admin(), {"name": "demo"})
            for path in (PATH, "/v1/events"):
                seen, last, writing = [], None, asyncio.create_task(self.write(roost, 150))
                while not writing.done() or len(seen) < seen[-1]:
                    async with Listener(roost, path, admin(), last=last) as reader:
                        self.assertEqual(reader.status, 200)
                        with contextlib.suppress(asyncio.TimeoutError):
                            for _ in range(generator.randrange(1, 12)):
                                _, data = await asyncio.wait_for(reader.event(), 0.5)
                                seen.append(data["id"])
                                last = reader.last
                await writing
                self.assertEqual(seen, list(range(1, len(seen) + 1)), path)
                self.assertGreater(len(seen), 100)

    async def write(self, roost, count):
        for number in range(count):
            await change(roost, f"w{number}")

    async def test_readers_that_go_in_the_middle_leave_no_descriptor(self):
        with Roost() as roost:
            ask(roost, "POST", "/v1/rooms", admin(), {"name": "demo"})
            await change(roost, "x" * 60_000)
            count = len(os.listdir(f"/proc/{roost.pid}/fd"))
            for _ in range(10):
                async with contextlib.AsyncExitStack() as stack:
                    readers = await listeners(stack, roost, 50, receive_buffer=4096)
                    await change(roost, "y" * 60_000)
                    self.assertEqual({each.status for each in readers}, {200})
            for _ in range(100):
                if len(os.listdir(f"/proc/{roost.pid}/fd")) <= count + 2:
                    break
                await asyncio.sleep(0.05)
            self.assertLessEqual(len(os.listdir(f"/proc/{roost.pid}/fd")), count + 2)

    async def test_a_server_that_stops_says_so_and_what_happens_until_then(self):
        with Roost("--drain.seconds=30") as roost:
            async with roost.joined("ada") as ada, Listener(roost, PATH, admin()) as one, Listener(roost, "/v1/events", admin()) as all_rooms:
                for each in (one, all_rooms):
                    self.assertEqual([(await each.event())[0] for _ in range(2)], ["room.started", "participant.joined"])
                roost.signal()
                for each in (one, all_rooms):
                    kind, data = await asyncio.wait_for(each.event(), 5)
                    self.assertEqual(kind, "draining")
                    self.assertRegex(data["deadline"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
                async with Listener(roost, PATH, admin()) as late:
                    self.assertEqual((late.status, (await late.problem())["type"]), (503, "urn:roost:problem:draining"))
                await say(ada, type="leave")
                rest = await asyncio.wait_for(one.rest(), 10)
                self.assertEqual(rest[0][0], "participant.left")
                self.assertIn(rest[-1], [("end", {"reason": "serverShutdown"}), ("end", {"reason": "roomFinished"})])
                rest = await asyncio.wait_for(all_rooms.rest(), 10)
                self.assertEqual(rest[0][0], "participant.left")
                self.assertEqual(rest[-1], ("end", {"reason": "serverShutdown"}))
                self.assertTrue(one.is_whole and all_rooms.is_whole)
                self.assertEqual(await roost.ended(10), 0)

    async def test_a_stream_ends_with_its_token_and_with_its_holder(self):
        with Roost() as roost:
            ask(roost, "POST", "/v1/rooms", admin(), {"name": "demo"})
            # It holds for a minute longer than it says, since clocks may differ.
            said = claims("brief", **ADMIN) | {"exp": int(time.time()) - 57}
            brief = put_together({"alg": "HS256", "typ": "JWT"}, said)
            async with Listener(roost, PATH, token("guard", issued=int(time.time()) - 5, **ADMIN)) as removed, \
                    Listener(roost, "/v1/events", brief) as expired:
                for each in (removed, expired):
                    await each.event()
                self.assertEqual(ask(roost, "DELETE", "/v1/rooms/demo/participants/guard", admin()).status, 204)
                # At once, though nothing happened in the room.
                self.assertEqual(await asyncio.wait_for(removed.rest(), 2), [("end", {"reason": "removed"})])
                self.assertEqual(await asyncio.wait_for(expired.rest(), 8), [("end", {"reason": "tokenExpired"})])
                self.assertTrue(removed.is_whole and expired.is_whole)

    async def test_a_quiet_stream_has_a_comment_every_fifteen_seconds(self):
        with Roost() as roost:
            ask(roost, "POST", "/v1/rooms", admin(), {"name": "demo"})
            async with Listener(roost, PATH, admin()) as reader:
                await reader.event()
                began = time.monotonic()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(reader.event(), 17)
                self.assertGreater(time.monotonic() - began, 16)
                self.assertEqual(reader.comments, 2, "one at the beginning")


if __name__ == "__main__":
    unittest.main()
