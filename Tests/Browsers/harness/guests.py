"""People who are in a room by its signalling alone: for pages that have to show many, without a browser for each."""

import contextlib
import os
import sys

from .rest import token

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Server"))
from signaller import joined, say  # noqa: E402 (shared with the tests of the server)


@contextlib.asynccontextmanager
async def guests(server, binary, room, names):
    """One person of each name, who publishes nothing, until the end of the block."""
    async with contextlib.AsyncExitStack() as stack:
        for number, name in enumerate(names):
            text = token(binary, "--room", room, "--identity", f"guest-{number}", "--name", name)
            await stack.enter_async_context(joined(server.ORIGIN, room, text))
        yield


async def shown(server, room, text):
    """What the server says to a guest that comes in by that token, and goes at once."""
    async with joined(server.ORIGIN, room, text) as ws:
        await say(ws, type="leave")
        return ws.joined
