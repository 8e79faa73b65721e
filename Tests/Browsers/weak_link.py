"""What the page says over a weak link: what comes in is turned off and on again, by pointer and by keyboard."""

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.link import Link, settings
from harness.person import TABS, Person
from harness.server import Server
from page_weak import BANNER, OVERHEARD, REASON, SAID, press


async def _weak(report, options, browser_kind, other):
    """A link on which everything takes long: said, and what comes in is turned off and on again by pointer and by keyboard."""
    bad = settings(rate=500_000, delay=190)
    async with Link(options.link, bad, bad) as link, Server(options.roost) as server:
        await link.network.pass_on(7880)
        async with browser_kind(network=link.network) as browser:
            bob = await Person.join(other, server, "weak", "Bob")
            ada = await Person.join(browser, server, "weak", "Ada")
            await ada.sees("Bob")
            said = await ada.until(f"{BANNER} === 'weak' && {SAID}", 60)
            button = await ada.tab.evaluate("return document.getElementById('banner-action').textContent")
            await press(ada, "document.getElementById('banner-action')")
            off = await ada.until(f"{BANNER} === 'declined' && {SAID}")
            note = await ada.sees("Bob", "tile.querySelector('.tile-note').textContent")
            await ada.until("getComputedStyle(document.querySelector('.tile:not(.own) video')).visibility === 'hidden'")
            await ada.tab.evaluate(OVERHEARD)
            await ada.until(f"(await roostPage.room.explain().catch(() => null), {REASON} === 'Turned off.')", 30)
            holds = report.row(f"page, {browser.name}: one's own link takes 190 ms each way", "said; incoming video is turned off by one press",
                               f"“{said}” [{button}] “{off}” {note}",
                               "weak" in said and button == "Turn off incoming video" and "turned off" in off and note == "Incoming video is off")
            for direction in ("down", "up"):
                await link.change(direction, settings(delay=5))
            await ada.tab_to("banner-action")
            await ada.tab.press("Enter")
            await ada.until(f"{BANNER} !== 'declined'")
            await ada.sees_picture("Bob")
            await ada.until(f"{BANNER} === ''", 60)
            focus = await ada.tab.evaluate("return document.activeElement.id")
            for person in (ada, bob):
                await person.leave()
            server.process.require_running()
    return holds & report.row(f"page, {browser.name}: the link is good again", "incoming video on again by keyboard, nothing more said",
                              f"focus: {focus}", focus == "call")


async def run(report, options):
    async with Chromium() as chromium, Firefox() as firefox:
        async with kept_on_failure(report, options.evidence, TABS):
            holds = True
            for kind, other in ((Chromium, firefox), (Firefox, chromium)):
                holds &= await _weak(report, options, kind, other)
            return holds
