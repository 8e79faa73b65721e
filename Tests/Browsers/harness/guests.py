"""People who are in a room by its signalling alone: for pages that have to show many, without a browser for each."""

import contextlib
import json

import websockets

from .rest import token


@contextlib.asynccontextmanager
async def guests(server, binary, room, names):
    """One person of each name, who publishes nothing, until the end of the block."""
    async with contextlib.AsyncExitStack() as stack:
        for number, name in enumerate(names):
            url = f"{server.ORIGIN.replace('http', 'ws', 1)}/v1/rooms/{room}/connect"
            socket = await stack.enter_async_context(websockets.connect(url, subprotocols=["roost.v1"], close_timeout=1))
            await socket.send(json.dumps({
                "type": "auth", "token": token(binary, "--room", room, "--identity", f"guest-{number}", "--name", name)}))
            answer = json.loads(await socket.recv())
            if answer["type"] != "joined":
                raise RuntimeError(f"{name} was not let in: {answer}")
        yield
