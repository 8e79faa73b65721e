"""People who are in a room by its signalling alone: for pages that have to show many, without a browser for each."""

import contextlib
import os
import sys

import websockets

from .calls import token

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Server"))
from signaller import connect, hear, joined, say  # noqa: E402, F401 (shared with the tests of the server)


@contextlib.asynccontextmanager
async def guests(server, room, names, first=0):
    """One person of each name, who publishes nothing, until the end of the block. `first`: the number of the first identity."""
    async with contextlib.AsyncExitStack() as stack:
        for number, name in enumerate(names, first):
            text = token(server, room, f"guest-{number}", name=name)
            # What comes isn't read, and holds up no goodbye.
            ws = await stack.enter_async_context(joined(server.ORIGIN, room, text, max_queue=None))
            stack.push_async_callback(_leave, ws)
        yield


async def _leave(ws):
    with contextlib.suppress(websockets.ConnectionClosed):
        await say(ws, type="leave")


async def shown(server, room, text):
    """What the server says to a guest that comes in by that token, and goes at once."""
    async with joined(server.ORIGIN, room, text) as ws:
        await say(ws, type="leave")
        return ws.joined
