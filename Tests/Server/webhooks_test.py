"""Webhooks of the server as a process: to receivers that fail, hang, redirect and restart."""

import asyncio
import collections
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import cli_test
from limits import LimitedAsyncTest, LimitedTest
from metrics_test import scrape, total
from receiver import Hanging, Receiver
from roost import BINARY, Roost, ask, token

ADMIN = {"roomCreate": True, "roomList": True, "roomAdmin": True}


def admin():
    return token("desk", room="*", **ADMIN)


def make(roost, name, updates=0):
    answers = [ask(roost, "POST", "/v1/rooms", admin(), {"name": name})]
    answers += [ask(roost, "PATCH", f"/v1/rooms/{name}", admin(), {"metadata": f"{number}"}) for number in range(updates)]
    assert all(each.status in (200, 201) for each in answers), [each.body for each in answers if each.status > 201][:1]


def until(holds, seconds=15):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.05)


def disorder(notices):
    """How many came before one that belongs before them, and how many of each room came at all."""
    last, wrong = collections.Counter(), 0
    for notice in notices:
        event = notice.json["event"]
        wrong += event["id"] > last[event["roomId"]] + 1
        last[event["roomId"]] = max(last[event["roomId"]], event["id"])
    return wrong, sum(last.values())


class EndTest(LimitedAsyncTest):
    async def test_the_end_of_the_server_is_said(self):
        with Receiver() as receiver, Roost(f"--webhooks.urls={receiver.url}") as roost:
            async with roost.joined("ada"):
                roost.signal(signal.SIGINT)
                await roost.ended(15)
            kinds = [each.json["event"]["type"] for each in receiver.taken()]
            self.assertEqual(kinds[:3], ["room.started", "participant.joined", "participant.left"])
            self.assertEqual(receiver.taken()[2].json["event"]["reason"], "serverShutdown")


@unittest.skipUnless(os.geteuid() == 0, "has a name server of its own")
class UnresolvedNameTest(LimitedAsyncTest):
    """With a name server that never answers, in a mount namespace of its own."""

    async def test_a_name_that_is_not_resolved_delays_no_other_receiver_and_no_end(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server, Receiver() as good:
            server.bind(("127.0.0.77", 53))
            pathlib.Path(folder, "resolv").write_text("nameserver 127.0.0.77\noptions timeout:5 attempts:2\n")
            pathlib.Path(folder, "switch").write_text("hosts: files dns\n")
            mounts = " && ".join(f'mount --bind {folder}/{name} "$(readlink -f /etc/{place})"'
                                 for name, place in (("resolv", "resolv.conf"), ("switch", "nsswitch.conf")))
            probe = subprocess.run(["unshare", "-m", "sh", "-c", mounts], capture_output=True, text=True, timeout=10)
            if probe.returncode:
                self.skipTest(f"no mounts of its own: {probe.stderr}")
            with Roost(f"--webhooks.urls=http://unknown.roost.test/,{good.url}", before=["unshare", "-m", "sh", "-c", mounts + ' && exec "$@"', "sh"],
                       ) as roost:
                slowest = await asyncio.to_thread(self.watch, roost, good)
                self.assertTrue(server.recv(512, socket.MSG_DONTWAIT), "the name server is another")
                print(f"\nwebhooks: beside a name that isn't resolved the slowest notice took {slowest * 1000:.0f} ms")
                self.assertLess(slowest, 2)
                now = scrape(roost)
                self.assertEqual(total(now, "roost_webhook_failures_total", webhook="2"), 0)
                self.assertGreaterEqual(total(now, "roost_webhook_failures_total", webhook="1"), 1)
                roost.signal(signal.SIGINT)
                await roost.ended(12)

    @staticmethod
    def watch(roost, good):
        """The longest from an event to its notice, in 14 s: twice as long as a try takes, and until the next one is well under way."""
        began, slowest, count = time.monotonic(), 0, 1
        make(roost, "demo")
        while time.monotonic() < began + 14:
            asked = time.monotonic()
            good.wait(count)
            slowest = max(slowest, time.monotonic() - asked)
            time.sleep(0.1)
            assert ask(roost, "PATCH", "/v1/rooms/demo", admin(), {"metadata": f"{count}"}).status == 200
            count += 1
        return slowest


class AuthorityTest(LimitedTest):
    """Receivers over TLS, with certificates of an authority that the system doesn't know."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        cli_test.TLSTest.make(self.folder)

    def receiver(self, certificate):
        return self.enterContext(Receiver(tls=(f"{self.folder}/{certificate}.pem", f"{self.folder}/key.pem")))

    def refused(self, roost, receiver, webhook):
        """Nothing gets there, which is counted, and the log says why."""
        place = receiver.url.removesuffix("/hook")
        until(lambda: total(scrape(roost), "roost_webhook_failures_total", webhook=webhook) >= 2)
        said = [line for line in roost.log().splitlines() if "webhook does not get through" in line and place in line]
        self.assertEqual(len(said), 1, roost.log())
        self.assertRegex(said[0], "certificate|SSL")
        self.assertEqual(total(scrape(roost), "roost_webhook_notices_total", webhook=webhook, result="arrived"), 0)
        self.assertGreater(total(scrape(roost), "roost_webhook_waiting", webhook=webhook), 0)
        self.assertEqual(receiver.notices, [])

    def test_an_authority_of_the_configuration_vouches_for_a_receiver_under_its_own_name_alone(self):
        good, elsewhere = self.receiver("certificate"), self.receiver("elsewhere")
        with Roost(f"--webhooks.urls={good.url}#devkey,{elsewhere.url}#devkey", f"--webhooks.authorities={self.folder}/ca.pem") as roost:
            make(roost, "demo", 5)
            self.assertEqual(disorder(good.wait(6)), (0, 6))
            for notice in good.taken():
                self.assertEqual(notice.claims()["iss"], "devkey")
            self.refused(roost, elsewhere, "2")
            now = scrape(roost)
            self.assertEqual(total(now, "roost_webhook_failures_total", webhook="1"), 0)
            self.assertEqual(total(now, "roost_webhook_notices_total", webhook="1", result="arrived"), 6)

    def test_without_it_or_with_another_one_nothing_is_sent_there(self):
        receiver = self.receiver("certificate")
        for more in ([], [f"--webhooks.authorities={self.folder}/other.pem"]):
            with self.subTest(more), Roost(f"--webhooks.urls={receiver.url}", *more) as roost:
                make(roost, "demo")
                self.refused(roost, receiver, "1")

    def test_a_file_of_authorities_that_there_is_not_stops_the_start(self):
        done = subprocess.run([BINARY, "serve", "--dev", "--http.port=0", "--admin.port=0", "--webhooks.urls=https://127.0.0.1:9/",
                               f"--webhooks.authorities={self.folder}/none.pem"], capture_output=True, text=True, timeout=10)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("none.pem: cannot be read: no such file", done.stderr)


class WebhooksTest(LimitedTest):
    def test_a_receiver_that_fails_hangs_redirects_and_restarts_gets_all_in_order(self):
        plan = [500, 200, 302, 400, 200, 0, 503, 200, 404]
        with Receiver(plan) as receiver, Roost(f"--webhooks.urls={receiver.url}#devkey",
                                               "--limits.requestsPerAddress=100000") as roost:
            for name in ("a", "b", "c"):
                make(roost, name, 10)
            receiver.stop()
            for name in ("a", "b", "c"):
                make(roost, name, 10)
            receiver.start()
            deadline = time.monotonic() + 45
            while disorder(receiver.taken())[1] < 63:
                self.assertLess(time.monotonic(), deadline, disorder(receiver.taken()))
                time.sleep(0.1)
            wrong, arrived = disorder(receiver.taken())
            print(f"\nwebhooks: sent 63, received {len(receiver.taken())}, out of order {wrong}, lost {63 - arrived}")
            self.assertEqual((wrong, arrived), (0, 63))
            for notice in receiver.notices:
                claims = notice.claims()
                self.assertEqual((notice.path, claims["iss"]), ("/hook", "devkey"))
            now = scrape(roost)
            self.assertEqual(total(now, "roost_webhook_notices_total", webhook="1", result="arrived"), 63)
            self.assertEqual(total(now, "roost_webhook_waiting", webhook="1"), 0)
            self.assertGreaterEqual(total(now, "roost_webhook_failures_total", webhook="1"), 6)

    def test_one_that_is_stuck_delays_no_other(self):
        with Receiver([0] * 1000) as stuck, Receiver() as good, \
                Roost(f"--webhooks.urls={stuck.url}?token=abc,{good.url}") as roost:
            make(roost, "demo", 20)
            self.assertEqual(disorder(good.wait(21, 5)), (0, 21))
            deadline = time.monotonic() + 15
            while "webhook does not get through" not in roost.log():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)
            self.assertNotIn("abc", roost.log())
            now = scrape(roost)
            self.assertEqual(total(now, "roost_webhook_waiting", webhook="1"), 21)
            self.assertEqual(total(now, "roost_webhook_waiting", webhook="2"), 0)

    def test_one_that_hangs_is_given_up_after_five_seconds(self):
        """By the receiver's clock: one sends nothing, the other begins an answer and never comes to its end."""
        with Hanging() as silent, Hanging(trickles=True) as slow, Roost(f"--webhooks.urls={silent.url},{slow.url}") as roost:
            make(roost, "demo")
            waited = [each.waited.get(timeout=25) for each in (silent, slow)]
            print(f"\nwebhooks: given up after {waited[0]:.2f} s of silence, after {waited[1]:.2f} s of an answer without end")
            for seconds in waited:
                self.assertGreaterEqual(seconds, 4.5)
                self.assertLessEqual(seconds, 6.5)
            for webhook in ("1", "2"):
                until(lambda: total(scrape(roost), "roost_webhook_failures_total", webhook=webhook) >= 1)
                now = scrape(roost)
                self.assertEqual(total(now, "roost_webhook_notices_total", webhook=webhook, result="arrived"), 0)
                self.assertEqual(total(now, "roost_webhook_waiting", webhook=webhook), 1)

    def test_a_key_that_there_is_not_stops_the_start(self):
        done = subprocess.run([BINARY, "serve", "--dev", "--webhooks.urls=http://127.0.0.1:9/#other"], capture_output=True,
                              text=True, timeout=10)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("webhooks.urls", done.stderr)


if __name__ == "__main__":
    unittest.main()
