"""How the server ends: SIGTERM lets people finish, SIGINT and a second signal don't wait."""

import asyncio
import datetime
import signal
import time
import unittest

import websockets

from limits import LimitedAsyncTest
from roost import Roost, get, token
from signaller import hear, say


async def closed(ws):
    """The reason in `closed`, and the code of the close behind it."""
    reason = (await hear(ws, "closed"))["reason"]
    await asyncio.wait_for(ws.wait_closed(), 5)
    return reason, ws.close_code


class DrainTest(LimitedAsyncTest):
    async def test_an_empty_server_ends_at_once(self):
        # Often, as a signal right behind "ready" is easily lost.
        for _ in range(20):
            with Roost("--drain.seconds=60") as roost:
                roost.signal()
                self.assertEqual(await roost.ended(3), 0)

    async def test_participants_stay_and_no_other_joins_while_it_drains(self):
        with Roost("--drain.seconds=30") as roost:
            async with roost.joined("ada") as ada, roost.joined("bob") as bob:
                begin = time.time()
                roost.signal()
                for ws in (ada, bob):
                    deadline = datetime.datetime.fromisoformat((await hear(ws, "draining"))["deadline"])
                    self.assertAlmostEqual(deadline.timestamp(), begin + 30, delta=2)
                for base in (roost.public, roost.admin):
                    answer = get(f"http://{base}/readyz")
                    self.assertEqual((answer.status, answer.body), (503, ""))
                    self.assertGreater(int(answer.headers["retry-after"]), 0)
                    self.assertEqual(get(f"http://{base}/healthz").status, 200)
                self.assertIn("\nroost_draining 1\n", roost.get_admin("/metrics").body)

                with self.assertRaises(websockets.InvalidStatusCode) as refused:
                    async with roost.connect(extra_headers={"Authorization": f"Bearer {token('eve')}"}):
                        pass
                self.assertEqual(refused.exception.status_code, 503)
                self.assertGreater(int(refused.exception.headers["retry-after"]), 0)
                async with roost.connect() as eve:
                    await say(eve, type="auth", token=token("eve"))
                    error = await hear(eve, "error")
                    self.assertEqual((error["code"], error["retry"]), ("unavailable", "after"))
                    await asyncio.wait_for(eve.wait_closed(), 5)
                    self.assertEqual(eve.close_code, 4005)

                for ws in (ada, bob):
                    await say(ws, type="ping", id=7)
                    self.assertEqual((await hear(ws, "pong"))["id"], 7)
                await say(ada, type="leave")
                self.assertEqual(await closed(ada), ("left", 4000))
                event = (await hear(bob, "event"))["event"]
                self.assertEqual((event["type"], event["participant"]["identity"]), ("participant.left", "ada"))
                await say(bob, type="leave")
                self.assertEqual(await closed(bob), ("left", 4000))
                # Empty: it ends long before its time.
                self.assertEqual(await roost.ended(5), 0)

    async def test_at_the_deadline_every_session_is_closed_with_its_reason(self):
        with Roost("--drain.seconds=1") as roost:
            async with roost.joined("ada") as ada, roost.joined("bob", "elsewhere") as bob:
                begin = time.monotonic()
                roost.signal()
                for ws in (ada, bob):
                    self.assertEqual(await closed(ws), ("serverShutdown", 4016))
                self.assertGreaterEqual(time.monotonic() - begin, 1)
                self.assertEqual(await roost.ended(5), 0)

    async def test_a_second_signal_ends_it_at_once_and_closes_every_session_with_its_reason(self):
        with Roost("--drain.seconds=60") as roost:
            async with roost.joined("ada") as ada:
                roost.signal()
                await hear(ada, "draining")
                roost.signal()
                self.assertEqual(await closed(ada), ("serverShutdown", 4016))
                self.assertEqual(await roost.ended(5), 0)

    async def test_an_interrupt_does_not_wait(self):
        with Roost("--drain.seconds=60") as roost:
            async with roost.joined("ada") as ada:
                roost.signal(signal.SIGINT)
                self.assertEqual(await closed(ada), ("serverShutdown", 4016))
                self.assertEqual(await roost.ended(5), 0)

    async def test_a_client_that_does_not_read_delays_the_end_by_moments_alone(self):
        with Roost("--drain.seconds=1") as roost:
            async with roost.joined("ada") as ada:
                # Nothing is read any more, so the server's close has no answer.
                ada.transport.pause_reading()
                roost.signal()
                self.assertEqual(await roost.ended(8), 0)


if __name__ == "__main__":
    unittest.main()
