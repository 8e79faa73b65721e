"""How good a received picture and sound are over a window, and how much is sent, from getStats()."""

import asyncio
from dataclasses import dataclass


def entries(stats, kind, type_):
    return [each for each in stats if each["type"] == type_ and each.get("kind") == kind]


def total(stats, kind, type_, field):
    return sum(each.get(field) or 0 for each in entries(stats, kind, type_))


@dataclass
class Received:
    """What one end decoded in a window."""

    frames: int
    freezes: int
    concealed: float
    size: str
    seconds: float

    @classmethod
    def between(cls, before, after, seconds):
        def grown(kind, field):
            return total(after, kind, "inbound-rtp", field) - total(before, kind, "inbound-rtp", field)

        samples = grown("audio", "totalSamplesReceived")
        video = max(entries(after, "video", "inbound-rtp"), key=lambda each: each.get("framesDecoded") or 0)
        return cls(grown("video", "framesDecoded"), grown("video", "freezeCount"),
                   grown("audio", "concealedSamples") / samples if samples else 1.0,
                   f"{video.get('frameWidth', 0)}x{video.get('frameHeight', 0)}", seconds)

    def __str__(self):
        return (f"{self.frames} frames of {self.size} in {self.seconds:.1f} s, {self.freezes} freezes, "
                f"{self.concealed:.2%} concealed")


async def received(calls, seconds):
    """What each call decodes over the next `seconds`, all in the same window."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    before = await asyncio.gather(*(call.stats() for call in calls))
    await asyncio.sleep(seconds - (loop.time() - start))
    end = loop.time()
    after = await asyncio.gather(*(call.stats() for call in calls))
    return [Received.between(*each, end - start) for each in zip(before, after)]


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
