"""The native protocol for tests in Python: a socket, what is said on it, what is heard, and who is in a room by it."""

import asyncio
import contextlib
import json

import websockets


def connect(origin, room="demo", **more):
    """A WebSocket at the native door of `http://host:port`."""
    return websockets.connect(f"{origin.replace('http', 'ws', 1)}/v1/rooms/{room}/connect", subprotocols=["roost.v1"],
                              **{"close_timeout": 1} | more)


async def say(ws, **message):
    await ws.send(json.dumps(message))


async def heard(ws):
    """The next message."""
    return json.loads(await ws.recv())


async def hear(ws, kind, seconds=5):
    """The next message of that type; others before it are passed over."""
    async def until():
        while True:
            message = await heard(ws)
            if message["type"] == kind:
                return message

    return await asyncio.wait_for(until(), seconds)


@contextlib.asynccontextmanager
async def joined(origin, room, token, **more):
    """A participant by that token: its socket, with `joined` as the server said it."""
    async with connect(origin, room, **more) as ws:
        await say(ws, type="auth", token=token)
        ws.joined = await hear(ws, "joined")
        yield ws
