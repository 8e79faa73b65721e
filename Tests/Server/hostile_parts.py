"""What hostile clients are made of: offers without a far end, datagrams with forged addresses, a camera that sends nothing."""

import asyncio
import base64
import contextlib
import itertools
import json
import os
import re
import secrets
import socket
import struct

from aiortc import VideoStreamTrack


class Silent(VideoStreamTrack):
    async def recv(self):
        await asyncio.Event().wait()


class Offer:
    """An offer without a far end behind it."""

    def __init__(self):
        self.ufrag, self.password = secrets.token_hex(4), secrets.token_hex(16)
        self.fingerprint = ":".join(f"{byte:02X}" for byte in secrets.token_bytes(32))
        self.sections, self.sources, self.stopped = [], [], []
        self.numbers, self.formats = "96", ""
        self.version = 0
        self.running = itertools.count()

    def add(self, kind, direction, mid=None, source=None):
        """Adds a section in the first place that is free, under a mid of its own unless one is given."""
        mid = mid or f"m{next(self.running)}"
        place = next((index for index, each in enumerate(self.sections) if each is None), len(self.sections))
        self.sections[place:place + 1] = [(kind, direction, mid, secrets.randbits(32))]
        if source:
            self.sources.append({"mid": mid, "source": source})

    def stop_all(self):
        """Until sections are added, an offer of these stops everything and begins nothing."""
        before = self.stopped + [None] * len(self.sections)
        self.stopped = [each[0] if each else kind for each, kind in zip(self.sections, before)]
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
            kind, direction, mid, ssrc = each or (self.stopped[index], "inactive", f"x{index}", 1)
            numbers, formats = (self.numbers, f"a=rtpmap:96 VP8/90000\r\n{self.formats}") if kind == "video" \
                else ("111", "a=rtpmap:111 opus/48000/2\r\n")
            lines.append(
                f"m={kind} {9 if each else 0} UDP/TLS/RTP/SAVPF {numbers}\r\nc=IN IP4 0.0.0.0\r\na=mid:{mid}\r\na={direction}\r\n"
                f"a=ice-ufrag:{self.ufrag}\r\na=ice-pwd:{self.password}\r\na=fingerprint:sha-256 {self.fingerprint}\r\n"
                f"a=setup:actpass\r\na=rtcp-mux\r\n{formats}")
            if each and direction == "sendonly":
                lines.append(f"a=msid:s t{ssrc}\r\na=ssrc:{ssrc} cname:c\r\n")
        return "".join(lines)


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
    """An IPv4 packet with a UDP datagram from any address; the kernel adds length and checksum, UDP's may be 0."""
    udp = struct.pack("!HHHH", source_port, target_port, 8 + len(payload), 0) + payload
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, socket.IPPROTO_UDP, 0,
                       socket.inet_aton(source), socket.inet_aton(target))
    return head + udp


def expiry(text):
    part = text.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["exp"]


def vp8_of(pc):
    return int(re.search(r"^a=rtpmap:(\d+) VP8/", pc.remoteDescription.sdp, re.MULTILINE)[1])
