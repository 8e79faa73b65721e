"""Reads media counters out of getStats() and compares the two ends of a stream over the same window."""

import asyncio
from dataclasses import dataclass, field


FLOW_WANTED = "at least 90 % of the frames sent decoded, 10 a second, no pause of 2 s, sound"


@dataclass
class Counters:
    frames_sent: dict = field(default_factory=dict)  # by encoding: the picture's height, and how many
    frames_received: int = 0
    frames_decoded: int = 0
    audio_energy: float = 0.0
    size: str = ""

    def sent_of(self, size):
        """The pictures sent of the encoding of this size: of several encodings a subscriber gets one. The best one's, where none has it."""
        by_height = dict(self.frames_sent.values())
        return by_height.get(int(size.partition("x")[2] or 0), max(self.frames_sent.values(), default=(0, 0))[1])

    @classmethod
    def read(cls, stats):
        counters = cls()
        for entry in stats:
            if entry["type"] == "outbound-rtp" and entry.get("kind") == "video":
                counters.frames_sent[entry["ssrc"]] = (entry.get("frameHeight", 0), entry.get("framesSent", 0))
            elif entry["type"] == "inbound-rtp" and entry.get("kind") == "video":
                counters.frames_received += entry.get("framesReceived", 0)
                counters.frames_decoded += entry.get("framesDecoded", 0)
                counters.size = f"{entry.get('frameWidth', 0)}x{entry.get('frameHeight', 0)}"
            elif entry["type"] == "inbound-rtp" and entry.get("kind") == "audio":
                counters.audio_energy += entry.get("totalAudioEnergy", 0.0)
        return counters


@dataclass
class Flow:
    """What one end sent and the other received of it in `seconds`."""

    sent: int
    received: int
    decoded: int
    energy: float
    size: str
    longest_pause: float
    seconds: float

    @property
    def share(self):
        return self.decoded / self.sent if self.sent else 0.0

    @property
    def holds(self):
        """Whether the flow is as `FLOW_WANTED` says."""
        return (self.share >= 0.9 and self.decoded >= 10 * self.seconds and self.longest_pause < 2
                and self.energy > 0)

    @property
    def is_near(self):
        """Whether it falls short by what a busy machine costs, and no more: it still shows more than half of the pictures."""
        return self.share >= 0.6 and self.longest_pause < 2 and self.energy > 0

    def __str__(self):
        return (f"{self.decoded} of {self.sent} frames ({self.share:.0%}, {self.received} received) of {self.size} in {self.seconds:.1f} s, "
                f"longest pause {self.longest_pause:.1f} s, audio energy {self.energy:.4f}")


async def until_flowing(publisher, subscriber, connection, seconds=20.0):
    """Waits until pictures and sound of `publisher` have come out at `subscriber`."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        counters = Counters.read(await subscriber.stats(connection))
        if counters.frames_decoded > 0 and counters.audio_energy > 0:
            return
        if loop.time() > deadline:
            raise TimeoutError(f"{publisher.name} to {subscriber.name}: after {seconds:g} s {counters}")
        await asyncio.sleep(0.1)


async def measure(publisher, subscriber, connection, seconds):
    """The flow from `publisher` to `subscriber` over the next `seconds`, looked at twice a second."""
    loop = asyncio.get_running_loop()

    async def both():
        ends = await asyncio.gather(publisher.stats(connection), subscriber.stats(connection))
        return loop.time(), *map(Counters.read, ends)

    start, sent, received = await both()
    now, last_sent, last = start, sent, received
    progress, longest = start, 0.0
    while now < start + seconds:
        await asyncio.sleep(0.5)
        previous = last.frames_decoded
        now, last_sent, last = await both()
        if last.frames_decoded > previous:
            progress = now
        longest = max(longest, now - progress)
    frames = last_sent.sent_of(last.size) - sent.sent_of(last.size)
    return Flow(frames, last.frames_received - received.frames_received, last.frames_decoded - received.frames_decoded,
                last.audio_energy - received.audio_energy, last.size, longest, now - start)


@dataclass
class Flows:
    """Windows of one flow, one after the other: up to three where the machine was busy in those before."""

    windows: list

    @property
    def holds(self):
        return self.windows[-1].holds

    def __str__(self):
        return "; ".join(map(str, self.windows))


async def measure_best(publisher, subscriber, connection, seconds, measure=measure):
    """The flow over the next `seconds`, and again, three times at most, where it falls short by little."""
    windows = [await measure(publisher, subscriber, connection, seconds)]
    while len(windows) < 3 and not windows[-1].holds and windows[-1].is_near:
        windows.append(await measure(publisher, subscriber, connection, seconds))
    return Flows(windows)


def cipher(stats):
    """The SRTP protection profile that the browser names, or None."""
    return next((entry["srtpCipher"] for entry in stats if entry.get("srtpCipher")), None)
