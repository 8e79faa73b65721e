"""What a test of the documentation says to a server."""

import asyncio
import base64
import json

from signaller import say


def claims_of(text):
    return json.loads(base64.urlsafe_b64decode(text.split(".")[1] + "=="))


async def closed_by(roost):
    """Has the server close a WebSocket."""
    async with roost.connect() as ws:
        await ws.send("no JSON")
        await asyncio.wait_for(ws.wait_closed(), 5)


def join(roost, text):
    """The server's first message to a token."""
    async def first():
        async with roost.connect() as ws:
            await say(ws, type="auth", token=text)
            return json.loads(await asyncio.wait_for(ws.recv(), 5))

    return asyncio.run(first())
