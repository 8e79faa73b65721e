"""The admin listener of the running server: what it tells, to whom, and under load."""

import asyncio
import itertools
import os
import re
import socket
import sqlite3
import tempfile
import threading
import time
import unittest

from prometheus_client.parser import text_string_to_metric_families

from limits import LimitedAsyncTest
from roost import HERE, Roost, ask, token
from signaller import hear, say



def scrape(roost):
    """{(name, ((label, value), …)): value}, by Prometheus's own parser."""
    answer = roost.get_admin("/metrics")
    assert answer.status == 200, answer.status
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = list(text_string_to_metric_families(answer.body))
    assert all(family.documentation and family.type in ("counter", "gauge", "histogram") for family in families)
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in families for sample in family.samples}


def total(samples, name, **labels):
    """The sum over all workers."""
    found = [value for (sample, its), value in samples.items()
             if sample == name and set(labels.items()) <= set(its)]
    assert found, f"no {name} with {labels}"
    return sum(found)


def documented():
    """The names of all metrics, as the operator's page has them."""
    with open(os.path.join(HERE, "../../docs/operating.md")) as file:
        return set(re.findall(r"`((?:roost|process)_[a-z_]+)[`{]", file.read()))


def listening(port):
    """The addresses on which this machine listens at `port`, as in /proc/net/tcp."""
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table) as file:
            for line in file.readlines()[1:]:
                local, _, state = line.split()[1:4]
                if state == "0A" and int(local.split(":")[1], 16) == port:
                    found.append(local.split(":")[0])
    return found


class MetricsTest(LimitedAsyncTest):
    async def test_metrics_are_on_loopback_only_and_never_on_the_public_port(self):
        with Roost() as roost:
            self.assertEqual(roost.get("/metrics").status, 404)
            self.assertEqual(listening(int(roost.admin.split(":")[1])), ["0100007F"])
            self.assertEqual(roost.get_admin("/").status, 404)
            self.assertEqual(roost.get_admin("/v1/rooms/demo/connect").status, 404)
            self.assertEqual(roost.get_admin("/metrics", method="POST").status, 405)
            # A name that a web page has pointed at this machine.
            self.assertEqual(roost.get_admin("/metrics", headers=[("Host", "evil.example")]).status, 421)

    async def test_without_addresses_there_is_no_admin_listener(self):
        with Roost("--admin.addresses=") as roost:
            self.assertIsNone(roost.admin)
            self.assertEqual(roost.get("/readyz").status, 200)

    async def test_health_is_without_content_on_both_ports(self):
        with Roost() as roost:
            for path in ("/healthz", "/readyz"):
                for answer in (roost.get(path), roost.get_admin(path), roost.get(path, method="HEAD")):
                    self.assertEqual((answer.status, answer.body), (200, ""))
                self.assertEqual(roost.get_admin(path, method="POST").status, 405)

    async def test_people_and_what_became_of_them_are_counted(self):
        with Roost("--rooms.departureTimeout=0", "--reconnect.seconds=1") as roost:
            async with roost.joined("ada") as ada, roost.joined("bob"), roost.joined("eve", "elsewhere"):
                now = scrape(roost)
                self.assertEqual((total(now, "roost_rooms"), total(now, "roost_participants")), (2, 3))
                self.assertEqual(total(now, "roost_http_websockets"), 3)
                kept = total(now, "roost_kept_events")
                self.assertGreaterEqual(kept, 5, "two rooms that started and three who came")
                self.assertGreater(total(now, "roost_kept_event_bytes"), kept * 100)
                self.assertEqual(total(now, "roost_worker_up"), 2)
                await say(ada, type="leave")
                await hear(ada, "closed")
            for _ in range(100):
                now = scrape(roost)
                if total(now, "roost_participants") == 0:
                    break
                await asyncio.sleep(0.05)
            self.assertEqual((total(now, "roost_rooms"), total(now, "roost_participants")), (0, 0))
            self.assertEqual(total(now, "roost_rooms_started_total"), 2)
            self.assertGreaterEqual(total(now, "roost_kept_events"), kept + 5, "three who left, two rooms that finished")
            self.assertEqual(total(now, "roost_sessions_started_total"), 3)
            self.assertEqual(total(now, "roost_sessions_ended_total", reason="left"), 1)
            self.assertEqual(total(now, "roost_sessions_ended_total", reason="connectionLost"), 2)
            self.assertEqual(total(now, "roost_http_responses_total", code="101"), 3)

    async def test_what_strangers_send_is_counted_by_reason(self):
        with Roost() as roost, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            stranger.connect(("127.0.0.1", roost.media_port))
            for _ in range(20):
                stranger.send(b"\x80" + bytes(99))
            for _ in range(10):
                stranger.send(b"\x00\x01\x00\x00\x21\x12\xa4\x42" + bytes(12))
            for _ in range(100):
                now = scrape(roost)
                if total(now, "roost_received_datagrams_total") == 30:
                    break
                time.sleep(0.02)
            self.assertEqual(total(now, "roost_received_datagrams_total"), 30)
            self.assertEqual(total(now, "roost_dropped_datagrams_total"), 30)
            self.assertGreaterEqual(total(now, "roost_dropped_datagrams_total", reason="unknownPath"), 20)

    async def test_what_waits_for_a_store_that_another_program_has_locked_is_counted_until_it_is_done(self):
        boss = token("boss", "*", roomCreate=True)

        def waiting(now):
            return [total(now, f"roost_{name}") for name in ("store_queue_depth", "store_queue_bytes", "journal_waiting_events",
                                                             "journal_waiting_bytes")]

        async def until(roost, holds, seconds=10):
            deadline = time.monotonic() + seconds
            while not holds(now := await asyncio.to_thread(scrape, roost)):
                self.assertLess(time.monotonic(), deadline, waiting(now))
                await asyncio.sleep(0.02)
            return now

        with tempfile.TemporaryDirectory(prefix="roost-data-") as folder, Roost(f"--storage.directory={folder}") as roost:
            self.assertEqual(ask(roost, "POST", "/v1/rooms", boss, {"name": "before"}).status, 201)
            before = await until(roost, lambda now: not any(waiting(now)))
            other = sqlite3.connect(f"{folder}/roost.db", isolation_level=None)
            try:
                # For less than the five seconds after which the server would say that it is busy.
                other.execute("BEGIN EXCLUSIVE")
                asked = [asyncio.create_task(asyncio.to_thread(ask, roost, "POST", "/v1/rooms", boss, {"name": f"during {number}"}))
                         for number in range(3)]
                # Whether all of them are in the store's queue, or some in the journal that writes into it, is the server's to say.
                locked = await until(roost, lambda now: waiting(now)[0] > 0 and waiting(now)[2] >= 3, 3)
                self.assertTrue(all(waiting(locked)), waiting(locked))
                print(f"locked: {waiting(locked)}")
                self.assertEqual(total(locked, "roost_store_writes_total"), total(before, "roost_store_writes_total"))
                self.assertFalse(any(each.done() for each in asked))
            finally:
                other.close()
            self.assertEqual([each.status for each in await asyncio.wait_for(asyncio.gather(*asked), 10)], [201] * 3)
            after = await until(roost, lambda now: not any(waiting(now)))
            self.assertGreater(total(after, "roost_store_writes_total"), total(before, "roost_store_writes_total"))
            self.assertEqual((total(after, "roost_store_up"), total(after, "roost_store_failures_total")), (1, 0))

    async def test_scraped_under_load_it_answers_soon_and_counts_on(self):
        with Roost() as roost:
            ends = time.monotonic() + 3
            sent = [0, 0]

            def flood(lane):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
                    stranger.connect(("127.0.0.1", roost.media_port))
                    while time.monotonic() < ends:
                        stranger.send(b"\x80" + bytes(199))
                        sent[lane] += 1

            async def come_and_go(lane):
                # Others each time: one that comes and goes without end is kept out for a while.
                for number in itertools.takewhile(lambda _: time.monotonic() < ends, itertools.count()):
                    async with roost.joined(f"somebody {lane} {number}") as ws:
                        await say(ws, type="ping", id=1)
                        await hear(ws, "pong")

            def scrape_on():
                before, slowest, count = {}, 0, 0
                while time.monotonic() < ends:
                    start = time.monotonic()
                    now = scrape(roost)
                    slowest, count = max(slowest, time.monotonic() - start), count + 1
                    for key, value in before.items():
                        if key[0].endswith("_total"):
                            self.assertGreaterEqual(now[key], value, key)
                    before = now
                return before, slowest, count

            floods = [threading.Thread(target=flood, args=[lane]) for lane in (0, 1)]
            for each in floods:
                each.start()
            loop = asyncio.get_running_loop()
            last, slowest, count = (await asyncio.gather(
                loop.run_in_executor(None, scrape_on), *(come_and_go(lane) for lane in range(4))))[0]
            for each in floods:
                each.join()
            self.assertGreaterEqual(count, 5)
            self.assertLess(slowest, 1.5)
            self.assertEqual(total(last, "roost_worker_up"), 2)
            self.assertGreater(total(last, "roost_received_datagrams_total"), 0)
            self.assertLessEqual(total(last, "roost_received_datagrams_total"), sum(sent))
            self.assertGreater(total(last, "roost_sessions_started_total"), 4)

    def test_the_page_of_the_operator_names_every_metric(self):
        with Roost("--webhooks.urls=http://127.0.0.1:1/", "--push.webhook=http://127.0.0.1:1/", "--http.url=http://127.0.0.1:1") as roost:
            names = set(re.findall(r"^# TYPE (\S+)", roost.get_admin("/metrics").body, re.MULTILINE))
        # Those without a sample at the start are on the page as well, and nothing is there that isn't.
        late = {"roost_http_requests_refused_total", "roost_http_websockets_closed_total", "roost_http_responses_total"}
        named = documented()
        self.assertEqual(names - named, set())
        self.assertEqual(named - names - late, set())


if __name__ == "__main__":
    unittest.main()
