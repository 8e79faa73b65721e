"""What the running server does with its media options: the addresses that it offers, and where its workers run."""

import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import unittest

from limits import LimitedAsyncTest, LimitedTest
from roost import BINARY, Roost
from signaller import hear, say

LOAD = os.path.join(os.path.dirname(BINARY), "roost-load")

OFFER = (pathlib.Path(__file__).parent.parent / "Fixtures/sdp/chromium-156-audio-video-sendrecv-offer.sdp").read_text()


async def candidates(roost):
    """The answer's, as (address, port, type), each once."""
    async with roost.joined("ada") as ws:
        await say(ws, type="offer", id="1", sdp=OFFER)
        answer = await hear(ws, "answer")
    found = re.findall(r"^a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ (\S+)", answer["sdp"], re.MULTILINE | re.IGNORECASE)
    return {(address, int(port), kind) for address, port, kind in found}


class AddressTest(LimitedAsyncTest):
    async def test_a_nats_outer_addresses_are_offered_in_the_place_of_the_interfaces_own(self):
        with Roost("--media.advertise.ipv4=203.0.113.7,198.51.100.9",
                   "--media.advertise.ipv6=2001:db8::7") as roost:
            self.assertEqual(await candidates(roost), {
                ("203.0.113.7", roost.media_port, "host"), ("198.51.100.9", roost.media_port, "host"),
                ("2001:db8::7", roost.media_port, "host")})

    async def test_the_family_that_is_not_configured_is_as_the_interfaces_have_it(self):
        with Roost("--media.advertise.ipv4=203.0.113.7") as roost:
            found = await candidates(roost)
        with Roost() as roost:
            own = {address for address, _, _ in await candidates(roost)}
        self.assertEqual({address for address, _, _ in found if "." in address}, {"203.0.113.7"})
        self.assertEqual({address for address, _, _ in found if ":" in address}, {one for one in own if ":" in one})
        self.assertIn("127.0.0.1", own)


    async def test_a_family_that_is_switched_off_is_not_announced(self):
        with Roost("--media.advertise.ipv6=none") as roost:
            self.assertFalse([address for address, _, _ in await candidates(roost) if ":" in address])
        with Roost("--media.advertise.ipv4=none", "--media.advertise.ipv6=2001:db8::7") as roost:
            self.assertEqual(await candidates(roost), {("2001:db8::7", roost.media_port, "host")})

    async def test_media_is_bound_to_the_given_addresses_and_those_are_announced(self):
        with Roost("--media.addresses=127.0.0.3,127.0.0.4,::1") as roost:
            self.assertEqual(bound(roost.media_port), {"127.0.0.3", "127.0.0.4", "::1"})
            self.assertLessEqual({address for address, _, _ in await candidates(roost)}, {"127.0.0.3", "127.0.0.4", "::1"})
            for address in ("127.0.0.3", "127.0.0.4"):
                done = subprocess.run(
                    [LOAD, "--url", f"ws://{roost.public}", "--json", "--publishers", "2", "--subscribers", "3",
                     "--video", "500k", "--duration", "2", "--media", f"{address}:{roost.media_port}"],
                    capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                report = json.loads(done.stdout)
                self.assertEqual(report["never"], 0, report)
                self.assertGreater(report["arrivedFirstTime"], 100, report)

    def test_what_cannot_be_meant_stops_the_start_and_says_why(self):
        for options, words in [
                (["--media.addresses=203.0.113.77"], ["203.0.113.77", "media.addresses"]),
                (["--media.addresses=127.0.0.1", "--media.advertise.ipv6=2001:db8::7"], ["media.advertise.ipv6"]),
                (["--media.advertise.ipv4=none", "--media.advertise.ipv6=none"], ["media.advertise"])]:
            done = subprocess.run([BINARY, "serve", "--dev", "--http.port=0", "--admin.port=0", "--media.port=17882", *options],
                                  capture_output=True, text=True, timeout=20)
            self.assertNotEqual(done.returncode, 0, options)
            for word in words:
                self.assertIn(word, done.stderr + done.stdout)


def bound(port):
    """The addresses to which UDP sockets with that port are bound, as the kernel lists them."""
    found = set()
    for family, name, words in ((socket.AF_INET, "udp", 1), (socket.AF_INET6, "udp6", 4)):
        for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            address, number = line.split()[1].split(":")
            if int(number, 16) != port:
                continue
            packed = b"".join(struct.pack("=I", int(address[8 * word:8 * word + 8], 16)) for word in range(words))
            text = socket.inet_ntop(family, packed)
            found.add(text.removeprefix("::ffff:"))
    return found


class WorkerTest(LimitedTest):
    def workers(self, roost):
        """By name, the processors on which each worker's thread may run."""
        allowed = {}
        for task in pathlib.Path(f"/proc/{roost.pid}/task").iterdir():
            status = (task / "status").read_text()
            name = re.search(r"^Name:\s*(.*)$", status, re.MULTILINE)[1]
            if name.startswith("roost-worker-"):
                allowed[name] = re.search(r"^Cpus_allowed_list:\s*(.*)$", status, re.MULTILINE)[1]
        return allowed

    def test_each_worker_has_a_processor_of_its_own_while_there_are_enough(self):
        processors = len(os.sched_getaffinity(0))
        if processors < 2:
            self.skipTest("one processor")
        with Roost("--media.workers=2") as roost:
            allowed = self.workers(roost)
        self.assertEqual(len(allowed), 2)
        self.assertEqual(len(set(allowed.values())), 2)
        self.assertTrue(all(text.isdigit() for text in allowed.values()), allowed)

    def niceness(self, roost):
        """(name, niceness) of each thread; the nineteenth field of its stat."""
        found = []
        for task in pathlib.Path(f"/proc/{roost.pid}/task").iterdir():
            name, rest = re.search(r"\((.*)\) (.*)$", (task / "stat").read_text(), re.DOTALL).groups()
            found.append((name, int(rest.split()[16])))
        return found

    def scraped(self, roost):
        return sorted(re.findall(r"^roost_worker_niceness{worker=\"(\d)\"} (\S+)$", roost.get_admin("/metrics").body,
                                 re.MULTILINE))

    @unittest.skipUnless(os.geteuid() == 0, "only root may go first")
    def test_workers_go_before_all_other_threads(self):
        usual = os.getpriority(os.PRIO_PROCESS, 0)
        with Roost() as roost:
            found = self.niceness(roost)
            workers = [value for name, value in found if name.startswith("roost-worker-")]
            others = [value for name, value in found if not name.startswith("roost-worker-")]
            self.assertEqual(workers, [max(usual - 10, -20)] * 2)
            # The runtime moves threads of its own a little.
            self.assertGreater(min(others), workers[0])
            self.assertEqual(self.scraped(roost), [("0", str(max(usual - 10, -20))), ("1", str(max(usual - 10, -20)))])
            self.assertNotIn("could not raise their priority", roost.log())

    @unittest.skipUnless(os.geteuid() == 0, "only root can drop the capability")
    def test_where_that_is_refused_the_server_runs_and_says_so(self):
        usual = os.getpriority(os.PRIO_PROCESS, 0)
        with Roost(before=("prlimit", "--nice=0", "setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice")) as roost:
            self.assertEqual({value for _, value in self.niceness(roost)}, {usual})
            self.assertEqual(self.scraped(roost), [("0", str(usual)), ("1", str(usual))])
            self.assertIn("could not raise their priority", roost.log())

    def test_with_more_workers_than_processors_none_is_pinned(self):
        count = len(os.sched_getaffinity(0)) + 1
        with Roost(f"--media.workers={count}") as roost:
            allowed = self.workers(roost)
        self.assertEqual(len(allowed), count)
        self.assertFalse(any(text.isdigit() for text in allowed.values()), allowed)


if __name__ == "__main__":
    unittest.main()
