"""A participant stops all its sections and later adds new ones, over the same connection and in the same session."""

import asyncio

from harness.calls import Participant, open_page
from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.pages import Pages
from harness.quality import total
from harness.server import Server

ROOM = "all-stopped"
REST = 1.5  # seconds in which nothing may arrive


async def _bytes(call):
    """What its connection has received of pictures and sound."""
    stats = await call.stats()
    return sum(total(stats, kind, "inbound-rtp", "bytesReceived") for kind in ("audio", "video"))


async def _round(report, who, other):
    """`who` stops everything and starts again; `other` watches."""
    name = who.browser.name
    await who.run("await call.stopAll()")
    await other.until(f"!call.watchOf('{who.name}')")
    await asyncio.sleep(0.3)
    before = await _bytes(who), await _bytes(other)
    await asyncio.sleep(REST)
    after = await _bytes(who), await _bytes(other)
    holds = report.row(f"{name}, all sections stopped: bytes of media that still arrive, at it and of it", "0 and 0",
                       f"{after[0] - before[0]:g} and {after[1] - before[1]:g}", after == before)
    since = await who.run("return clock()")
    await who.run("await call.startAgain({ stream: window.stream, pairs: 2 })")
    seen = await asyncio.gather(who.first_frame(other.name, since), other.first_frame(who.name, since))
    waits = [(each - since) / 1000 for each in seen]
    return holds & report.row(f"{name}, sections added again: both see each other", "within 10 s",
                              ", ".join(f"{each:.2f} s" for each in waits), max(waits) <= 10)


async def _run(report, server, pages, chromium, firefox):
    people = [Participant(chromium, "ann"), Participant(firefox, "bob")]
    for each in people:
        await open_page(each.browser, pages, "noise")
        await each.join(server, ROOM, pairs=2, bundle="balanced")
    ann, bob = people
    await asyncio.gather(ann.first_frame("bob"), bob.first_frame("ann"))
    holds = True
    for who, other in ((ann, bob), (bob, ann), (ann, bob)):
        holds &= await _round(report, who, other)
    for each in people:
        await each.leave()
    return holds


async def run(report, options):
    with Pages() as pages:
        async with Server(options.roost) as server, Chromium() as chromium, Firefox() as firefox:
            async with kept_on_failure(report, options.evidence, (chromium, firefox), (server.process,)):
                holds = await _run(report, server, pages, chromium, firefox)
            server.process.require_running()
            return holds
