#!/usr/bin/python3
"""A UDP relay before the server: as a program the relay, a process of its own; as a module its controls.

It stands for a NAT. At the word `change` it goes on from another outgoing port, and what still comes to the old one
is lost. It prints one JSON object a line, with times in milliseconds since 1970:

    {"listening": PORT}     where the browser sends to
    {"changed": TIME}       from here on another port is in use
    {"check": TIME}         the browser's first STUN request from the new port
    {"media": TIME}         the server's first packet of media to the new port
"""

import asyncio
import json
import os
import socket
import sys
import time

if __name__ != "__main__":
    from .process import Process

SO_RCVBUFFORCE = 33
BUFFER = 4 << 20


def _is_request(datagram):
    return len(datagram) >= 20 and datagram[0] == 0 and datagram[1] == 1


def _is_media(datagram):
    return len(datagram) >= 12 and 128 <= datagram[0] <= 191 and not 64 <= datagram[1] & 0x7F <= 95


class _Relay:
    def __init__(self, address, server):
        self._address = address
        self._server = server
        self._browser = None
        self._loop = asyncio.get_running_loop()
        self._inner = self._socket()
        self._outer = None
        self._old = []
        self._seen = set()
        self._loop.add_reader(self._inner, self._from_browser)
        self._say(listening=self._inner.getsockname()[1])
        self._open()

    def _socket(self):
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setblocking(False)
        # What a NAT forwards as it comes, waits here for Python.
        try:
            made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
        except PermissionError:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        made.bind((self._address, 0))
        return made

    def _say(self, **event):
        print(json.dumps(event), flush=True)

    def _first(self, what):
        if self._old and what not in self._seen:
            self._seen.add(what)
            self._say(**{what: 1000 * time.time()})

    def _open(self):
        self._outer = self._socket()
        self._loop.add_reader(self._outer, self._from_server, self._outer)

    def change(self):
        # The old port stays taken and mute: a NAT that forgot a mapping refuses nothing.
        self._loop.remove_reader(self._outer)
        self._old.append(self._outer)
        self._open()
        self._seen.clear()
        self._say(changed=1000 * time.time())

    def _datagrams(self, source):
        while True:
            try:
                yield source.recvfrom(2048)
            except (BlockingIOError, ConnectionRefusedError):
                return

    def _send(self, through, datagram, address):
        try:
            through.sendto(datagram, address)
        except (BlockingIOError, ConnectionRefusedError):
            pass

    def _from_browser(self):
        for datagram, self._browser in self._datagrams(self._inner):
            if _is_request(datagram):
                self._first("check")
            self._send(self._outer, datagram, self._server)

    def _from_server(self, outer):
        for datagram, _ in self._datagrams(outer):
            if _is_media(datagram):
                self._first("media")
            if self._browser:
                self._send(self._inner, datagram, self._browser)


async def _main(address, port):
    relay = _Relay(address, (address, int(port)))
    asyncio.get_running_loop().add_signal_handler(10, relay.change)  # SIGUSR1
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))


class Relay:
    """`async with Relay(address, port) as relay:` runs one before the server's UDP port."""

    def __init__(self, name, address, port):
        self.address = address
        self.port = None
        self._process = Process(f"relay-{name}", [sys.executable, os.path.abspath(__file__), address, str(port)])

    async def __aenter__(self):
        self._process.start()
        try:
            self.port = await self._process.wait_for("port", lambda: self._last("listening"), 10)
        except BaseException:
            await self._process.end()
            raise
        return self

    async def __aexit__(self, *_):
        await self._process.end()

    def _events(self):
        return [json.loads(line) for line in self._process.log().splitlines() if line.startswith("{")]

    def _last(self, what, since=0):
        found = [event[what] for event in self._events() if what in event and event[what] >= since]
        return found[0] if since and found else found[-1] if found else None

    async def change(self):
        """Goes on from another port; answers when, in milliseconds since 1970."""
        count = sum("changed" in event for event in self._events())
        self._process.signal(10)
        return await self._process.wait_for(
            "change", lambda: sum("changed" in e for e in self._events()) > count and self._last("changed"), 5)

    def first(self, what, since):
        """When `check` or `media` was first seen after the change at `since`; None if it wasn't."""
        return self._last(what, since)
