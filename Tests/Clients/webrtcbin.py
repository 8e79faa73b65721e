"""GStreamer's webrtcbin through the server's own signalling: webrtcbin.py URL ROOM TOKEN SECONDS

Sends black pictures and a tone, and says at its end what came out of the decoders of each of its slots, as the client of
docs/clients.md does.
"""

import asyncio
import os
import re
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import Gst, GstSdp, GstWebRTC  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Server"))
from signaller import connect, heard, say  # noqa: E402 (shared with the tests of the server)

RTP = "application/x-rtp,payload="
VIDEO = RTP + "96,media=video,encoding-name=VP8,clock-rate=90000"
AUDIO = RTP + "111,media=audio,encoding-name=OPUS,clock-rate=48000,encoding-params=(string)2"
SENDING = f"""
  webrtcbin name=peer bundle-policy=max-bundle
  audiotestsrc is-live=true wave=sine ! opusenc ! rtpopuspay pt=111 ! {AUDIO} ! peer.
  videotestsrc is-live=true pattern=black ! video/x-raw,width=320,height=240 ! vp8enc deadline=1 keyframe-max-dist=30
    ! rtpvp8pay pt=96 ! {VIDEO} ! peer.
"""


class Peer:
    def __init__(self):
        self.pipeline = Gst.parse_launch(SENDING)
        self.peer = self.pipeline.get_by_name("peer")
        self.frames = {}
        self.middle = {}
        direction = GstWebRTC.WebRTCRTPTransceiverDirection
        for index in range(2):
            self.transceiver(index).set_property("direction", direction.SENDONLY)
        for caps in (AUDIO, VIDEO):
            self.peer.emit("add-transceiver", direction.RECVONLY, Gst.Caps.from_string(caps))
        self.peer.connect("pad-added", self.pad_added)
        self.pipeline.set_state(Gst.State.PLAYING)

    def transceiver(self, index):
        return self.peer.emit("get-transceiver", index)

    def pad_added(self, _, pad):
        if pad.direction != Gst.PadDirection.SRC:
            return
        mid = pad.get_property("transceiver").get_property("mid")
        is_video = pad.get_current_caps().get_structure(0).get_value("media") == "video"
        decoder = Gst.parse_bin_from_description(
            ("rtpvp8depay ! vp8dec" if is_video else "rtpopusdepay ! opusdec")
            + " ! fakesink name=frames sync=false async=false signal-handoffs=true", True)
        decoder.get_by_name("frames").connect("handoff", lambda _, buffer, __: self.count(mid, buffer, is_video))
        self.pipeline.add(decoder)
        decoder.sync_state_with_parent()
        pad.link(decoder.sinkpads[0])

    def count(self, mid, buffer, is_video):
        self.frames[mid] = self.frames.get(mid, 0) + 1
        if is_video:  # I420: two thirds are brightness
            self.middle[mid] = buffer.extract_dup(buffer.get_size() // 3, 1)[0]

    def ask(self, signal, *arguments):
        """What a promise of webrtcbin comes to."""
        promise = Gst.Promise.new()
        self.peer.emit(signal, *arguments, promise)
        if promise.wait() != Gst.PromiseResult.REPLIED:
            raise RuntimeError(f"{signal} was not answered")
        return promise.get_reply()

    def offer(self):
        reply = self.ask("create-offer", None)  # owns the offer
        text = reply.get_value("offer").sdp.as_text()
        self.ask("set-local-description", reply.get_value("offer"))
        return text

    def answer(self, text):
        _, message = GstSdp.SDPMessage.new_from_text(text)
        answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message)
        reply = self.ask("set-remote-description", answer)
        if reply and reply.has_field("error"):
            raise RuntimeError(reply.get_value("error").message)


async def main(url, room, token, seconds):
    Gst.init(None)
    peer = Peer()
    shown = {}

    async def leave(ws):
        await asyncio.sleep(float(seconds))
        await say(ws, type="leave")

    async with connect(url, room) as ws:
        await say(ws, type="auth", token=token)
        leaving = asyncio.create_task(leave(ws))
        while (message := await heard(ws))["type"] != "closed":
            if message["type"] == "joined":
                sdp = await asyncio.to_thread(peer.offer)
                kinds = re.findall(r"^m=(\w+) (?:(?!^m=).)*?^a=mid:(\S+)", sdp, re.MULTILINE | re.DOTALL)[:2]
                tracks = [{"mid": mid, "source": {"audio": "microphone"}.get(kind, "camera")} for kind, mid in kinds]
                await say(ws, type="offer", sdp=sdp, tracks=tracks)
            elif message["type"] == "answer":
                await asyncio.to_thread(peer.answer, message["sdp"])
            elif message["type"] == "error":
                raise RuntimeError(message)
            for each in message.get("slots", message.get("assignments", [])):
                shown[each["mid"]] = each["track"] or shown.get(each["mid"])
        await leaving
    peer.pipeline.set_state(Gst.State.NULL)
    for mid, frames in peer.frames.items():
        is_video = mid in peer.middle
        print(f"{shown[mid]}: {frames} frames of " + (f"video, brightness {peer.middle[mid]}" if is_video else "audio"))


asyncio.run(main(*sys.argv[1:]))
