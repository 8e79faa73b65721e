"""Calls of the page call.html: participants of a room, and pairs without a server. A page holds any number by name."""

import asyncio
import json
import urllib.request

from .pages import Pages

PAGE = "call.html"


def token(server, room, identity, **more):
    """A token from the server under test."""
    body = json.dumps({"room": room, "identity": identity, **more}).encode()
    request = urllib.request.Request(f"{server.ORIGIN}/dev/token", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=5) as answer:
        return json.load(answer)["token"]


async def open_page(browser, pages: Pages, source=None):
    """Loads the page and makes its stream: `noise` or `flash`."""
    await browser.open(pages.url(PAGE))
    if source:
        await browser.evaluate(f"window.stream = await sources.{source}()")


class Call:
    """A call in a browser's page."""

    def __init__(self, browser, name):
        self.browser = browser
        self.name = name
        self.js = f"calls[{json.dumps(name)}]"

    @property
    def connection(self):
        return f"{self.js}.connection"

    async def run(self, body, seconds=30.0):
        """Runs `body` in the page with the call as `call`."""
        return await self.browser.evaluate(f"const call = {self.js}; {body}", seconds)

    async def until(self, expression, seconds=20.0):
        return await self.browser.wait_until(f"({expression.replace('call.', self.js + '.')})", seconds)

    async def stats(self):
        return await self.browser.stats(self.connection)

    async def close(self):
        await self.run(f"call.close(); delete {self.js}")


class Participant(Call):
    """Somebody in a room."""

    async def join(self, server, room, publish=True, pairs=4, relay=None, stream="window.stream",
                   bundle="max-bundle"):
        """Joins as `self.name`; what happened when is in the page's `call.times`."""
        options = {"url": server.ORIGIN, "room": room, "token": token(server, room, self.name), "pairs": pairs,
                   "relay": relay, "bundlePolicy": bundle}
        await self.browser.evaluate(
            f"{self.js} = new Participant(); await {self.js}.join("
            f"{{ ...{json.dumps(options)}, stream: {stream if publish else 'null'} }})")

    async def leave(self):
        await self.run(f"await call.leave(); delete {self.js}")

    async def first_frame(self, identity, since=0, seconds=20.0):
        """When the first picture of somebody was shown, in milliseconds since 1970."""
        return await self.until(f"call.watchOf({json.dumps(identity)})?.firstFrame({since})", seconds)

    async def times(self):
        return await self.run("return call.times")


async def connect_directly(offering: Call, answering: Call):
    """Both send `window.stream` of their page to each other."""
    for call in (offering, answering):
        await call.browser.evaluate(f"{call.js} = new Direct()")
    offer = await offering.run("return call.offer(window.stream)")
    answer = await answering.run(f"return call.answer({json.dumps(offer)}, window.stream)")
    await offering.run(f"await call.accept({json.dumps(answer)})")
    await asyncio.gather(*(call.until("call.watch !== null") for call in (offering, answering)))
