"""What the page doesn't show it doesn't ask for, and what none asks for its publisher's page doesn't send: as a browser's own figures say it."""

import asyncio
import json

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.person import TABS, Person
from harness.server import Server

# When the page last said how it shows things, by its own clock.
ASKING = """
window.asked = 0;
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (text) {
  if (typeof text === "string" && text.includes('"view"')) window.asked = performance.now();
  return send.call(this, text);
};
"""
# Which encodings of the camera its page sends: rid → active.
ACTIVE = """Object.fromEntries(roostPage.room.publications.find(({ kind }) => kind === "video").transceiver.sender
  .getParameters().encodings.map(({ rid, active }) => [rid, active]))"""
SENT = """
const { sender } = roostPage.room.publications.find(({ kind }) => kind === "video").transceiver;
return [...(await sender.getStats()).values()].filter(({ type }) => type === "outbound-rtp")
  .reduce((sum, { bytesSent }) => sum + bytesSent, 0);
"""
# Of the picture in a tile: what was received of it.
RECEIVED = """
const track = %s.querySelector("video").srcObject.getVideoTracks()[0];
const stats = await roostPage.peerConnection.getReceivers().find((each) => each.track === track).getStats();
const { bytesReceived, framesDecoded, frameWidth } = [...stats.values()].find(({ type }) => type === "inbound-rtp");
return { bytesReceived, framesDecoded, frameWidth };
"""
# Notes when the tile shows a picture, and how wide it is.
FOLLOW = """
const video = %s.querySelector("video");
window.shown = [];
const note = () => {
  window.shown.push([performance.now(), video.videoWidth]);
  video.requestVideoFrameCallback(note);
};
video.requestVideoFrameCallback(note);
"""
REST = 3.0  # seconds in which nothing may come


async def _received(viewer, name):
    return await viewer.tab.evaluate(RECEIVED % viewer.tile(name))


async def _move(viewer, name, away):
    """Out of the window, beside whatever place the layout gives it, or back."""
    await viewer.tab.evaluate(f"{viewer.tile(name)}.style.translate = {json.dumps('0 -9999px' if away else '')}")


async def _becomes(publisher, expression, seconds):
    """Seconds until that holds of `active`; None: it never does."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    try:
        await publisher.until(f"(({{ f, h, q }}) => {expression})({ACTIVE})", seconds)
        return loop.time() - start
    except TimeoutError:
        return None


def _text(seconds):
    return "never" if seconds is None else f"{seconds:.1f} s"


async def _picture_after(viewer, condition="true"):
    """Milliseconds from the last word of how things are shown to the first picture of which that holds."""
    wanted = f"window.shown.find(([time, width]) => time > window.asked && {condition})"
    await viewer.until(f"Boolean({wanted})", 10)
    return await viewer.tab.evaluate(f"return {wanted}[0] - window.asked")


async def _out_of_sight(report, ada, bob):
    before = await bob.tab.evaluate("return window.asked")
    await _move(bob, "Ada", True)
    off = asyncio.create_task(_becomes(ada, "!f && !h && !q", 12))
    await bob.until(f"window.asked > {before}", 5)
    await asyncio.sleep(1.5)
    first = await _received(bob, "Ada")
    await asyncio.sleep(REST)
    second = await _received(bob, "Ada")
    more = second["bytesReceived"] - first["bytesReceived"]
    holds = report.row("page, a tile out of sight: what still comes of its picture in 3 s", "no picture, and nothing to speak of",
                       f"{second['framesDecoded'] - first['framesDecoded']} pictures, {more} bytes",
                       first["framesDecoded"] == second["framesDecoded"] and more <= 2_000)
    seconds = await off
    holds &= report.row("page, out of everyone's sight: until its publisher's page has all encodings off", "5 to 8 s", _text(seconds),
                        seconds is not None and 5 <= seconds <= 8)
    sent = await ada.tab.evaluate(SENT)
    await asyncio.sleep(REST)
    sent = await ada.tab.evaluate(SENT) - sent
    holds &= report.row("page, all encodings off: bytes that are sent of it in 3 s", "at most 5,000", f"{sent:g}", sent <= 5_000)

    await bob.tab.evaluate(FOLLOW % bob.tile("Ada"))
    before = await bob.tab.evaluate("return window.asked")
    await _move(bob, "Ada", False)
    await bob.until(f"window.asked > {before}", 5)
    wait = await _picture_after(bob)
    is_on = await _becomes(ada, "f || h || q", 5)
    return holds & report.row("page, in sight again: from the page's word to the picture", "at most 1.5 s, an encoding is on",
                              f"{wait / 1000:.2f} s, {'on' if is_on is not None else 'off'}", wait <= 1_500 and is_on is not None)


async def _small_and_large(report, ada, bob):
    """A tile that is small has the best encoding go off, and large again it is there."""
    # As large as it comes, which takes its time to be found.
    best = 0
    for _ in range(20):
        best = max(best, (await _received(bob, "Ada"))["frameWidth"])
        if await _becomes(ada, "f", 1) is not None and best >= 640:
            break
        await asyncio.sleep(0.5)
    await bob.tab.resize(360, 240)
    off = await _becomes(ada, "!f && (h || q)", 12)
    holds = report.row("page, a small tile: until the best encoding alone is off", "5 to 8 s", _text(off), off is not None and 5 <= off <= 8)
    small = (await _received(bob, "Ada"))["frameWidth"]
    await bob.tab.evaluate("window.shown = []")
    before = await bob.tab.evaluate("return window.asked")
    await bob.tab.resize(1280, 800)
    await bob.until(f"window.asked > {before}", 5)
    wait = await _picture_after(bob, f"width >= {best}")
    gaps = await bob.tab.evaluate("return Math.max(...window.shown.slice(1).map(([time], index) => time - window.shown[index][0]))")
    is_on = await _becomes(ada, "f", 5)
    holds &= report.row("page, large again: from the page's word to the best picture", "at most 1.5 s, the encoding is on",
                        f"{small} to {best} pixels in {wait / 1000:.2f} s, {'on' if is_on is not None else 'off'}",
                        small < best and wait <= 1_500 and is_on is not None)
    return holds & report.row("page, large again: the longest time without a picture meanwhile", "at most 1 s", f"{gaps:.0f} ms", gaps <= 1_000)


async def run(report, options):
    async with Server(options.roost) as server, Chromium(flags=[Chromium.ALL_LAYERS]) as browser:
        async with kept_on_failure(report, options.evidence, TABS, (server.process,)):
            ada = await Person.join(browser, server, "sight", "Ada")
            bob = await Person.join(browser, server, "sight", "Bob", ASKING)
            await bob.sees_picture("Ada")
            holds = await _out_of_sight(report, ada, bob)
            holds = await _small_and_large(report, ada, bob) and holds
            for person in (ada, bob):
                await person.leave()
        server.process.require_running()
        return holds
