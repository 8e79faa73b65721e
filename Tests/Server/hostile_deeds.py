"""What one participant with a valid token does to the others, each deed for as long as it may."""

import asyncio
import collections
import contextlib
import itertools
import json
import random
import re
import secrets
import socket
import struct
import time

import websockets
from aioice import stun
from aiortc import RTCBundlePolicy, RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from hostile_parts import Offer, Silent, datagram, expiry, udp_ports, vp8_of
from roost import ask, put_together, token
from signaller import hear, say

ADMIN = {"roomAdmin": True, "roomJoin": False}
ROOM = "load-1"
"""Where half of the bystanders are."""


class Over(Exception):
    """Nothing more is to be done in this session."""


class Deeds:
    """Each method runs until `self.over` and counts in `counts` what the server has done about it."""

    def __init__(self, roost, seconds, victims):
        """`victims`: the process of the bystanders."""
        self.roost, self.victims = roost, victims
        self.seconds, self.end = seconds, time.monotonic() + seconds
        self.counts = collections.Counter()
        self.ids = itertools.count(1)

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
            self.counts["packets"] = count

    async def stopped_sections(self):
        """Stops every section and takes them up again, while its permission to subscribe comes and goes."""
        async def deed(ws):
            offer = Offer()
            for number in itertools.count():
                for _ in range(3):
                    offer.add("video", "sendonly")
                    offer.add("audio", "recvonly")
                answer = await self.offered(ws, offer)
                self.counts["taken up"] += bool(answer["tracks"])
                await self.permit(canSubscribe=number % 2 == 1)
                await self.stopped(ws, offer)

        await self.in_sessions(deed)

    async def published_again(self):
        """Publishes under the mid that was withdrawn, in another section than before, while it may and may not."""
        async def deed(ws):
            offer = Offer()
            for number in itertools.count():
                mids = ["camera", None] if number % 2 else [None, "camera"]
                for is_allowed in (True, False):
                    await self.permit(canPublish=is_allowed)
                    await self.stopped(ws, offer)
                    for mid in mids if is_allowed else reversed(mids):
                        offer.add("video", "sendonly", mid=mid)
                    answer = await self.offered(ws, offer)
                    if answer["tracks"] and not is_allowed:
                        self.counts["wrong: published while forbidden"] += 1
                    self.counts["published"] += bool(answer["tracks"])

        await self.in_sessions(deed)

    async def forged_checks(self):
        """Sends checks under its own password from the addresses of all bystanders."""
        async def deed(ws):
            offer = Offer()
            offer.add("audio", "sendonly")
            answer = await self.offered(ws, offer)
            remote, password = [re.search(rf"^a=ice-{name}:(\S+)", answer["sdp"], re.MULTILINE)[1] for name in ("ufrag", "pwd")]
            while not self.over and ws.close_code is None:
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
                    self.counts["checks"] += 1
                await asyncio.sleep(0.1)

        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        with contextlib.closing(raw):
            await self.in_sessions(deed, room="elsewhere")

    async def messages(self):
        """Says much on nine connections before it says who it is, and on two that are let in."""
        large = json.dumps({"type": "zz", "tracks": [{}] * 60_000})
        small = [json.dumps({"type": "zz", "tracks": [{}] * 4_000}), '{"type":"candidate","candidate":"x","mid":"0"}',
                 '{"type":"ping"}', '{"type":"subscribe","track":"TR_x"}', json.dumps({"type": "ping", "x": [[]] * 6_000})]
        await asyncio.gather(*[self.flood([large], None) for _ in range(8)], self.flood(["{"], None),
                             self.flood(small, "mallory"), self.flood([*small, "{"], "mallory-too"))

    async def offers(self):
        """Offers 95 formats with parameters of 1.8 kB each, as fast as they are answered."""
        async def deed(ws):
            offer = Offer()
            offer.formats = "".join(f"a=rtpmap:{number} rtx/90000\r\na=fmtp:{number} apt=96;x={'y' * 1_800}\r\n"
                                    for number in list(range(0, 64)) + list(range(97, 128)))
            offer.numbers = " ".join(str(number) for number in [96] + list(range(0, 64)) + list(range(97, 128)))
            offer.add("video", "sendonly")
            while not self.over:
                answer = await self.offered(ws, offer)
                self.counts["published"] += bool(answer["tracks"])

        await self.in_sessions(deed)

    async def screens(self):
        """Calls 32 sections screens."""
        async def deed(ws):
            offer = Offer()
            for _ in range(16):
                offer.add("video", "sendonly", source="screen_share")
                offer.add("audio", "sendonly", source="screen_share_audio")
            answer = await self.offered(ws, offer)
            self.counts["screens"] += len(answer["tracks"])
            reader = asyncio.create_task(self.listen(ws))
            try:
                while not self.over:
                    await say(ws, type="ping")
                    await asyncio.sleep(1)
            finally:
                reader.cancel()

        await self.in_sessions(deed)

    async def raced_removals(self):
        """Joins again and again while it is removed again and again, seconds apart as its tokens' times are."""
        async def join():
            while not self.over:
                with contextlib.suppress(Exception):
                    async with self.roost.connect(ROOM) as ws:
                        await say(ws, type="auth", token=token("mallory", ROOM, issued=int(time.time())))
                        first = json.loads(await asyncio.wait_for(ws.recv(), 2))
                        if first["type"] == "joined":
                            self.counts["joined"] += 1
                            await asyncio.sleep(random.random() / 10)
                        else:
                            self.counts[f"refused {first.get('code')}"] += 1
                            # So that the address's own bound leaves something to the removals.
                            await asyncio.sleep(0.05)

        def remove():
            """Who was removed in this second isn't there before the next: its tokens are of this one or older."""
            path = f"/v1/rooms/{ROOM}/participants"
            second = int(time.time())
            status = ask(self.roost, "DELETE", f"{path}/mallory", self.admin).status
            self.counts["removed" if status == 204 else f"removal: {status}"] += 1
            shown = ask(self.roost, "GET", path, self.admin)
            if status == 204 and shown.status == 200 and int(time.time()) == second:
                self.counts["looked for"] += 1
                if "mallory" in [each["identity"] for each in shown.json["items"]]:
                    self.counts["wrong: there after its removal"] += 1

        async def remove_often():
            while not self.over:
                await asyncio.sleep(1 + random.random() / 4)
                for _ in range(5):
                    await asyncio.to_thread(remove)

        await asyncio.gather(join(), join(), join(), remove_often())

    async def wrong_sources(self):
        """Gives sections sources of the other kind, unknown ones and forbidden ones."""
        async def deed(ws):
            offer = Offer()
            for number in itertools.count():
                if number % 4 == 0:
                    unknown = Offer()
                    unknown.add("video", "sendonly", source="hologram")
                    with contextlib.suppress(Over):
                        await self.offered(ws, unknown)
                kind = "video" if number % 2 else "audio"
                for source in ("microphone", "screen_share", "camera", "screen_share_audio"):
                    offer.add(kind, "sendonly", source=source)
                allowed = [each["mid"] for each in offer.sources if (kind, each["source"]) == ("audio", "microphone")]
                answer = await self.offered(ws, offer)
                self.counts["published"] += len(answer["tracks"])
                if [each["mid"] for each in answer["tracks"]] != allowed:
                    self.counts["wrong: published a source that is forbidden"] += 1
                await self.stopped(ws, offer)

        await self.in_sessions(deed, canPublishSources=["microphone"])

    async def odd_tokens(self):
        """Comes with tokens that were issued never, long ago or in the future, and asks for their renewal."""
        while not self.over:
            now = int(time.time())
            # A renewal is due when half of the life that it gives, at most 600 s, is left, or less.
            soon = {"exp": now + 200}
            await asyncio.gather(*[self.renew(claims) for claims in (
                soon, soon | {"nbf": 0}, soon | {"iat": 0}, soon | {"iat": -2**53}, {"exp": now + 3, "iat": now - 3},
                {"nbf": 0}, {"iat": now + 1_000}, {"nbf": now + 1_000}, {"exp": 2**53}, {"exp": 2**53, "iat": now - 5}, {"nbf": -1})])

    async def renew(self, times):
        now = int(time.time())
        said = {"iss": "devkey", "sub": f"mallory-{secrets.token_hex(2)}", "exp": now + 600,
                "video": {"room": ROOM, "roomJoin": True}} | times
        with contextlib.suppress(websockets.WebSocketException, asyncio.TimeoutError):
            async with self.roost.connect(ROOM) as ws:
                await say(ws, type="auth", token=put_together({"alg": "HS256"}, said))
                first = json.loads(await asyncio.wait_for(ws.recv(), 2))
                self.counts["joined" if first["type"] == "joined" else f"refused {first.get('code')}"] += 1
                for _ in range(20):
                    await say(ws, type="ping")
                    message = json.loads(await asyncio.wait_for(ws.recv(), 2))
                    if message["type"] == "token":
                        self.counts["renewed"] += 1
                        if expiry(message["token"]) > time.time() + 601:
                            self.counts["wrong: renewed for longer than 600 s"] += 1
                    await asyncio.sleep(0.1)

    async def toggled_mutes(self):
        """Mutes and unmutes 32 tracks: in one session as often as it is done, in another as fast as it can be said."""
        async def steadily(ws):
            tracks = await self.published(ws)
            for muted in itertools.cycle((True, False)):
                for track in tracks:
                    await self.toggled(ws, track, muted)

        async def fast(ws):
            tracks = await self.published(ws)
            reader = asyncio.create_task(self.listen(ws))
            try:
                for muted in itertools.cycle((True, False)):
                    for track in tracks:
                        await say(ws, type="mute", track=track, muted=muted)
                        self.counts["mutes"] += 1
                    if self.over:
                        return
                    await asyncio.sleep(0)
            finally:
                reader.cancel()

        await asyncio.gather(self.in_sessions(steadily), self.in_sessions(fast, identity="mallory-too"))
        # Twenty a second are done for who asks for them one by one.
        if self.counts["mutes done"] < 10 * self.seconds:
            self.counts["wrong: few mutes were done"] += 1

    async def published(self, ws):
        """The ids of 32 tracks."""
        offer = Offer()
        for _ in range(16):
            offer.add("video", "sendonly")
            offer.add("audio", "sendonly")
        return [each["track"] for each in (await self.offered(ws, offer))["tracks"]]

    async def toggled(self, ws, track, muted):
        """Asks for a mute, or its end, until it is done; each is an event for everybody."""
        while not self.over:
            number = next(self.ids)
            await say(ws, type="mute", id=number, track=track, muted=muted)
            message = {}
            while message.get("id") != number:
                message = json.loads(await asyncio.wait_for(ws.recv(), 20))
                self.heard(message)
            if message["type"] == "ok":
                self.counts["mutes done"] += 1
                return
            await asyncio.sleep(0.02)
        raise Over

    # What they are made of

    @property
    def admin(self):
        return token("", ROOM, **ADMIN)

    async def permit(self, **permissions):
        everything = {"canPublish": True, "canSubscribe": True, "canPublishData": True} | permissions
        done = await asyncio.to_thread(ask, self.roost, "PATCH", f"/v1/rooms/{ROOM}/participants/mallory", self.admin,
                                       {"permissions": everything})
        for name, value in permissions.items():
            self.counts[f"{name} {json.dumps(value)}" if done.status == 200 else f"{name}: {done.status}"] += 1

    async def in_sessions(self, deed, room=ROOM, identity="mallory", **grants):
        """Does it in one session after another: without media a session ends after half a minute."""
        while not self.over:
            with contextlib.suppress(Over, asyncio.TimeoutError, websockets.WebSocketException):
                async with self.roost.joined(identity, room=room, **grants) as ws:
                    self.counts["sessions"] += 1
                    await deed(ws)
            await asyncio.sleep(0.02)

    async def offered(self, ws, offer):
        """The answer to an offer, which is offered again while there are too many; `Over` where it is refused or time is up.

        Each request has an id of its own: to one that was used before, its first answer comes again and nothing is done."""
        while not self.over:
            number = next(self.ids)
            await say(ws, type="offer", id=number, sdp=offer.sdp, tracks=offer.sources)
            message = {}
            while message.get("id") != number:
                message = json.loads(await asyncio.wait_for(ws.recv(), 20))
            if message["type"] == "answer":
                self.counts["answers"] += 1
                for each in message.get("declined", []):
                    self.counts[f"declined {each['code']}"] += 1
                return message
            self.counts[f"refused {message.get('code')}"] += 1
            await asyncio.sleep(0.02)
            if message.get("code") != "rate-limited":
                break
        raise Over

    async def stopped(self, ws, offer):
        """Stops everything by an offer that does nothing else."""
        if not any(offer.sections):
            return
        offer.stop_all()
        answer = await self.offered(ws, offer)
        self.counts["stopped"] += 1
        if answer["tracks"] or answer["slots"]:
            self.counts["wrong: sections that were stopped"] += 1

    async def flood(self, texts, identity):
        """Says these over and over; it is thrown out for it, and comes again."""
        while not self.over:
            with contextlib.suppress(Exception):  # whatever the library makes of a connection that is cut while it sends
                async with self.roost.connect(ROOM, max_size=2**22) as ws:
                    if identity:
                        await say(ws, type="auth", token=token(identity, ROOM))
                    reader = asyncio.create_task(self.listen(ws))
                    try:
                        while not self.over:
                            for text in texts:
                                await asyncio.wait_for(ws.send(text), max(self.end - time.monotonic(), 0.1))
                                self.counts["messages"] += 1
                            await asyncio.sleep(0)
                    finally:
                        with contextlib.suppress(asyncio.TimeoutError):
                            await asyncio.wait_for(reader, 0.5)

    async def listen(self, ws):
        """Counts what is said, and how it ended."""
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                self.heard(json.loads(await ws.recv()))
        self.counts[f"closed {ws.close_code}"] += 1

    def heard(self, message):
        kind = message["type"]
        more = message.get("code") or message.get("reason") or message.get("event", {}).get("type")
        self.counts[f"heard {kind} {more}" if more else f"heard {kind}"] += 1

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
            reader = asyncio.create_task(self.listen(ws))
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
