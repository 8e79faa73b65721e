"""Every codec through Roost: what one browser sends in it alone, the other decodes."""

import asyncio
import json
import os
from dataclasses import dataclass

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.media import Counters
from harness.pages import source
from harness.quality import sound_packet_size
from harness.server import Server

CONNECTION = "window.client.connection"
# Audio and video codec of each round: those that both have.
BOTH = [("opus", "VP8"), ("PCMU", "VP9"), ("PCMA", "AV1"), ("G722", "VP8")]
# RED reaches Firefox, which has none, as what is in it.
FROM_CHROMIUM = [("red", "VP8")]
# Debian's Firefox has neither.
CHROMIUM_ALONE = [("red", "H264")]


@dataclass
class Seen:
    video: str
    audio: str
    frames: int
    energy: float
    bytes_sent: float
    bytes_received: float

    def __str__(self):
        return (f"{self.frames} frames of {self.video}, audio energy {self.energy:.4f} as {self.audio}, "
                f"{self.bytes_sent:.0f} bytes a packet sent, {self.bytes_received:.0f} received")

    def holds(self, audio, video, has_red):
        """Browsers name RED by what is in it, so only its size shows it: twice that of the block alone."""
        if self.frames <= 5 or self.energy <= 0 or self.video != video.lower():
            return False
        if audio != "red":
            return self.audio == audio.lower()
        share = self.bytes_received / max(self.bytes_sent, 1)
        return share > 0.9 if has_red else 0.3 < share < 0.7


def codec(stats, direction, kind):
    """The name of the codec in use, in lower case."""
    names = {entry["id"]: entry["mimeType"].split("/")[1].lower() for entry in stats if entry["type"] == "codec"}
    return next((names.get(entry.get("codecId"), "?") for entry in stats
                 if entry["type"] == direction and entry.get("kind") == kind), "none")


async def _join(browser, room, body):
    await browser.evaluate(f"""
        window.client?.close();
        window.client = new window.RoostTestClient();
        await window.client.join({json.dumps(room)}, {json.dumps(browser.name)} + Math.random());
        {body}
        await window.client.negotiate();
    """)
    await browser.wait_until(f"{CONNECTION}.connectionState === 'connected'")


async def _round(report, publisher, subscriber, audio, video):
    room = f"{publisher.name}-{audio}-{video}"
    await _join(subscriber, room, "window.client.add('audio', 'recvonly'); window.client.add('video', 'recvonly');")
    # RED is about another codec, which has to be there too.
    names = ["red", "opus"] if audio == "red" else [audio.lower()]
    await _join(publisher, room, f"""
        window.client.add('audio', 'sendonly', {{ only: {json.dumps(names)} }});
        window.client.add('video', 'sendonly', {{ only: [{json.dumps(video.lower())}] }});
    """)
    deadline = asyncio.get_running_loop().time() + 20
    while True:
        sent, received = await asyncio.gather(publisher.stats(CONNECTION), subscriber.stats(CONNECTION))
        counters = Counters.read(received)
        seen = Seen(codec(received, "inbound-rtp", "video"), codec(received, "inbound-rtp", "audio"),
                    counters.frames_decoded, counters.audio_energy,
                    sound_packet_size(sent, "outbound-rtp", "packetsSent", "bytesSent"),
                    sound_packet_size(received, "inbound-rtp", "packetsReceived", "bytesReceived"))
        holds = seen.holds(audio, video, subscriber.name == "chromium")
        if holds or asyncio.get_running_loop().time() > deadline:
            break
        await asyncio.sleep(0.3)
    return report.row(f"{publisher.name} to {subscriber.name} in {video} and {audio}",
                      "frames decoded and sound heard, in these codecs", seen, holds)


async def run(report, options):
    if not os.access(options.roost, os.X_OK):
        raise FileNotFoundError(f"no server at {options.roost}: swift build -c release --product roost")
    holds = True
    async with Server(options.roost) as server:
        async with Chromium() as chromium, Firefox() as firefox:
            async with kept_on_failure(report, options.evidence, (chromium, firefox), (server.process,)):
                for browser in (chromium, firefox):
                    await _open(server, browser)
                for audio, video in BOTH + FROM_CHROMIUM:
                    holds &= await _round(report, chromium, firefox, audio, video)
                for audio, video in BOTH:
                    holds &= await _round(report, firefox, chromium, audio, video)
        async with Chromium() as one, Chromium() as other:
            async with kept_on_failure(report, options.evidence, (one, other), (server.process,)):
                for browser in (one, other):
                    await _open(server, browser)
                for audio, video in CHROMIUM_ALONE:
                    holds &= await _round(report, one, other, audio, video)
        server.process.require_running()
    return holds


async def _open(server, browser):
    await browser.open(server.bare())
    await browser.evaluate(source("signaller.js") + source("client.js"))
