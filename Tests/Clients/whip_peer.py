"""aiortc by WHIP and WHEP: whip_peer.py publish|abandon|play URL TOKEN SECONDS [CODEC]

Publishes grey pictures, each with its number in it, and a tone, for so many seconds; or plays what there is until nothing has
come for two of them, or the server has closed, after `connected` has been printed. Prints at its end what it has sent, or what
came out of its decoders, as a line of JSON. `abandon` is `publish` without a DELETE at its end.
"""

import array
import asyncio
import fractions
import json
import math
import sys
import time
import urllib.parse
import urllib.request

import av
from aiortc import AudioStreamTrack, RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription, VideoStreamTrack
from aiortc.mediastreams import MediaStreamError

WIDTH, HEIGHT, GREY, PITCH, RATE = 320, 240, 160, 440, 48_000
# A number as ten squares of 32 pixels, dark or light.
BITS, SQUARE = 10, 32


class Pictures(VideoStreamTrack):
    def __init__(self):
        super().__init__()
        self.sent = 0

    async def recv(self):
        frame = av.VideoFrame(WIDTH, HEIGHT, "yuv420p")
        row = bytes(230 if self.sent >> bit & 1 else 25 for bit in range(BITS) for _ in range(SQUARE))
        luma = row * SQUARE + bytes([GREY]) * (WIDTH * (HEIGHT - SQUARE))
        for plane, content in zip(frame.planes, (luma, bytes([128]) * (WIDTH * HEIGHT // 4), bytes([128]) * (WIDTH * HEIGHT // 4))):
            plane.update(content)
        frame.pts, frame.time_base = await self.next_timestamp()
        self.sent += 1
        return frame


class Tone(AudioStreamTrack):
    def __init__(self):
        super().__init__()
        self.samples, self.start = 0, None

    async def recv(self):
        count = RATE // 50
        self.start = self.start or time.monotonic()
        await asyncio.sleep(max(0, self.start + self.samples / RATE - time.monotonic()))
        wave = array.array("h", (int(8_000 * math.sin(2 * math.pi * PITCH * (self.samples + place) / RATE)) for place in range(count)))
        frame = av.AudioFrame("s16", "mono", count)
        frame.planes[0].update(wave.tobytes())
        frame.pts, frame.sample_rate, frame.time_base = self.samples, RATE, fractions.Fraction(1, RATE)
        self.samples += count
        return frame


class Heard:
    """What came out of the decoders."""

    def __init__(self):
        self.numbers, self.brightness, self.last = [], None, time.monotonic()
        self.crossings = self.samples = self.peak = 0
        self.before = None

    def picture(self, frame):
        plane = frame.planes[0]
        rows = bytes(plane)
        middle = rows[plane.line_size * (SQUARE // 2):][:WIDTH]
        self.numbers.append(sum((middle[bit * SQUARE + SQUARE // 2] > 128) << bit for bit in range(BITS)))
        self.brightness = rows[plane.line_size * (HEIGHT // 2) + WIDTH // 2]
        self.last = time.monotonic()

    def sound(self, frame):
        wave = array.array("h", bytes(frame.planes[0]))[::len(frame.layout.channels)]
        for value in wave:
            if abs(value) < 500:  # silence, and about zero
                continue
            if self.before is not None and (value > 0) != (self.before > 0):
                self.crossings += 1
            self.before = value
        self.samples += sum(1 for value in wave if abs(value) >= 500)
        self.peak = max(self.peak, *map(abs, wave))
        self.last = time.monotonic()

    @property
    def pitch(self):
        """Hertz: a sine is below 500 for a part of its time, one of 8,000 for four in a hundred."""
        loud = 1 - 2 / math.pi * math.asin(500 / max(500, self.peak))
        return round(self.crossings / 2 / (self.samples / loud / RATE)) if self.samples else 0


def request(method, url, token, body=None, **headers):
    asked = urllib.request.Request(url, None if body is None else body.encode(), headers | {"Authorization": f"Bearer {token}"}, method=method)
    return urllib.request.urlopen(asked, timeout=10)


async def main(what, url, token, seconds, codec=None):
    pc, heard, tasks = RTCPeerConnection(RTCConfiguration(iceServers=[])), Heard(), []
    pictures = Pictures()
    if what != "play":
        pc.addTransceiver(Tone(), "sendonly")
        video = pc.addTransceiver(pictures, "sendonly")
        if codec:
            video.setCodecPreferences([each for each in RTCRtpSender.getCapabilities("video").codecs
                                       if each.mimeType in (f"video/{codec}", "video/rtx")])
    else:
        for kind in ("audio", "video"):
            pc.addTransceiver(kind, "recvonly")
    await pc.setLocalDescription(await pc.createOffer())
    answer = request("POST", url, token, pc.localDescription.sdp, **{"Content-Type": "application/sdp"})
    session = urllib.parse.urljoin(url, answer.headers["Location"])
    await pc.setRemoteDescription(RTCSessionDescription(answer.read().decode(), "answer"))

    async def take(track, note):
        try:
            while True:
                note(await track.recv())
        except MediaStreamError:
            pass

    if what == "play":
        for each in pc.getTransceivers():
            note = heard.picture if each.kind == "video" else heard.sound
            tasks.append(asyncio.create_task(take(each.receiver.track, note)))
    while pc.connectionState != "connected":
        await asyncio.sleep(0.02)
    print("connected", flush=True)
    end = time.monotonic() + float(seconds)
    if what != "play":
        while time.monotonic() < end and pc.connectionState == "connected":
            await asyncio.sleep(0.05)
        said = {"sent": pictures.sent, "state": pc.connectionState}
    else:
        while (time.monotonic() < end and pc.connectionState == "connected"
               and not (heard.numbers and time.monotonic() - heard.last > 2)):
            await asyncio.sleep(0.1)
        said = {"state": pc.connectionState} | {"pictures": len(heard.numbers), "distinct": len(set(heard.numbers)), "brightness": heard.brightness,
                "pitch": heard.pitch, "sounds": round(heard.samples / RATE, 1)}
    if what != "abandon" and said["state"] == "connected":
        with request("DELETE", session, token) as ended:
            said["ended"] = ended.status
    await pc.close()
    print(json.dumps(said), flush=True)


asyncio.run(main(*sys.argv[1:]))
