"""Sessions of the running server that outlive their sockets: by hand, and under fifty cuts at random points."""

import asyncio
import base64
import contextlib
import json
import os
import random
import sys
import unittest

import websockets

from limits import LimitedAsyncTest
from roost import HERE, Roost, token
from signaller import connect, hear, say

sys.path.append(os.path.join(HERE, "../Browsers"))
from harness.cutter import Cutter  # noqa: E402 (shared with the browser tests)

BROKEN = (OSError, websockets.WebSocketException, EOFError, asyncio.TimeoutError)


async def refused(ws):
    """The error's code, and the code of the close behind it."""
    error = await hear(ws, "error")
    await asyncio.wait_for(ws.wait_closed(), 5)
    return error["code"], ws.close_code


class Client:
    """A client that resumes for as long as it is asked to, and says each request until it is answered."""

    def __init__(self, identity, port):
        self.identity = identity
        self._origin = f"http://127.0.0.1:{port}"
        self.events = []  # as they came, after `joined`
        self.data = []
        self.first = None  # `joined`
        self.joins = self.resumptions = self.attempts = 0
        self._token = None
        self.last_event = 0
        self._next = 1
        self._waiting = {}  # id → (message, future)
        self._ws = None
        self._task = None

    async def __aenter__(self):
        self._ready = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run())
        await asyncio.wait_for(self._ready, 30)
        return self

    async def __aexit__(self, *_):
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self):
        try:
            while True:
                self.attempts += 1
                with contextlib.suppress(*BROKEN):
                    async with connect(self._origin, open_timeout=5, close_timeout=0.1) as ws:
                        await self._serve(ws)
                self._ws = None
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            for _, future in self._waiting.values():
                if not future.done():
                    future.set_exception(RuntimeError(f"over: {error!r}"))
            raise

    async def _serve(self, ws):
        if self._token is None:
            await say(ws, type="auth", token=token(self.identity, canUpdateOwnMetadata=True))
        else:
            await say(ws, type="resume", resumeToken=self._token, after=self.last_event)
        async for text in ws:
            message = json.loads(text)
            kind = message["type"]
            if kind == "joined":
                self.joins += 1
                self.first = self.first or message
                self.last_event = message["lastEvent"]
                self._token = message["resumeToken"]
                self._ws = ws
                if not self._ready.done():
                    self._ready.set_result(None)
            elif kind == "resumed":
                self.resumptions += 1
                self._token = message["resumeToken"]
                self._ws = ws
                for request, _ in list(self._waiting.values()):
                    await say(ws, **request)
            elif kind == "event":
                event = message["event"]
                self.last_event = event["id"]
                self.events.append(event)
            elif kind == "data":
                self.data.append(base64.b64decode(message["payload"]).decode())
            elif kind == "error" and "id" not in message:
                raise RuntimeError(f"{self.identity}: {message}")
            elif message.get("id") in self._waiting:
                self._waiting.pop(message["id"])[1].set_result(message)

    async def ask(self, **message):
        """The answer to a request, on whichever socket it comes."""
        number, self._next = self._next, self._next + 1
        message = message | {"id": number}
        future = asyncio.get_running_loop().create_future()
        self._waiting[number] = (message, future)
        if self._ws:
            with contextlib.suppress(*BROKEN):
                await say(self._ws, **message)
        return await asyncio.wait_for(future, 60)


class ResumeTest(LimitedAsyncTest):
    seconds = 180

    async def test_what_was_missed_comes_in_order_and_the_session_is_the_same(self):
        with Roost() as roost:
            async with roost.joined("bob") as bob:
                async with roost.connect() as ada:
                    await say(ada, type="auth", token=token("ada"))
                    joined = await hear(ada, "joined")
                    self.assertGreaterEqual(len(joined["resumeToken"]), 22)
                    ada.transport.abort()
                async with roost.joined("eve"):
                    pass
                await hear(bob, "event")
                async with roost.connect() as back:
                    await say(back, type="resume", resumeToken=joined["resumeToken"],
                              after=joined["lastEvent"], id="r")
                    resumed = await hear(back, "resumed")
                    self.assertEqual(resumed["id"], "r")
                    self.assertEqual((resumed["slots"], resumed["tracks"]), ([], []))
                    event = (await hear(back, "event"))["event"]
                    self.assertEqual((event["id"], event["type"], event["participant"]["identity"]),
                                     (joined["lastEvent"] + 1, "participant.joined", "eve"))
                    self.assertEqual(resumed["lastEvent"], event["id"])
                    self.assertNotEqual(resumed["resumeToken"], joined["resumeToken"])
                    # It is the same participant: no one came, no one went.
                    await say(back, type="data", payload="aGk=", id=1)
                    await hear(back, "ok")
                    self.assertEqual((await hear(bob, "data"))["from"], joined["participant"]["id"])

    async def test_a_new_socket_replaces_the_old_and_a_token_is_good_once(self):
        with Roost() as roost:
            async with roost.joined("ada") as ada, roost.connect() as back, roost.connect() as thief:
                await say(back, type="resume", resumeToken=ada.joined["resumeToken"], after=2)
                resumed = await hear(back, "resumed")
                await asyncio.wait_for(ada.wait_closed(), 5)
                self.assertEqual((ada.close_code, ada.close_reason), (4006, "replaced"))
                await say(thief, type="resume", resumeToken=ada.joined["resumeToken"], after=2)
                self.assertEqual(await refused(thief), ("session-gone", 4007))
                await say(back, type="ping")
                await hear(back, "pong")
                self.assertNotIn(resumed["resumeToken"], roost.log())

    async def test_after_the_grace_the_session_is_gone_and_others_know(self):
        with Roost("--reconnect.seconds=1") as roost:
            async with roost.joined("bob") as bob, roost.joined("ada") as ada:
                await hear(bob, "event")
                ada.transport.abort()
                left = (await hear(bob, "event"))["event"]
                self.assertEqual((left["type"], left["reason"]), ("participant.left", "connectionLost"))
                async with roost.connect() as late:
                    await say(late, type="resume", resumeToken=ada.joined["resumeToken"], after=3)
                    self.assertEqual(await refused(late), ("session-gone", 4007))

    async def test_while_the_server_drains_those_inside_come_back(self):
        with Roost("--drain.seconds=20") as roost:
            async with roost.joined("ada") as ada:
                roost.signal()
                await hear(ada, "draining")
                ada.transport.abort()
                async with roost.connect() as back:
                    await say(back, type="resume", resumeToken=ada.joined["resumeToken"], after=2)
                    await hear(back, "resumed")
                    await hear(back, "draining")
                    await say(back, type="leave")
                    await hear(back, "closed")
            self.assertEqual(await roost.ended(5), 0)

    async def test_fifty_cuts_under_traffic_lose_no_event_and_do_nothing_twice(self):
        chance = random.Random(11)
        with Roost() as roost:
            host, port = roost.public.split(":")
            # From within the handshake to some dozens of messages.
            async with Cutter(host, int(port), lambda: int(150 * 2 ** (7 * chance.random()))) as cutter:
                await self._traffic(chance, cutter, int(port))

    async def _traffic(self, chance, cutter, port):
        async with Client("witness", port) as witness, Client("ada", cutter.port) as ada:
            is_on = True

            async def people():
                """Others who come, change and go."""
                number = 0
                while is_on:
                    number += 1
                    async with Client(f"guest {number}", port) as guest:
                        await guest.ask(type="update", name=f"name {number}")
                        await guest.ask(type="data", payload=base64.b64encode(b"%d" % number).decode())
                        await guest.ask(type="leave")

            async def ada_acts():
                """Requests of a client that is cut off: each has to be done once."""
                done = 0
                while is_on:
                    done += 1
                    answer = await ada.ask(type="update", name=f"ada {done}")
                    self.assertEqual(answer["type"], "ok", answer)
                    answer = await ada.ask(type="data", payload=base64.b64encode(b"ada %d" % done).decode(),
                                           destinations=["witness"])
                    self.assertEqual(answer["type"], "ok", answer)
                    # Below what a participant may ask in a second.
                    await asyncio.sleep(0.12 * chance.random())
                return done

            tasks = [asyncio.create_task(people()), asyncio.create_task(ada_acts())]
            try:
                async with asyncio.timeout(60):
                    while cutter.cuts < 50 or ada.resumptions < 30:
                        for task in tasks:
                            if task.done():
                                task.result()
                        await asyncio.sleep(0.01)
                cutter.budget = None
                cutter.cut()
                is_on = False
                _, done = await asyncio.wait_for(asyncio.gather(*tasks), 30)
            finally:
                for task in tasks:
                    task.cancel()
            await witness.ask(type="update", name="the end")
            async with asyncio.timeout(10):
                while not (ada.events and ada.events[-1]["participant"].get("name") == "the end"):
                    await asyncio.sleep(0.01)

            print(f"\n{cutter.cuts} cuts, {ada.resumptions} resumptions, {ada.attempts} sockets, "
                  f"{len(ada.events)} events, {done} requests of each kind", flush=True)
            self.assertEqual(ada.joins, 1)
            begin = ada.first["lastEvent"]
            self.assertEqual([event["id"] for event in ada.events],
                             list(range(begin + 1, begin + 1 + len(ada.events))))
            seen = {event["id"]: event for event in witness.events}
            for event in ada.events:
                self.assertEqual(event, seen[event["id"]])
            names = [event["participant"]["name"] for event in witness.events
                     if event["type"] == "participant.updated" and event["participant"]["identity"] == "ada"]
            self.assertEqual(names, [f"ada {number}" for number in range(1, done + 1)])
            self.assertEqual([text for text in witness.data if text.startswith("ada ")],
                             [f"ada {number}" for number in range(1, done + 1)])
            # Some may be lost with a socket; none comes twice, none late.
            numbers = [int(text) for text in ada.data]
            self.assertEqual(numbers, sorted(set(numbers)))


if __name__ == "__main__":
    unittest.main()
