"""roost-load against the running server: what it counts, and that it sees what a bad network does."""

import json
import os
import selectors
import socket
import subprocess
import threading
import unittest

from limits import LimitedTest
from roost import BINARY, Roost

LOAD = os.path.join(os.path.dirname(BINARY), "roost-load")


def run(roost, *arguments, seconds=60):
    """Exit status, the report, and what it said beside it."""
    done = subprocess.run([LOAD, "--url", f"ws://{roost.public}", "--json", *arguments], capture_output=True,
                          text=True, timeout=seconds)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


class BadNetwork:
    """A UDP proxy: of the media on its way to clients every hundredth packet is lost, two of one stream change
    places once, and one byte is flipped once."""

    def __init__(self, server_port):
        self._server = ("127.0.0.1", server_port)
        self._front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._front.bind(("127.0.0.1", 0))
        self._front.setblocking(False)
        self._front.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.address = "%s:%d" % self._front.getsockname()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._front, selectors.EVENT_READ, None)
        self._backs = {}
        self._held = None
        self._stopped = False
        self.media = self.lost = self.swapped = self.flipped = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopped = True
        self._thread.join()
        for entry in list(self._selector.get_map().values()):
            entry.fileobj.close()
        self._selector.close()

    def _run(self):
        while not self._stopped:
            for key, _ in self._selector.select(0.1):
                try:
                    while True:
                        datagram, sender = key.fileobj.recvfrom(2048)
                        if key.data is None:
                            self._back(sender).sendto(datagram, self._server)
                        else:
                            self._to_client(datagram, key.data)
                except (BlockingIOError, ConnectionRefusedError):
                    pass

    def _back(self, client):
        if client not in self._backs:
            back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            back.bind(("127.0.0.1", 0))
            back.setblocking(False)
            back.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            self._backs[client] = back
            self._selector.register(back, selectors.EVENT_READ, client)
        return self._backs[client]

    def _to_client(self, datagram, client):
        is_media = 128 <= datagram[0] < 192 and not 192 <= datagram[1] <= 223
        if not is_media:
            self._front.sendto(datagram, client)
            return
        self.media += 1
        stream = (client, datagram[8:12])
        if self._held and self._held[0] == stream:
            self._front.sendto(datagram, client)
            self._front.sendto(self._held[1], client)
            self._held = None
            self.swapped += 1
        elif self.media % 100 == 0:
            self.lost += 1
        elif self.media > 1050 and self.swapped == 0 and self._held is None:
            self._held = (stream, datagram)
        elif self.media > 1250 and self.flipped == 0 and self._held is None:
            self._front.sendto(datagram[:-20] + bytes([datagram[-20] ^ 1]) + datagram[-19:], client)
            self.flipped = 1
        else:
            self._front.sendto(datagram, client)


class LoadTest(LimitedTest):
    seconds = 180

    def test_on_a_good_network_everything_arrives_once_and_in_order(self):
        with Roost() as roost:
            status, report, said = run(roost, "--publishers", "2", "--subscribers", "3", "--rooms", "2", "--mesh",
                                       "--video", "500k", "--audio", "--duration", "3")
        self.assertEqual(status, 0, (report, said))
        # Two publishers a room to three subscribers, and to each other.
        self.assertEqual(report["expected"], report["sent"] * 4, report)
        self.assertEqual(report["arrivedFirstTime"] + report["recovered"], report["expected"], report)
        for name in ("never", "duplicates", "reordered", "corrupt", "violations", "tracksNeverSeen"):
            self.assertEqual(report[name], 0, (name, report))
        self.assertEqual((report["joined"], report["participants"]), (10, 10))
        self.assertGreater(report["reflector"]["p99"], 0)
        self.assertGreaterEqual(report["latency"]["p99"], report["latency"]["p50"])
        self.assertIn("measuring 1 of 3 s, 10 of 10 in", said)

    def bad_network(self, *arguments):
        with Roost() as roost, BadNetwork(roost.media_port) as network:
            status, report, said = run(roost, "--media", network.address, "--subscribers", "3", "--video", "900k",
                                       "--duration", "6", *arguments)
        self.assertEqual((network.swapped, network.flipped), (1, 1))
        self.assertEqual(status, 0, (report, said))
        self.assertEqual(report["corrupt"], 1, report)
        self.assertEqual(report["duplicates"], 0, report)
        return report

    def test_without_nack_every_loss_is_counted(self):
        report = self.bad_network("--nack", "off")
        self.assertAlmostEqual(report["never"] / report["expected"], 0.01, delta=0.003)
        self.assertEqual((report["reordered"], report["recovered"]), (1, 0), report)

    def test_with_nack_every_loss_is_repaired(self):
        report = self.bad_network("--nack", "on")
        self.assertEqual(report["never"], 0, report)
        self.assertGreater(report["recovered"] / report["expected"], 0.007, report)

    def test_a_wrong_key_is_told_and_ends_with_1(self):
        with Roost() as roost:
            status, report, _ = run(roost, "--secret", "another", "--duration", "1", "--quiet")
        self.assertEqual(status, 1)
        self.assertEqual(report["joined"], 0)
        self.assertTrue(all(reason.startswith("status 401") for reason in report["failures"]), report)
        self.assertEqual(sum(report["failures"].values()), 2)

    def test_a_server_that_is_not_there_is_reported(self):
        with Roost() as roost:
            address = roost.public
        done = subprocess.run([LOAD, "--url", f"http://{address}", "--duration", "1", "--quiet"],
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 1)
        self.assertIn("participants in      0 of 2", done.stdout)

    def test_a_command_line_that_cannot_be_followed_ends_with_2(self):
        for arguments, word in ((["--video", "7"], "30k"), (["--publishers", "x"], "0 to 1000"), (["--rate"], "--rate"),
                                (["--video"], "needs a value"), (["--nack", "maybe"], "on or off"),
                                (["--publishers", "33"], "32"), (["--publishers", "0", "--subscribers", "0"], "nothing to do")):
            with self.subTest(arguments):
                done = subprocess.run([LOAD, *arguments], capture_output=True, text=True, timeout=10)
                self.assertEqual(done.returncode, 2)
                self.assertIn(word, done.stderr)

    def test_help_teaches(self):
        done = subprocess.run([LOAD, "--help"], capture_output=True, text=True, timeout=10)
        self.assertEqual(done.returncode, 0)
        self.assertIn("roost-load --publishers 4 --subscribers 40", done.stdout)


if __name__ == "__main__":
    unittest.main()
