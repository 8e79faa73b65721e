"""`roost events`: the log, and what happens as it happens, from servers with streams of events and without."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
import unittest

from cli_parts import Cli, Followed, StreamServer, cli, environment
from limits import LimitedAsyncTest, LimitedTest
from roost import BINARY, HERE, Roost, ask, token
from signaller import say

sys.path.append(os.path.join(HERE, "../Browsers"))
from harness.cutter import Cutter  # noqa: E402 (shared with the browser tests)

BOSS = token("boss", "*", roomCreate=True, roomAdmin=True, roomList=True)
PROBLEM = {"Content-Type": "application/problem+json"}


def problem(status, code, **members):
    return status, PROBLEM, json.dumps({"type": f"urn:roost:problem:{code}", "title": "no", "status": status} | members).encode()


def change(roost, room, number):
    answer = ask(roost, "PATCH", f"/v1/rooms/{room}", BOSS, {"metadata": str(number)})
    assert answer.status == 200, answer.body


class LogTest(LimitedTest):
    def test_the_log_is_printed_page_by_page(self):
        with Roost() as roost:
            roost_cli = Cli(f"http://{roost.public}")
            for room in ("demo", "other"):
                self.assertEqual(ask(roost, "POST", "/v1/rooms", BOSS, {"name": room, "metadata": "\x1b"}).status, 201)
            for number in range(600):
                change(roost, "demo", number)
            events = [json.loads(line) for line in roost_cli("events", "demo", "--json").stdout.splitlines()]
            self.assertEqual([each["id"] for each in events], list(range(1, 602)))
            self.assertEqual(events[-1]["metadata"], "599")
            later = [json.loads(line) for line in roost_cli("events", "demo", "--after", "598", "--json").stdout.splitlines()]
            self.assertEqual(later, events[598:])
            everything = [json.loads(line) for line in roost_cli("events", "--json").stdout.splitlines()]
            self.assertEqual(len(everything), 602)
            rest = roost_cli("events", "--json", "--after", everything[99]["cursor"]).stdout.splitlines()
            self.assertEqual([json.loads(line) for line in rest], everything[100:])
            cut = roost_cli("events", "demo", "--limit", "5")
            self.assertEqual(len(cut.stdout.splitlines()), 6)
            self.assertIn(f"--after 5 --room-id {events[0]['roomId']}", cut.stderr)
            self.assertTrue(all(len(line) <= 80 and line.isprintable() for line in roost_cli("events").stdout.splitlines()))

    def test_events_that_are_gone_end_with_code_5_and_say_where_to_begin(self):
        with Roost() as roost:
            roost_cli = Cli(f"http://{roost.public}")
            self.assertEqual(ask(roost, "POST", "/v1/rooms", BOSS, {"name": "demo"}).status, 201)
            gone = roost_cli("events", "demo", "--after", "99")
            self.assertEqual(gone.returncode, 5, gone.stdout)
            self.assertIn("--after 0 --room-id RM_", gone.stderr)
            self.assertEqual(roost_cli("events", "nowhere").returncode, 5)
            self.assertEqual(roost_cli("events", "--after", "nonsense").returncode, 6)


class FollowTest(LimitedAsyncTest):
    seconds = 90

    async def test_events_come_as_they_happen_once_and_in_order(self):
        with Roost() as roost:
            self.assertEqual(ask(roost, "POST", "/v1/rooms", BOSS, {"name": "demo"}).status, 201)
            common = ["--json", "--dev", "--url", f"http://{roost.public}"]
            with Followed("events", "demo", "--follow", *common) as room, Followed("events", "--follow", *common) as every:
                self.assertEqual([each["type"] for each in room.events(1) + every.events(1)], ["room.started"] * 2)
                async with roost.joined("ada") as ws:
                    joined = [await asyncio.to_thread(each.events, 1) for each in (room, every)]
                    for (event,) in joined:
                        self.assertEqual((event["type"], event["participant"]["identity"]), ("participant.joined", "ada"))
                    await say(ws, type="leave")
                for each in (room, every):
                    self.assertEqual((await asyncio.to_thread(each.events, 1, 30))[0]["type"], "participant.left")
                for number in range(20):
                    change(roost, "demo", number)
                self.assertEqual([each["id"] for each in room.events(20)], list(range(4, 24)))
                self.assertEqual([each["metadata"] for each in every.events(20)], [str(number) for number in range(20)])
                self.assertEqual(room.interrupt(), -signal.SIGINT)
                self.assertEqual(every.errors, [])

    async def test_a_connection_that_breaks_loses_and_repeats_nothing(self):
        with Roost() as roost:
            self.assertEqual(ask(roost, "POST", "/v1/rooms", BOSS, {"name": "demo"}).status, 201)
            draw = random.Random(7)
            host, port = roost.public.split(":")
            async with Cutter(host, int(port), budget=lambda: draw.randrange(500, 6000)) as cutter:
                with Followed("events", "demo", "--follow", "--json", "--dev", "--url", f"http://127.0.0.1:{cutter.port}") as followed:
                    # Until it has begun, a break is an error.
                    cutter.budget, budget = None, cutter.budget
                    first = await asyncio.to_thread(followed.events, 1)
                    cutter.budget = budget
                    seen = [first[0]["id"]]
                    for number in range(60):
                        await asyncio.to_thread(change, roost, "demo", number)
                        if number % 10 == 5:
                            cutter.cut()
                            await asyncio.sleep(0.2)
                    cutter.budget = None
                    seen += [each["id"] for each in await asyncio.to_thread(followed.events, 60, 60)]
                    self.assertEqual(seen, list(range(1, 62)))
                    self.assertGreater(cutter.cuts, 0)

    async def test_a_reader_that_goes_away_ends_it_quietly(self):
        with Roost() as roost:
            self.assertEqual(ask(roost, "POST", "/v1/rooms", BOSS, {"name": "demo"}).status, 201)
            child = subprocess.Popen(["bash", "-c", f'set -o pipefail; {BINARY} events demo --follow --json --dev --url http://{roost.public} | head -n 2'],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
            try:
                for number in range(40):
                    change(roost, "demo", number)
                    if child.poll() is not None:
                        break
                    await asyncio.sleep(0.1)
                output, errors = child.communicate(timeout=20)
            finally:
                child.kill()
            self.assertEqual((len(output.splitlines()), errors, child.returncode), (2, "", 0))

    async def test_the_limit_ends_it(self):
        with Roost() as roost:
            self.assertEqual(ask(roost, "POST", "/v1/rooms", BOSS, {"name": "demo"}).status, 201)
            common = ["--follow", "--limit", "3", "--dev", "--url", f"http://{roost.public}"]
            with Followed("events", "demo", *common) as followed:
                for number in range(5):
                    change(roost, "demo", number)
                self.assertEqual(followed.ended(), 0)
                self.assertEqual([followed.line()[10:15].strip() for _ in range(4)][1:], ["1", "2", "3"])


class StreamTest(LimitedTest):
    """A server of streams, which breaks them off wherever it likes."""

    def follow(self, server, *words):
        begun = time.monotonic()
        done = cli("events", "demo", "--follow", "--json", "--url", server.url, *words, seconds=50, ROOST_TOKEN="a.token")
        return done, time.monotonic() - begun

    def test_a_stream_is_gone_on_from_wherever_it_was_cut(self):
        draw = random.Random(3)
        # At first enough for it to begin.
        pieces = [200] + [draw.randrange(0, 400) for _ in range(60)]
        with StreamServer(40, pieces) as server:
            done, _ = self.follow(server)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([json.loads(line)["id"] for line in done.stdout.splitlines()], list(range(1, 41)))
        self.assertGreater(len(server.asked), 5)
        self.assertIsNone(server.asked[0]["last"])
        self.assertTrue(all(each["accept"].startswith("text/event-stream") and each["token"] == "Bearer a.token" for each in server.asked))
        known = [int((each["last"] or "RM_x:0").split(":")[1]) for each in server.asked]
        self.assertEqual(known, sorted(known))

    def test_how_it_ends_is_its_code(self):
        for end, code in (("roomFinished", 0), ("removed", 4), ("notAllowed", 4), ("tokenExpired", 4), ("eventsGone", 5)):
            with StreamServer(2, end=end) as server:
                done, _ = self.follow(server)
            self.assertEqual((done.returncode, len(done.stdout.splitlines()), len(server.asked)), (code, 2, 1), done.stderr)
            self.assertEqual(done.stderr == "", code == 0)
            self.assertTrue(code == 0 or json.loads(done.stderr)["title"])

    def test_a_server_that_is_busy_is_waited_for_and_a_refusal_is_not(self):
        status, headers, body = problem(503, "draining")
        busy = status, headers | {"Retry-After": "1"}, body
        # Once it has begun: the first stream is cut.
        with StreamServer(3, [130], answers=[None, busy, busy]) as server:
            done, seconds = self.follow(server)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([json.loads(line)["id"] for line in done.stdout.splitlines()], [1, 2, 3])
        self.assertGreater(seconds, 2)
        with StreamServer(3, answers=[problem(410, "events-gone", oldest=7, roomId="RM_y")]) as server:
            done, _ = self.follow(server, "--after", "3")
        self.assertEqual((done.returncode, len(server.asked)), (5, 1))
        self.assertEqual(json.loads(done.stderr)["oldest"], 7)
        self.assertIn("after=3", server.asked[0]["path"])
        with StreamServer(3, answers=[(200, {"Content-Type": "text/html"}, b"<html>")]) as server:
            self.assertEqual(self.follow(server)[0].returncode, 3)

    def test_a_room_that_is_over_has_nothing_to_follow(self):
        with StreamServer(3, answers=[(204, {}, b"")]) as server:
            done, _ = self.follow(server)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("the room is over", done.stderr)


if __name__ == "__main__":
    unittest.main()
