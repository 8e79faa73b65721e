"""Publishes a flash and a beep, both at each half second: flash_publisher.py URL ROOM TOKEN SECONDS CODEC [PORT [DOOR]]

CODEC: vp8, vp9 or h264. PORT: to which media goes instead of the port that the server says; 0: to that. DOOR: native or whip. At its
end it says how many pictures it has sent.
"""

import array
import asyncio
import math
import os
import re
import sys
import threading
import time
import urllib.parse
import urllib.request

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import Gst, GstApp, GstSdp, GstWebRTC  # noqa: E402, F401

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from signaller import connect, heard, say  # noqa: E402

WIDTH, HEIGHT, RATE = 320, 240, 25
FLASH = 0.1  # seconds, as long as the beep
SAMPLING = 48_000
PIECE = SAMPLING // 50
BEEP = array.array("h", (int(20_000 * math.sin(2 * math.pi * 1_000 * at / SAMPLING)) for at in range(PIECE))).tobytes()
RTP = "application/x-rtp,payload="
# Numbers that webrtcbin chooses for retransmissions begin at 96.
ENCODERS = {
    "vp8": ("vp8enc deadline=1 keyframe-max-dist=50 error-resilient=1 target-bitrate=400000 ! rtpvp8pay pt=100 picture-id-mode=2", "VP8"),
    "vp9": ("vp9enc deadline=1 cpu-used=8 keyframe-max-dist=50 target-bitrate=400000 ! rtpvp9pay pt=100 picture-id-mode=2", "VP9"),
    "h264": ("openh264enc gop-size=50 bitrate=400000 ! h264parse config-interval=-1 ! rtph264pay pt=100 config-interval=-1 "
             "aggregate-mode=zero-latency", "H264,packetization-mode=(string)1"),
}


class Publisher:
    def __init__(self, codec):
        encoder, name = ENCODERS[codec]
        video = f"{RTP}100,media=video,encoding-name={name},clock-rate=90000"
        audio = RTP + "111,media=audio,encoding-name=OPUS,clock-rate=48000,encoding-params=(string)2"
        self.pipeline = Gst.parse_launch(f"""
          webrtcbin name=peer bundle-policy=max-bundle
          appsrc name=sound is-live=true format=time do-timestamp=false
            caps=audio/x-raw,format=S16LE,layout=interleaved,rate={SAMPLING},channels=1
            ! queue ! opusenc frame-size=20 ! rtpopuspay pt=111 ! {audio} ! peer.
          appsrc name=pictures is-live=true format=time do-timestamp=false
            caps=video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate={RATE}/1
            ! queue ! {encoder} ! {video} ! peer.
        """)
        self.peer = self.pipeline.get_by_name("peer")
        self.sent = 0
        self.isOver = False
        self.isConnected = threading.Event()
        self.peer.connect("notify::connection-state", self.connection_changed)
        direction = GstWebRTC.WebRTCRTPTransceiverDirection
        for index in range(2):
            transceiver = self.peer.emit("get-transceiver", index)
            transceiver.set_property("direction", direction.SENDONLY)
            transceiver.set_property("do-nack", True)
        self.pipeline.set_state(Gst.State.PLAYING)
        self.feeders = [
            threading.Thread(target=self.feed, args=arguments, daemon=True)
            for arguments in [("pictures", RATE, self.picture), ("sound", SAMPLING // PIECE, self.piece)]]
        for feeder in self.feeders:
            feeder.start()

    def connection_changed(self, peer, _):
        if peer.get_property("connection-state") == GstWebRTC.WebRTCPeerConnectionState.CONNECTED:
            # Its sinks are new; without a word about latency, sender reports have times of nothing.
            self.pipeline.recalculate_latency()
            self.began = self.now()
            self.isConnected.set()

    def now(self):
        return self.pipeline.get_clock().get_time() - self.pipeline.get_base_time()

    def feed(self, name, rate, content):
        """Gives a source its buffers, each when its time has come by the pipeline's clock: two for the offer, which says what
        comes of them, and the others once there is a way for them, or those of before would be sent in a heap."""
        source = self.pipeline.get_by_name(name)
        for number in range(2):
            self.push(source, content(number), number * Gst.SECOND // rate, rate)
        self.isConnected.wait()
        number = 0
        while not self.isOver:
            moment = self.began + number * Gst.SECOND // rate
            wait = moment - self.now()
            if wait > 0:
                time.sleep(wait / Gst.SECOND)
            self.push(source, content(number), moment, rate)
            number += 1

    @staticmethod
    def push(source, content, moment, rate):
        buffer = Gst.Buffer.new_wrapped(content)
        buffer.pts = moment
        buffer.duration = Gst.SECOND // rate
        source.emit("push-buffer", buffer)

    def picture(self, number):
        self.sent += 1
        plane = WIDTH * HEIGHT
        if 0 <= number % RATE - RATE // 2 < FLASH * RATE:
            return bytes([235]) * plane + bytes([128]) * (plane // 2)
        # A line that moves, so that pictures differ.
        row = number % HEIGHT
        luma = bytes([40]) * (row * WIDTH) + bytes([90]) * WIDTH + bytes([40]) * ((HEIGHT - row - 1) * WIDTH)
        return luma + bytes([128]) * (plane // 2)

    def piece(self, number):
        return BEEP if 0 <= number % 50 - 24 < FLASH * 50 else bytes(2 * PIECE)

    def ask(self, signal, *arguments):
        """What a promise of webrtcbin comes to."""
        promise = Gst.Promise.new()
        self.peer.emit(signal, *arguments, promise)
        if promise.wait() != Gst.PromiseResult.REPLIED:
            raise RuntimeError(f"{signal} was not answered")
        return promise.get_reply()

    def offer(self):
        deadline = time.monotonic() + 5
        while not all(pad.get_current_caps() for pad in self.peer.sinkpads) and time.monotonic() < deadline:
            time.sleep(0.01)
        reply = self.ask("create-offer", None)
        text = reply.get_value("offer").sdp.as_text()
        self.ask("set-local-description", reply.get_value("offer"))
        return text

    def answer(self, text):
        _, message = GstSdp.SDPMessage.new_from_text(text)
        answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message)
        reply = self.ask("set-remote-description", answer)
        if reply and reply.has_field("error"):
            raise RuntimeError(reply.get_value("error").message)

    def end(self):
        self.isOver = True
        self.isConnected.set()
        for feeder in self.feeders:
            feeder.join(2)
        self.pipeline.set_state(Gst.State.NULL)


def by_way_of(sdp, port):
    """Every candidate at another port of the same address; 0: as it is."""
    if not port:
        return sdp
    return re.sub(r"^(a=candidate:\S+ \d+ udp \d+ \S+) \d+", rf"\1 {port}", sdp, flags=re.MULTILINE | re.IGNORECASE)


async def natively(publisher, url, room, token, seconds, port):
    async def leave(ws):
        await asyncio.sleep(seconds)
        await say(ws, type="leave")

    async with connect(url, room) as ws:
        await say(ws, type="auth", token=token)
        leaving = asyncio.create_task(leave(ws))
        while (message := await heard(ws))["type"] != "closed":
            if message["type"] == "joined":
                sdp = await asyncio.to_thread(publisher.offer)
                kinds = re.findall(r"^m=(\w+) (?:(?!^m=).)*?^a=mid:(\S+)", sdp, re.MULTILINE | re.DOTALL)
                tracks = [{"mid": mid, "source": {"audio": "microphone"}.get(kind, "camera")} for kind, mid in kinds]
                await say(ws, type="offer", sdp=sdp, tracks=tracks)
            elif message["type"] == "answer":
                await asyncio.to_thread(publisher.answer, by_way_of(message["sdp"], port))
                print("publishing", flush=True)
            elif message["type"] == "error":
                raise RuntimeError(message)
        await leaving


async def by_whip(publisher, url, room, token, seconds, port):
    def ask(method, where, body=None):
        headers = {"Authorization": f"Bearer {token}"} | ({"Content-Type": "application/sdp"} if body else {})
        with urllib.request.urlopen(urllib.request.Request(where, body, headers, method=method), timeout=10) as answer:
            return answer.headers.get("Location"), answer.read().decode()

    place, answer = ask("POST", f"{url}/whip/{room}", publisher.offer().encode())
    publisher.answer(by_way_of(answer, port))
    print("publishing", flush=True)
    await asyncio.sleep(seconds)
    ask("DELETE", urllib.parse.urljoin(url, place))


async def main(url, room, token, seconds, codec, port="0", door="native"):
    Gst.init(None)
    publisher = Publisher(codec)
    await {"native": natively, "whip": by_whip}[door](publisher, url, room, token, float(seconds), int(port))
    publisher.end()
    print(f"sent {publisher.sent} pictures")


asyncio.run(main(*sys.argv[1:]))
