"""Flight recorders of sessions that failed, as files of a running server: which there are, who may read them, and what is in them."""

import asyncio
import binascii
import contextlib
import hmac
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import time
import unittest

import websockets
from prometheus_client.parser import text_string_to_metric_families

from limits import LimitedAsyncTest, LimitedTest
from roost import BINARY, HERE, Roost
from signaller import hear, say

LOAD = os.path.join(os.path.dirname(BINARY), "roost-load")
# As docs/operating.md gives it.
NAME = re.compile(r"flight-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-[0-9a-f]{16}-[0-9a-f]{16}-(PA_\w+)-\d+-(\w+)\.pcapng")
SECRET = "secret"
OFFER = pathlib.Path(HERE, "../Fixtures/sdp/chromium-156-audio-video-sendrecv-offer.sdp").read_text(encoding="utf-8")


def metric(roost, name):
    """The sum of all samples of that name, by their labels."""
    families = text_string_to_metric_families(roost.get_admin("/metrics").body)
    return {tuple(sorted(sample.labels.items())): sample.value for family in families for sample in family.samples if sample.name == name}


def until(seconds, condition):
    """What the condition says once it holds; the test fails where it doesn't in time."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not so within {seconds} s")
        time.sleep(0.05)
    return found


def files(folder):
    return sorted(pathlib.Path(folder).glob("flight-*.pcapng"))


def read(path, port):
    """What tshark makes of it, by the command of docs/operating.md: one line a packet."""
    command = re.search(r"`tshark -r flight\.pcapng (-d udp\.port==)7882(,rtp)`",
                        pathlib.Path(HERE, "../../docs/operating.md").read_text(encoding="utf-8"))
    done = subprocess.run(["tshark", "-r", path, *f"{command[1]}{port}{command[2]}".split()], capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout.splitlines()


@contextlib.contextmanager
def vanishing(roost, room, publishers=1):
    """Participants who send and receive, as a process that can be killed."""
    child = subprocess.Popen([LOAD, "--url", f"ws://{roost.public}", "--room", room, "--publishers", str(publishers), "--mesh",
                              "--subscribers", "1", "--duration", "60", "--quiet"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def kill(roost, child, count):
    """Ends the process once so many of its participants have had media for a while; it says nothing more."""
    until(20, lambda: sum(metric(roost, "roost_connected_peers").values()) == count)
    time.sleep(1)
    child.send_signal(signal.SIGKILL)
    child.wait()


def words(sdp):
    """User name and password of checks."""
    return [re.search(rf"^a=ice-{name}:(\S+)", sdp, re.M)[1] for name in ("ufrag", "pwd")]


def check(local, remote, password):
    """A STUN request of the controlling side that nominates its pair (RFC 8489, 14; RFC 8445, 7.1)."""
    def attribute(kind, value):
        return struct.pack("!HH", kind, len(value)) + value + bytes(-len(value) % 4)

    def head(size):
        return struct.pack("!HHI", 1, size, 0x2112A442) + transaction

    transaction = secrets.token_bytes(12)
    body = (attribute(0x0006, f"{remote}:{local}".encode()) + attribute(0x0024, struct.pack("!I", 1_853_817_087))
            + attribute(0x802A, secrets.token_bytes(8)) + attribute(0x0025, b""))
    body += attribute(0x0008, hmac.digest(password.encode(), head(len(body) + 24) + body, "sha1"))
    return head(len(body) + 8) + body + attribute(0x8028, struct.pack("!I", binascii.crc32(head(len(body) + 8) + body) ^ 0x5354554E))


class FlightsTest(LimitedTest):
    seconds = 120

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="roost-flights-")
        self.addCleanup(shutil.rmtree, self.folder)

    def test_a_client_that_vanishes_leaves_a_file_that_tshark_reads_and_its_owner_alone(self):
        with Roost(f"--flights.directory={self.folder}", "--reconnect.seconds=1") as roost:
            with vanishing(roost, "gone") as child:
                kill(roost, child, 2)
            found = until(30, lambda: files(self.folder) if len(files(self.folder)) == 2 else None)
            until(5, lambda: metric(roost, "roost_flights_total").get((("result", "written"),)) == 2)
            self.assertEqual(sum(metric(roost, "roost_flight_files").values()), 2)
            log = roost.log()
        for path in found:
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
            self.assertLessEqual(path.stat().st_size, 2_000_000)
            name = NAME.fullmatch(path.name)
            self.assertTrue(name, path.name)
            self.assertEqual(name[2], "connectionLost")
            self.assertIn(name[1], log)
            lines = read(path, roost.media_port)
            for protocol in ("RTP", "RTCP", "STUN"):
                self.assertTrue([line for line in lines if f" {protocol} " in line], (protocol, lines[:5]))
            self.clean(path.read_bytes(), [SECRET, "gone-1", "load-0", "load-1"])
        # One sent what the other got.
        self.assertEqual(len({NAME.fullmatch(path.name)[1] for path in found}), 2)

    def clean(self, content, words):
        """Nothing of who they were or what opens their session is in it, and nothing of what they sent."""
        # The beginning of every token's header, and of keys as text.
        for word in [*words, "Bearer", "eyJhbGciOi", "BEGIN "]:
            self.assertNotIn(word.encode(), content)
        # What every payload of a synthetic participant begins with.
        self.assertNotIn(b"RoSt", content)

    def test_however_many_fail_there_are_no_more_files_than_may_be_and_a_later_process_keeps_to_that(self):
        few = [f"--flights.directory={self.folder}", "--flights.files=4", "--flights.bytes=4194304", "--reconnect.seconds=1"]
        with Roost(*few) as roost:
            for number in range(2):
                with vanishing(roost, f"gone{number}", publishers=2) as child:
                    kill(roost, child, 3)
                until(30, lambda: metric(roost, "roost_flights_total").get((("result", "written"),)) == 3 * (number + 1))
                self.assertEqual(len(files(self.folder)), min(4, 3 * (number + 1)))
            newest = files(self.folder)[-1].name
        with Roost(*few) as roost:
            self.assertEqual(sum(metric(roost, "roost_flight_files").values()), 4)
            with vanishing(roost, "gone2") as child:
                kill(roost, child, 2)
            until(30, lambda: metric(roost, "roost_flights_total").get((("result", "written"),)) == 2)
        names = [path.name for path in files(self.folder)]
        self.assertEqual(len(names), 4)
        self.assertLessEqual(sum(path.stat().st_size for path in files(self.folder)), 4 << 20)
        self.assertTrue([name for name in names if name > newest])
        self.assertEqual(sorted(os.listdir(self.folder)), names, "nothing unfinished is left")

    def test_who_leaves_as_it_should_leaves_no_file(self):
        with Roost(f"--flights.directory={self.folder}", "--reconnect.seconds=1") as roost:
            done = subprocess.run([LOAD, "--url", f"ws://{roost.public}", "--publishers", "1", "--subscribers", "1", "--duration", "1", "--quiet"],
                                  capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            until(10, lambda: sum(metric(roost, "roost_peers").values()) == 0)
            time.sleep(2)
            self.assertEqual(metric(roost, "roost_flights_total"),
                             {(("result", result),): 0 for result in ("written", "failed", "skipped")})
        self.assertEqual(os.listdir(self.folder), [])


class HandshakeTest(LimitedAsyncTest):
    seconds = 100

    async def test_a_handshake_that_never_comes_leaves_a_file_without_the_words_that_open_the_session(self):
        local, own = words(OFFER)
        with tempfile.TemporaryDirectory(prefix="roost-flights-") as folder, Roost(f"--flights.directory={folder}") as roost:
            async with roost.joined("ada") as ws:
                await say(ws, type="offer", id=1, sdp=OFFER)
                remote, password = words((await hear(ws, "answer"))["sdp"])
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as checks:
                    checks.settimeout(5)
                    checks.sendto(check(local, remote, password), ("127.0.0.1", roost.media_port))
                    self.assertEqual(checks.recv(2_048)[:2], b"\x01\x01", "a check that is good is answered")
                    found = await self.found(folder, ws, lambda: checks.sendto(
                        check(local, remote, password), ("127.0.0.1", roost.media_port)))
            (path,) = found
            self.assertEqual(NAME.fullmatch(path.name)[2], "neverConnected")
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
            lines, content = read(path, roost.media_port), path.read_bytes()
        self.assertTrue([line for line in lines if " STUN " in line], lines)
        self.assertFalse([line for line in lines if " RTP " in line], lines)
        for word in [local, own, remote, password, SECRET, "eyJhbGciOi"]:
            self.assertNotIn(word.encode(), content, word)

    async def found(self, folder, ws, says_checks):
        """The files, once there are any: a transport has half a minute to be connected."""
        deadline, number = time.monotonic() + 45, 1
        while not files(folder):
            self.assertLess(time.monotonic(), deadline, "no file has come")
            says_checks()
            # What a client has to say now and then, until the server has ended the session. What is answered is of no interest here.
            with contextlib.suppress(websockets.ConnectionClosed, asyncio.TimeoutError):
                number += 1
                await ws.send(json.dumps({"type": "ping", "id": number}))
                await asyncio.wait_for(ws.recv(), 0.1)
            await asyncio.sleep(1)
        return files(folder)


if __name__ == "__main__":
    unittest.main()
