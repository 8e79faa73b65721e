"""Commands and answers as JSON over a WebSocket: the shape that CDP and WebDriver BiDi have in common."""

import asyncio
import itertools
import json
import urllib.parse

import websockets


class RemoteError(Exception):
    """The browser's own complaint about a command."""


class Remote:
    def __init__(self, socket):
        self._socket = socket
        self._ids = itertools.count(1)
        self._waiting = {}
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, url, network=None):
        """`network`: where the address lies, unless it is here."""
        where = {}
        if network:
            parts = urllib.parse.urlsplit(url)
            where["sock"] = network.connected(parts.hostname, parts.port)
            where["sock"].setblocking(False)
        # No limit on the message size: screenshots come as one message.
        socket = await websockets.connect(url, max_size=None, ping_interval=None, open_timeout=10,
                                          compression=None, **where)
        return cls(socket)

    async def _read(self):
        reason = "the browser closed the connection"
        try:
            async for text in self._socket:
                message = json.loads(text)
                future = self._waiting.pop(message.get("id"), None)
                if future is not None and not future.done():
                    future.set_result(message)
        except websockets.ConnectionClosed as closed:
            reason = str(closed)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(RemoteError(reason))
        self._waiting.clear()

    async def command(self, method, parameters=None, seconds=30.0, **envelope):
        if self._reader.done():
            raise RemoteError(f"{method}: the browser has gone")
        identifier = next(self._ids)
        future = asyncio.get_running_loop().create_future()
        self._waiting[identifier] = future
        message = {"id": identifier, "method": method, "params": parameters or {}} | envelope
        try:
            await self._socket.send(json.dumps(message))
            answer = await asyncio.wait_for(future, seconds)
        except asyncio.TimeoutError:
            raise TimeoutError(f"{method}: no answer within {seconds:g} s") from None
        finally:
            self._waiting.pop(identifier, None)
        if "error" in answer:
            raise RemoteError(f"{method}: {answer.get('message') or answer['error']}")
        return answer.get("result", {})

    async def close(self):
        self._reader.cancel()
        try:
            await asyncio.wait_for(self._socket.close(), 5)
        except (asyncio.TimeoutError, websockets.WebSocketException):
            pass
