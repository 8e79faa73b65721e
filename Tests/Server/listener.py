"""One who reads events as they happen, over a plain socket, so that a test decides when it reads and when it goes."""

import asyncio
import json
import socket


class Ended(Exception):
    """The connection ended."""


class Listener:
    """`async with Listener(roost, "/v1/events", token) as listener:`"""

    def __init__(self, roost, path, text, last=None, receive_buffer=None):
        host, port = roost.public.rsplit(":", 1)
        self._address = (host, int(port))
        fields = {"Host": roost.public, "Accept": "text/event-stream", "Authorization": f"Bearer {text}"}
        if last is not None:
            fields["Last-Event-ID"] = last
        self._request = f"GET {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"
        self._receive_buffer = receive_buffer
        self.status, self.head, self.last, self.comments = None, "", last, 0
        # Whether the body has had its end.
        self.is_whole = False

    async def __aenter__(self):
        connection = socket.socket()
        if self._receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._receive_buffer)
        connection.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connection, self._address)
        self._reader, self._writer = await asyncio.open_connection(sock=connection, limit=2**22)
        self._writer.write(self._request.encode())
        try:
            self.head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        except asyncio.IncompleteReadError:
            self.go()
            raise
        self.status = int(self.head.split()[1])
        self._text = ""
        return self

    async def __aexit__(self, *_):
        self.go()

    def go(self):
        self._writer.transport.abort()

    def deafen(self):
        """Takes nothing more of the socket, until `listen`."""
        self._writer.transport.pause_reading()

    def listen(self):
        self._writer.transport.resume_reading()

    async def problem(self):
        """The body of a refusal."""
        length = int(self.head.split("content-length: ")[1].split("\r\n")[0])
        return json.loads(await self._reader.readexactly(length))

    async def _piece(self):
        """The next chunk's text."""
        try:
            size = int(await self._reader.readuntil(b"\r\n"), 16)
            content = (await self._reader.readexactly(size + 2))[:-2]
        except (asyncio.IncompleteReadError, ConnectionError):
            raise Ended from None
        if size == 0:
            self.is_whole = True
            raise Ended
        return content.decode()

    async def event(self):
        """The next event: its type and its data. `last` is its id."""
        while True:
            while "\n\n" not in self._text:
                self._text += await self._piece()
            block, self._text = self._text.split("\n\n", 1)
            fields = {}
            for line in block.split("\n"):
                if line.startswith(":"):
                    self.comments += 1
                else:
                    name, value = line.split(": ", 1)
                    fields[name] = value
            if "id" in fields:
                self.last = fields["id"]
            if "data" in fields:
                return fields["event"], json.loads(fields["data"])

    async def rest(self):
        """All events until the connection ends."""
        events = []
        try:
            while True:
                events.append(await self.event())
        except Ended:
            return events
