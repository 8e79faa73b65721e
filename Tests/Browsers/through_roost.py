"""Chromium to Roost to Firefox, and Firefox to Roost to Chromium, on the server's own page."""

import os

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.media import FLOW_WANTED, cipher, measure_best, until_flowing
from harness.server import Server

CONNECTION = "window.roostPage.peerConnection"
PROFILE = "AEAD_AES_128_GCM"


async def _join(browser, server, room, publish):
    await browser.open(server.page(room, browser.name, publish))
    await browser.wait_until("document.body.dataset.view === 'call'")
    if publish:
        await browser.evaluate("for (const kind of ['camera', 'microphone']) document.getElementById(kind).click()")
    await browser.wait_until("window.roostPage?.peerConnection?.connectionState === 'connected'")


async def _one_way(report, server, publisher, subscriber, seconds):
    room = f"{publisher.name}-to-{subscriber.name}"
    await _join(publisher, server, room, True)
    await _join(subscriber, server, room, False)
    await until_flowing(publisher, subscriber, CONNECTION)
    flow = await measure_best(publisher, subscriber, CONNECTION, seconds)
    way = f"{publisher.name} to {subscriber.name} through Roost"
    holds = report.row(way, FLOW_WANTED, flow, flow.holds)
    for browser in (publisher, subscriber):
        profile = cipher(await browser.stats(CONNECTION))
        holds &= report.row(f"{way}: SRTP profile at {browser.name}", PROFILE, profile or "not named",
                            PROFILE in (profile or ""))
    return holds


async def run(report, options):
    if not os.access(options.roost, os.X_OK):
        raise FileNotFoundError(f"no server at {options.roost}: swift build -c release --product roost")
    async with Server(options.roost) as server, Chromium() as chromium, Firefox() as firefox:
        async with kept_on_failure(report, options.evidence, (chromium, firefox), (server.process,)):
            holds = await _one_way(report, server, chromium, firefox, options.seconds)
            holds &= await _one_way(report, server, firefox, chromium, options.seconds)
        server.process.require_running()
        return holds
