"""What the running server does with its media options: the addresses that it offers, and where its workers run."""

import os
import pathlib
import re
import unittest

from roost import Roost, hear, say

OFFER = (pathlib.Path(__file__).parent.parent / "Fixtures/sdp/chromium-156-audio-video-sendrecv-offer.sdp").read_text()


async def candidates(roost):
    """The answer's, as (address, port, type), each once."""
    async with roost.joined("ada") as ws:
        await say(ws, type="offer", id="1", sdp=OFFER)
        answer = await hear(ws, "answer")
    found = re.findall(r"^a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ (\S+)", answer["sdp"], re.MULTILINE | re.IGNORECASE)
    return {(address, int(port), kind) for address, port, kind in found}


class AddressTest(unittest.IsolatedAsyncioTestCase):
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


class WorkerTest(unittest.TestCase):
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
