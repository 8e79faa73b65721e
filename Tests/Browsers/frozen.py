"""A browser that stands still, as a laptop that sleeps: for 10 s its place is kept, for 40 s it comes again by itself."""

import asyncio
import os
import signal
import time

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.server import Server

CONNECTED = "window.roostPage?.peerConnection?.connectionState === 'connected'"
WATCH = """
window.seen = [];
roostPage.room.addEventListener("event", ({ detail }) => {
  seen.push({ type: detail.type, identity: detail.participant?.identity, reason: detail.reason });
});
"""
# Pictures of the other, decoded.
FRAMES = """(await (async () => {
  const stats = [...(await roostPage.peerConnection.getStats()).values()];
  return Math.max(0, ...stats.filter((each) => each.type === "inbound-rtp" && each.kind === "video")
    .map((each) => each.framesDecoded ?? 0));
})())"""


async def _moves_on(browser, since, seconds):
    """Seconds from `since` until five more pictures of the other were decoded."""
    first = await browser.evaluate(f"return {FRAMES}")
    await browser.wait_until(f"{FRAMES} !== {first} && {FRAMES} > ({FRAMES} < {first} ? 5 : {first + 5})", seconds)
    return time.monotonic() - since


async def _freeze(browser, seconds):
    """@returns when it went on"""
    # Its processes have a group of their own.
    os.killpg(browser.process.pid, signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        os.killpg(browser.process.pid, signal.SIGCONT)
    return time.monotonic()


def _of(seen, frozen):
    return [each["type"].removeprefix("participant.") for each in seen
            if each["identity"] == frozen.name and each["type"].startswith("participant.")]


async def _short(report, frozen, witness):
    await witness.evaluate("seen.length = 0")
    since = await _freeze(frozen, 10)
    backs = await asyncio.gather(*(_moves_on(each, since, 15) for each in (frozen, witness)))
    await asyncio.sleep(1)
    events = _of(await witness.evaluate("return seen"), frozen)
    holds = report.row(f"{frozen.name} frozen for 10 s: what the other hears", "at most one reconnecting, none leaves",
                       ", ".join(events) or "nothing", events in ([], ["reconnecting", "reconnected"]))
    return holds & report.row(f"{frozen.name} frozen for 10 s: media both ways after it goes on", "at most 3 s",
                              " and ".join(f"{back:.1f} s" for back in backs), max(backs) <= 3)


async def _long(report, frozen, witness):
    await witness.evaluate("seen.length = 0")
    before = await frozen.evaluate("return roostPage.room.me.id")
    since = await _freeze(frozen, 40)
    await frozen.wait_until(f"roostPage.room.me.id !== '{before}' && {CONNECTED}", 20)
    await witness.wait_until("[...roostPage.room.participants.values()].some("
                             f"({{ identity, tracks }}) => identity === '{frozen.name}' && tracks.length === 2)", 20)
    backs = await asyncio.gather(*(_moves_on(each, since, 20) for each in (frozen, witness)))
    events = _of(await witness.evaluate("return seen"), frozen)
    return report.row(f"{frozen.name} frozen for 40 s", "left, and joined again by itself",
                      f"{', '.join(events)}; media both ways after {max(backs):.1f} s",
                      events == ["reconnecting", "left", "joined"] and max(backs) <= 10)


async def _run(report, options, server, browsers):
    for browser in browsers:
        await browser.open(server.page("frozen", browser.name, True) + "&source=noise")
        await browser.wait_until(CONNECTED)
    for browser in browsers:
        await browser.evaluate(WATCH)
        await browser.wait_until(f"{FRAMES} > 5")
    holds = True
    for frozen, witness in ((*browsers,), (*browsers[::-1],)) if options.full else ((*browsers,),):
        holds &= await _short(report, frozen, witness)
        if options.full:
            holds &= await _long(report, frozen, witness)
    return holds


async def run(report, options):
    async with Server(options.roost) as server, Chromium() as chromium, Firefox() as firefox:
        browsers = (chromium, firefox)
        async with kept_on_failure(report, options.evidence, browsers, (server.process,)):
            holds = await _run(report, options, server, browsers)
        server.process.require_running()
        return holds
