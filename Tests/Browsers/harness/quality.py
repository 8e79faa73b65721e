"""How good a received picture and sound are over a window, and how much is sent, from getStats()."""

import asyncio
from dataclasses import dataclass

PACKET = 960  # samples at 48 kHz: both browsers send 20 ms in a packet


def entries(stats, kind, type_):
    return [each for each in stats if each["type"] == type_ and each.get("kind") == kind]


def total(stats, kind, type_, field):
    return sum(each.get(field) or 0 for each in entries(stats, kind, type_))


def sound_packet_size(stats, type_, count, size):
    """Mean payload bytes of a sound packet; 0 where there are none."""
    return total(stats, "audio", type_, size) / max(total(stats, "audio", type_, count), 1)


@dataclass
class Received:
    """What one end decoded in a window."""

    frames: int
    freezes: int
    # Share of the samples played that the decoder made up; and share that the sender never sent, because the clock
    # that stands in for its sound card is slower than life.
    concealed: float
    unsent: float
    size: str
    seconds: float

    @classmethod
    def between(cls, before, after, sent, seconds):
        def grown(kind, field):
            return total(after, kind, "inbound-rtp", field) - total(before, kind, "inbound-rtp", field)

        samples = grown("audio", "totalSamplesReceived")
        packets = [total(each, "audio", "outbound-rtp", "packetsSent") for each in sent]
        video = max(entries(after, "video", "inbound-rtp"), key=lambda each: each.get("framesDecoded") or 0)
        return cls(grown("video", "framesDecoded"), grown("video", "freezeCount"),
                   grown("audio", "concealedSamples") / samples if samples else 1.0,
                   max(0.0, 1 - PACKET * (packets[1] - packets[0]) / samples) if samples else 0.0,
                   f"{video.get('frameWidth', 0)}x{video.get('frameHeight', 0)}", seconds)

    @property
    def lost(self):
        """Share of the samples that were concealed although they were sent."""
        return max(0.0, self.concealed - self.unsent)

    def __str__(self):
        return (f"{self.frames} frames of {self.size} in {self.seconds:.1f} s, {self.freezes} freezes, "
                f"{self.concealed:.2%} concealed, {self.unsent:.2%} never sent")


async def received(calls, seconds):
    """What each of two calls decodes of the other over the next `seconds`, in the same window."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    before = await asyncio.gather(*(call.stats() for call in calls))
    await asyncio.sleep(seconds - (loop.time() - start))
    end = loop.time()
    after = await asyncio.gather(*(call.stats() for call in calls))
    return [Received.between(before[index], after[index], (before[1 - index], after[1 - index]), end - start)
            for index in range(2)]


async def best_rate(call, seconds, window=2.0):
    """The most bits a second that the call sent over `window` seconds, within the next `seconds`."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    samples = []
    best = 0.0
    while loop.time() < start + seconds:
        stats = await call.stats()
        now = loop.time()
        sent = sum(total(stats, kind, "outbound-rtp", "bytesSent") for kind in ("audio", "video"))
        samples.append((now, sent))
        for then, before in samples:
            if window <= now - then < 1.5 * window:
                best = max(best, 8 * (sent - before) / (now - then))
        await asyncio.sleep(0.5)
    return best
