"""The link between two namespaces itself: what it carries, delays and loses is as its settings say, and it has no queue of its own."""

import asyncio
import socket
import statistics
import struct
import time
from dataclasses import dataclass

from harness.link import HERE, THERE, Link, settings

SIZE = 1_200
HEADERS = 28  # IPv4 and UDP
SO_TIMESTAMPNS = 35
SO_RCVBUFFORCE = 33


@dataclass
class Carried:
    sent: int
    received: int
    rate: float  # bits a second as they arrived, with headers
    delays: list  # milliseconds, in order

    @property
    def loss(self):
        return 1 - self.received / self.sent

    def delay(self, share):
        return self.delays[min(int(share * len(self.delays)), len(self.delays) - 1)]

    def __str__(self):
        return (f"{self.rate / 1e6:.2f} Mbit/s, {self.loss:.2%} of {self.sent} lost, delay {self.delay(0):.1f} ms at least, "
                f"{self.delay(0.5):.1f} ms in the middle, p99 {self.delay(0.99):.1f} ms, {self.delay(1):.1f} ms at most")


def _socket(address):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    try:
        made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    except PermissionError:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    made.bind((address, 0))
    made.settimeout(0.5)
    return made


def _send(source, target, rate, seconds):
    """Evenly, in the time of the wall; answers how many."""
    gap = (SIZE + HEADERS) * 8 / rate
    start = time.monotonic()
    count = 0
    while (due := start + count * gap) < start + seconds:
        time.sleep(max(0, due - time.monotonic()))
        source.sendto(struct.pack("!Q", time.time_ns()).ljust(SIZE, b"."), target)
        count += 1
    return count


def _arrived(target):
    """[(sent, arrived)] in nanoseconds, by the kernel's own stamps, until nothing comes any more."""
    found = []
    while True:
        try:
            data, more, _, _ = target.recvmsg(2_048, 64)
        except TimeoutError:
            return found
        seconds, rest = struct.unpack("qq", more[0][2])
        found.append((struct.unpack("!Q", data[:8])[0], seconds * 10**9 + rest))


async def _carry(link, rate, seconds):
    """From here to there."""
    with link.network.entered():
        far = _socket(THERE)
    with _socket(HERE) as near, far:
        receiving = asyncio.create_task(asyncio.to_thread(_arrived, far))
        sent = await asyncio.to_thread(_send, near, far.getsockname(), rate, seconds)
        found = await receiving
    span = (found[-1][1] - found[0][1]) / 1e9 if len(found) > 1 else 1
    return Carried(sent, len(found), (len(found) - 1) * (SIZE + HEADERS) * 8 / span,
                   sorted((arrived - left) / 1e6 for left, arrived in found) or [float("inf")])


def _echo(far, count):
    for _ in range(count):
        data, source = far.recvfrom(2_048)
        far.sendto(data, source)


async def _round_trips(link, count):
    """Milliseconds."""
    with link.network.entered():
        far = _socket(THERE)
    with _socket(HERE) as near, far:
        echo = asyncio.create_task(asyncio.to_thread(_echo, far, count))
        times = []
        for _ in range(count):
            start = time.monotonic()
            await asyncio.to_thread(near.sendto, b"ping", far.getsockname())
            await asyncio.to_thread(near.recv, 2_048)
            times.append(1000 * (time.monotonic() - start))
        await echo
    return times


async def run(report, options):
    seconds = 10 if options.full else 1
    async with Link(options.link, settings(delay=20), settings(delay=30)) as link:
        times = await _round_trips(link, 40)
        median = statistics.median(times)
        holds = report.row("link of 20 ms there and 30 ms back: round trip", "50 to 55 ms, median of 40",
                           f"{median:.1f} ms ({min(times):.1f} to {max(times):.1f})", 50 <= median <= 55)

        seen = await _carry(link, 25e6, seconds)
        counts = (await link.counts())["down"]
        holds &= report.row("link without a rate, at 25 Mbit/s", "all of it, nothing lost, half of it within 3 ms of its time",
                            f"{seen}; at most {counts['late']:.1f} ms late itself",
                            seen.received == seen.sent and seen.rate > 24e6 and seen.delay(0.5) < 23)

        await link.change("down", settings(rate=1_000_000, delay=20))
        seen = await _carry(link, 2e6, seconds)
        holds &= report.row("link of 1 Mbit/s, at 2 Mbit/s", "1 Mbit/s within 3 %, the queue never over 300 ms", seen,
                            abs(seen.rate / 1e6 - 1) < 0.03 and 300 < seen.delay(0.9) < 350)

        await link.change("down", settings(loss=0.05, delay=20))
        seen = await _carry(link, 12e6, seconds)
        holds &= report.row("link that loses 5 %", "4 to 6 %, and no queue", seen,
                            0.04 < seen.loss < 0.06 and seen.delay(0.5) < 23)
        return holds
