"""What one participant with a valid token does to the others, each deed for as long as it may."""

import asyncio
import contextlib
import itertools
import json
import os
import re
import secrets
import socket
import struct
import time

import websockets
from aioice import stun
from aiortc import RTCBundlePolicy, RTCConfiguration, RTCPeerConnection, RTCSessionDescription, VideoStreamTrack

from roost import ask, hear, put_together, say, token

ADMIN = {"roomAdmin": True, "roomJoin": False}
ROOM = "load-1"
"""Where half of the bystanders are."""


class Silent(VideoStreamTrack):
    async def recv(self):
        await asyncio.Event().wait()


class Deeds:
    """Each method runs until `self.over`; what it counts as done is returned."""

    def __init__(self, roost, seconds, victims):
        """`victims`: the process of the bystanders."""
        self.roost, self.victims = roost, victims
        self.end = time.monotonic() + seconds

    @property
    def over(self):
        return time.monotonic() >= self.end

    async def rollover(self):
        """Publishes packets that count and are not sent on, thirteen jumps of 2,900 between two that are."""
        async with self.publisher() as (sender, payload_type):
            sequence = count = 0
            while not self.over:
                for step in range(14):
                    sequence = (sequence + 2_900) & 0xFFFF
                    key = b"\x90\x80\x80\x01\x00\x00\x00\x9d\x01\x2a\x40\x01\xf0\x00" + bytes(200)
                    payload = key if step == 13 else b"\x80"
                    header = struct.pack("!BBHII", 0x80, 0x80 | payload_type, sequence, count * 3_000 & 0xFFFFFFFF,
                                         sender._ssrc)
                    await sender.transport._send_rtp(header + payload)
                    count += 1
                    await asyncio.sleep(0.004)
            return count

    async def stopped_sections(self):
        """Stops every section and takes them up again, while its permissions come and go."""
        count = 0
        async with self.roost.joined("mallory", room=ROOM) as ws:
            offer = Offer()
            while not self.over:
                for _ in range(3):
                    offer.add("video", "sendonly")
                    offer.add("audio", "recvonly")
                count += await self.offered(ws, offer)
                await self.permit(canSubscribe=count % 2 == 0)
                offer.stop_all()
                count += await self.offered(ws, offer)
        return count

    async def published_again(self):
        """Publishes under the same mid in other sections, while it may and may not."""
        count = 0
        async with self.roost.joined("mallory", room=ROOM) as ws:
            offer = Offer()
            while not self.over:
                await self.permit(canPublish=count % 2 == 0)
                offer.stop_all()
                offer.add("video", "sendonly", mid="camera")
                count += await self.offered(ws, offer)
        return count

    async def forged_checks(self):
        """Sends checks under its own password from the addresses of all bystanders."""
        count = 0
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        with contextlib.closing(raw):
            async with self.roost.joined("mallory", room="elsewhere") as ws:
                offer = Offer()
                offer.add("audio", "sendonly")
                await say(ws, type="offer", id=1, sdp=offer.sdp, tracks=[])
                answer = (await hear(ws, "answer"))["sdp"]
                remote = re.search(r"^a=ice-ufrag:(\S+)", answer, re.MULTILINE)[1]
                password = re.search(r"^a=ice-pwd:(\S+)", answer, re.MULTILINE)[1]
                while not self.over:
                    for port in udp_ports(self.victims):
                        request = stun.Message(message_method=stun.Method.BINDING, message_class=stun.Class.REQUEST)
                        request.attributes["USERNAME"] = f"{remote}:{offer.ufrag}"
                        request.attributes["PRIORITY"] = 1_853_817_087
                        request.attributes["ICE-CONTROLLING"] = secrets.randbits(64)
                        request.attributes["USE-CANDIDATE"] = None
                        request.add_message_integrity(password.encode())
                        request.add_fingerprint()
                        raw.sendto(datagram("127.0.0.1", port, "127.0.0.1", self.roost.media_port, bytes(request)),
                                   ("127.0.0.1", 0))
                        count += 1
                    await asyncio.sleep(0.1)
        return count

    async def messages(self):
        """Says much on eight connections before it says who it is, and on one that is let in."""
        large = json.dumps({"type": "zz", "tracks": [{}] * 60_000})
        small = [json.dumps({"type": "zz", "tracks": [{}] * 4_000}), '{"type":"candidate","candidate":"x","mid":"0"}',
                 '{"type":"ping"}', "{", '{"type":"subscribe","track":"TR_x","id":1}', json.dumps({"type": "ping", "x": [[]] * 6_000})]
        counts = await asyncio.gather(*[self.flood([large], None) for _ in range(8)],
                                      self.flood(small, token("mallory", ROOM)))
        return sum(counts)

    async def offers(self):
        """Offers 107 formats with parameters of 1.8 kB each, as fast as they are answered."""
        async def deed(ws):
            nonlocal count
            offer = Offer()
            offer.formats = "".join(f"a=rtpmap:{number} rtx/90000\r\na=fmtp:{number} apt=96;x={'y' * 1_800}\r\n"
                                    for number in list(range(0, 64)) + list(range(97, 128)))
            offer.numbers = " ".join(str(number) for number in [96] + list(range(0, 64)) + list(range(97, 128)))
            offer.add("video", "sendonly")
            while not self.over:
                count += await self.offered(ws, offer)

        count = 0
        await self.in_sessions(deed)
        return count

    async def screens(self):
        """Calls 32 sections screens."""
        async def deed(ws):
            nonlocal count
            offer = Offer()
            for _ in range(16):
                offer.add("video", "sendonly", source="screen")
                offer.add("audio", "sendonly", source="screenAudio")
            count += await self.offered(ws, offer)
            while not self.over:
                await say(ws, type="ping")
                await asyncio.sleep(1)

        count = 0
        await self.in_sessions(deed)
        return count

    async def raced_removals(self):
        """Joins again and again while it is removed again and again."""
        async def join():
            count = 0
            while not self.over:
                with contextlib.suppress(Exception):
                    async with self.roost.connect(ROOM) as ws:
                        await say(ws, type="auth", token=token("mallory", ROOM, issued=int(time.time())))
                        await asyncio.wait_for(ws.recv(), 2)
                        count += 1
            return count

        async def remove():
            while not self.over:
                await asyncio.to_thread(ask, self.roost, "DELETE", f"/v1/rooms/{ROOM}/participants/mallory", self.admin)
                await asyncio.sleep(0.02)
            return 0

        return sum(await asyncio.gather(join(), join(), join(), remove()))

    async def wrong_sources(self):
        """Gives sections sources of the other kind, unknown ones and forbidden ones."""
        count = 0
        grants = {"canPublishSources": ["microphone"]}
        async with self.roost.joined("mallory", room=ROOM, **grants) as ws:
            for number in range(1_000_000):
                if self.over:
                    return count
                offer = Offer()
                for source in ("microphone", "screen", "hologram", "camera", "screenAudio"):
                    if source != "hologram" or number % 4 == 0:
                        offer.add("video" if number % 2 else "audio", "sendonly", source=source)
                count += await self.offered(ws, offer)

    async def odd_tokens(self):
        """Comes with tokens that were issued never, long ago or in the future, and asks for their renewal."""
        count = 0
        while not self.over:
            now = int(time.time())
            for times in ({"nbf": 0}, {"iat": 0}, {"iat": now + 1_000}, {"exp": 2**53}, {"exp": 2**53, "iat": now - 5}, {"nbf": -1}):
                said = {"iss": "devkey", "sub": "mallory", "exp": now + 600, "video": {"room": ROOM, "roomJoin": True}} | times
                with contextlib.suppress(Exception):
                    async with self.roost.connect(ROOM) as ws:
                        await say(ws, type="auth", token=put_together({"alg": "HS256"}, said))
                        for _ in range(20):
                            await say(ws, type="ping", id=1)
                        await asyncio.wait_for(ws.recv(), 2)
                        count += 1
        return count

    async def toggled_mutes(self):
        """Mutes and unmutes 32 tracks as fast as it can say so, again after each time that it is thrown out for it."""
        count = 0
        while not self.over:
            with contextlib.suppress(Exception):
                async for _ in self.toggle():
                    count += 1
        return count

    async def toggle(self):
        async with self.roost.joined("mallory", room=ROOM) as ws:
            offer = Offer()
            for _ in range(16):
                offer.add("video", "sendonly")
                offer.add("audio", "sendonly")
            await say(ws, type="offer", id=1, sdp=offer.sdp, tracks=[])
            tracks = [each["track"] for each in (await hear(ws, "answer"))["tracks"]]
            reader = asyncio.create_task(drain(ws))
            try:
                for muted in itertools.cycle((True, False)):
                    for track in tracks:
                        await say(ws, type="mute", track=track, muted=muted)
                        yield
                    if self.over:
                        return
                    await asyncio.sleep(0)
            finally:
                reader.cancel()

    # What they are made of

    @property
    def admin(self):
        return token("", ROOM, **ADMIN)

    async def permit(self, **permissions):
        everything = {"canPublish": True, "canSubscribe": True, "canPublishData": True} | permissions
        await asyncio.to_thread(ask, self.roost, "PATCH", f"/v1/rooms/{ROOM}/participants/mallory", self.admin,
                                {"permissions": everything})

    async def in_sessions(self, deed):
        """Does it in one session after another: without media a session ends after half a minute."""
        while not self.over:
            with contextlib.suppress(websockets.ConnectionClosed):
                async with self.roost.joined("mallory", room=ROOM) as ws:
                    await deed(ws)

    async def offered(self, ws, offer):
        """Offers and waits for what is said to it, be it a refusal."""
        await say(ws, type="offer", id=1, sdp=offer.sdp, tracks=offer.sources)
        while True:
            message = json.loads(await asyncio.wait_for(ws.recv(), 20))
            if message.get("id") == 1:
                if message["type"] == "error":
                    await asyncio.sleep(0.02)
                return 1

    async def flood(self, texts, said):
        count = 0
        while not self.over:
            with contextlib.suppress(Exception):  # it is thrown out, and comes again
                async with self.roost.connect(ROOM, max_size=2**22) as ws:
                    if said:
                        await say(ws, type="auth", token=said)
                    reader = asyncio.create_task(drain(ws))
                    try:
                        while not self.over:
                            for text in texts:
                                await asyncio.wait_for(ws.send(text), max(self.end - time.monotonic(), 0.1))
                                count += 1
                            await asyncio.sleep(0)
                    finally:
                        reader.cancel()
        return count

    @contextlib.asynccontextmanager
    async def publisher(self):
        """A real publisher of one video track that sends nothing by itself."""
        pc = RTCPeerConnection(RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE))
        sender = pc.addTransceiver(Silent(), "sendonly").sender
        async with self.roost.joined("mallory", room=ROOM) as ws:
            await pc.setLocalDescription(await pc.createOffer())
            await say(ws, type="offer", id=1, sdp=pc.localDescription.sdp,
                      tracks=[{"mid": pc.getTransceivers()[0].mid, "source": "camera"}])
            await pc.setRemoteDescription(RTCSessionDescription((await hear(ws, "answer"))["sdp"], "answer"))
            reader = asyncio.create_task(drain(ws))
            deadline = time.monotonic() + 10
            while pc.connectionState != "connected":
                if time.monotonic() > deadline:
                    raise TimeoutError("the hostile publisher isn't connected")
                await asyncio.sleep(0.02)
            try:
                yield sender, vp8_of(pc)
            finally:
                reader.cancel()
        await pc.close()


EVIDENCE = {"forged_checks": "roost_abandoned_paths_total"}
"""What the server counts when the deed has reached it."""
DEEDS = ["rollover", "stopped_sections", "published_again", "forged_checks", "messages", "offers", "screens", "raced_removals",
         "wrong_sources", "odd_tokens", "toggled_mutes"]


class Offer:
    """An offer without a far end behind it."""

    def __init__(self):
        self.ufrag, self.password = secrets.token_hex(4), secrets.token_hex(16)
        self.fingerprint = ":".join(f"{byte:02X}" for byte in secrets.token_bytes(32))
        self.sections, self.sources = [], []
        self.numbers, self.formats = "96", ""
        self.version = 0

    def add(self, kind, direction, mid=None, source=None):
        mid = mid or f"m{len(self.sections)}"
        place = next((index for index, each in enumerate(self.sections) if each is None), len(self.sections))
        self.sections[place:place + 1] = [(kind, direction, mid, secrets.randbits(32))]
        if source:
            self.sources.append({"mid": mid, "source": source})

    def stop_all(self):
        self.stopped = [each and each[0] for each in self.sections]
        self.sections = [None] * len(self.sections)
        self.sources = []

    @property
    def sdp(self):
        self.version += 1
        lines = [f"v=0\r\no=- 1 {self.version} IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"]
        mids = " ".join(each[2] for each in self.sections if each)
        if mids:
            lines.append(f"a=group:BUNDLE {mids}\r\n")
        for index, each in enumerate(self.sections):
            kind, direction, mid, ssrc = each or (self.stopped[index] or "audio", "inactive", f"x{index}", 1)
            numbers, formats = (self.numbers, f"a=rtpmap:96 VP8/90000\r\n{self.formats}") if kind == "video" \
                else ("111", "a=rtpmap:111 opus/48000/2\r\n")
            lines.append(
                f"m={kind} {9 if each else 0} UDP/TLS/RTP/SAVPF {numbers}\r\nc=IN IP4 0.0.0.0\r\na=mid:{mid}\r\na={direction}\r\n"
                f"a=ice-ufrag:{self.ufrag}\r\na=ice-pwd:{self.password}\r\na=fingerprint:sha-256 {self.fingerprint}\r\n"
                f"a=setup:actpass\r\na=rtcp-mux\r\n{formats}")
            if each and direction == "sendonly":
                lines.append(f"a=msid:s t{ssrc}\r\na=ssrc:{ssrc} cname:c\r\n")
        return "".join(lines)


async def drain(ws):
    with contextlib.suppress(websockets.WebSocketException):
        async for _ in ws:
            pass


def vp8_of(pc):
    return int(re.search(r"^a=rtpmap:(\d+) VP8/", pc.remoteDescription.sdp, re.MULTILINE)[1])


def udp_ports(process):
    """Ports of a process's UDP sockets."""
    inodes = set()
    for descriptor in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(OSError):
            found = re.match(r"socket:\[(\d+)\]", os.readlink(f"/proc/{process}/fd/{descriptor}"))
            if found:
                inodes.add(found[1])
    ports = []
    for name in ("udp", "udp6"):
        with open(f"/proc/net/{name}") as table:
            for line in table.readlines()[1:]:
                words = line.split()
                if words[9] in inodes:
                    ports.append(int(words[1].split(":")[1], 16))
    return ports


def datagram(source, source_port, target, target_port, payload):
    """An IPv4 packet with a UDP datagram, whoever sends it; the kernel adds length and checksum, UDP's may be 0."""
    udp = struct.pack("!HHHH", source_port, target_port, 8 + len(payload), 0) + payload
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, socket.IPPROTO_UDP, 0,
                       socket.inet_aton(source), socket.inet_aton(target))
    return head + udp
