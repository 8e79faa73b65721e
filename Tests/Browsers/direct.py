"""Chromium and Firefox connected to each other, with no server between: shows that the harness itself is sound."""

import asyncio
import json

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.media import FLOW_WANTED, cipher, measure_best, until_flowing
from harness.pages import Pages

CONNECTION = "window.peerConnection"


async def _connect(offerer, answerer):
    offer = await offerer.evaluate("return window.direct.offer()")
    answer = await answerer.evaluate(f"return window.direct.answer({json.dumps(offer)})")
    await offerer.evaluate(f"await window.direct.accept({json.dumps(answer)})")
    for browser in (offerer, answerer):
        await browser.wait_until(f"{CONNECTION}.connectionState === 'connected'")


async def _both_ways(report, offerer, answerer, seconds):
    await _connect(offerer, answerer)
    ways = [(offerer, answerer), (answerer, offerer)]
    await asyncio.gather(*(until_flowing(*way, CONNECTION) for way in ways))
    flows = await asyncio.gather(*(measure_best(*way, CONNECTION, seconds) for way in ways))
    holds = True
    for (publisher, subscriber), flow in zip(ways, flows):
        holds &= report.row(
            f"{publisher.name} to {subscriber.name} directly, {offerer.name} offering", FLOW_WANTED, flow,
            flow.holds)
    for browser in (offerer, answerer):
        report.say(f"  {browser.name} names its SRTP profile: {cipher(await browser.stats(CONNECTION))}")
    return holds


async def _take_turns(report, pages, chromium, firefox, seconds):
    holds = True
    for offerer, answerer in ((chromium, firefox), (firefox, chromium)):
        report.say(f"  {offerer.name} offers, {answerer.name} answers")
        await asyncio.gather(*(each.open(pages.url("direct.html")) for each in (offerer, answerer)))
        holds &= await _both_ways(report, offerer, answerer, seconds)
    return holds


async def run(report, options):
    with Pages() as pages:
        async with Chromium() as chromium, Firefox() as firefox:
            async with kept_on_failure(report, options.evidence, (chromium, firefox)):
                return await _take_turns(report, pages, chromium, firefox, options.seconds)
