"""A publisher and the server on one side of a link, viewers on the other."""

import asyncio
import contextlib
import json
from dataclasses import dataclass

from .calls import Call, Participant, open_page, token
from .chromium import Chromium
from .link import Link, settings
from .pages import Pages
from .quality import PACKET, entries, total
from .server import Server

PUBLISHER = "publisher"


class Layered(Participant):
    """Somebody who sends layers, or asks for one of them."""

    async def join(self, server, room, publish=False, pairs=1, codec=None, mode=None, encrypted=False, plain_sound=False):
        options = {"url": server.ORIGIN, "room": room, "token": token(server, room, self.name), "pairs": pairs}
        kind = {"codec": codec, "mode": mode, "encrypted": encrypted, "plainSound": plain_sound}
        await self.browser.evaluate(
            f"{self.js} = new LayeredParticipant({json.dumps(kind)}); await {self.js}.join("
            f"{{ ...{json.dumps(options)}, stream: {'window.stream' if publish else 'null'} }})")
        await self.until("call.connection.connectionState === 'connected'")


class Stage:
    """`async with Stage(options, down) as stage:`, then `async with stage.viewer(Firefox) as browser:`."""

    def __init__(self, options, down=settings(), up=settings(), source="noise"):
        self._options = options
        self._source = source
        self.link = Link(options.link, down, up)
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self):
        try:
            enter = self._stack.enter_async_context
            await enter(self.link)
            # After the link, whose address it offers.
            self.server = await enter(Server(self._options.roost))
            await self.link.network.pass_on(7880)
            self.pages = self._stack.enter_context(Pages())
            self.pages_there = self._stack.enter_context(Pages(self.link.network))
            self.publisher = await enter(Chromium(flags=[Chromium.ALL_LAYERS]))
            await open_page(self.publisher, self.pages, self._source)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_):
        await self._stack.aclose()

    @contextlib.asynccontextmanager
    async def viewer(self, kind):
        async with kind(network=self.link.network) as browser:
            await open_page(browser, self.pages_there)
            yield browser

    async def publish(self, room, **how):
        call = Layered(self.publisher, PUBLISHER)
        await call.join(self.server, room, publish=True, pairs=0, **how)
        return call

    async def view(self, browser, room, **how):
        call = Layered(browser, "viewer")
        await call.join(self.server, room, **how)
        return call

    async def directly(self, browser):
        """The publisher's end and the viewer's of a connection without the server."""
        near, far = Call(self.publisher, "near"), Call(browser, "far")
        for call in (near, far):
            await call.browser.evaluate(f"{call.js} = new PlainDirect()")
        offer = await near.run("return call.offer(window.stream)")
        answer = await far.run(f"return call.answer({json.dumps(offer)}, null)")
        await near.run(f"await call.accept({json.dumps(answer)})")
        await far.until("call.watch !== null")
        return near, far


@dataclass
class Seen:
    """What a viewer saw in a window, beside what was sent."""

    frames: int
    sent: dict  # height of an encoding: frames
    freezes: int
    height: int
    gap: float  # the longest time between shown pictures, milliseconds
    concealed: float  # shares of the samples played; and what was never sent, because the publisher's clock is slow
    unsent: float
    limited: str  # why the publisher sends less than it could
    seconds: float

    @property
    def share(self):
        """Of the frames of the encoding that is shown."""
        sent = self.sent.get(self.height, 0)
        return self.frames / sent if sent else 0.0

    def __str__(self):
        sent = ", ".join(f"{frames} of {height} lines" for height, frames in sorted(self.sent.items()))
        return (f"{self.frames} frames of {self.height} lines ({sent} sent) in {self.seconds:.1f} s, {self.freezes} freezes, "
                f"longest gap {self.gap:.0f} ms, publisher limited by {self.limited}")


def _sent(stats):
    return {entry["ssrc"]: (entry.get("frameHeight") or 0, entry.get("framesSent") or 0)
            for entry in entries(stats, "video", "outbound-rtp")}


async def seen(near, far, seconds, watch="call.watch"):
    """What `far` sees of `near` over the next `seconds`."""
    loop = asyncio.get_running_loop()

    async def both():
        return await asyncio.gather(near.stats(), far.stats(), far.run("return clock()"))

    start = loop.time()
    sent_before, before, began = await both()
    await asyncio.sleep(seconds - (loop.time() - start))
    span = loop.time() - start
    sent_after, after, ended = await both()

    def grown(kind, field):
        return total(after, kind, "inbound-rtp", field) - total(before, kind, "inbound-rtp", field)

    first, sent = _sent(sent_before), {}
    for ssrc, (height, frames) in _sent(sent_after).items():
        sent[height] = sent.get(height, 0) + frames - first.get(ssrc, (0, 0))[1]
    samples = grown("audio", "totalSamplesReceived")
    packets = [total(each, "audio", "outbound-rtp", "packetsSent") for each in (sent_before, sent_after)]
    video = max(entries(after, "video", "inbound-rtp"), key=lambda each: each.get("framesDecoded") or 0)
    reasons = {each.get("qualityLimitationReason", "none") for each in entries(sent_after, "video", "outbound-rtp")}
    gap = await far.run(f"return {watch} ? longestGap({watch}, {began}, {ended}) : {1000 * span}")
    return Seen(grown("video", "framesDecoded"), sent, grown("video", "freezeCount"), video.get("frameHeight") or 0, gap,
                grown("audio", "concealedSamples") / samples if samples else 1.0,
                max(0.0, 1 - PACKET * (packets[1] - packets[0]) / samples) if samples else 0.0,
                "cpu" if "cpu" in reasons else ", ".join(sorted(reasons - {"none"})) or "none", span)
