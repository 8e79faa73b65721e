"""/admin in the language of those who read it: chosen by hand, by keyboard and by pointer, with all that is open; and written from right to left."""

import asyncio

from harness import rest
from harness.administration import administer, choose, row_of
from harness.person import Person
from page_words import OUTSIDE, SIDES, UNSAID

# What says in which language it is: of the document, and of what the page itself writes again and again.
SHOWN = """[document.documentElement.lang, document.querySelector("h1").textContent, document.getElementById("sign-out").textContent,
  document.getElementById("rooms-search").ariaLabel, document.getElementById("mute-all").textContent, document.getElementById("language").value]"""
GERMAN = ["de", "Verwaltung", "Abmelden", "Räume suchen", "Alle stummschalten", "de"]
ENGLISH = ["en", "Administration", "Sign out", "Search rooms", "Mute all", "en"]
CHINESE = ["zh-Hans", "管理", "退出登录", "搜索房间", "全体静音", "zh"]
# Where one reads from right to left: the list of rooms at the right, a room at its left, what can be done to somebody at the far end.
MIRRORED = {"h1": "right", "#sign-out": "left", "#language": "left", "#rooms": "right", "#room": "left", "#people > li > .remove": "left",
            "#people .tracks .mute": "left", "#events time": "right", "#invitations button": "left"}
OPEN = "[...document.querySelectorAll('#room details')].map((each) => each.open)"


async def _open_all(admin):
    await admin.tab.evaluate("for (const each of document.querySelectorAll('#room details')) each.open = true;")
    await _whole(admin)


async def _whole(admin):
    await admin.until("document.querySelectorAll('#events > li').length > 0 && document.querySelectorAll('#invitations > li').length === 1")
    await admin.until(f"(({row_of('Bob')})?.querySelectorAll('.closer svg').length ?? 0) === 3"
                      f" && ({row_of('Bob')}).querySelectorAll('.permissions input:enabled').length === 7")


async def _chosen(report, options, server, browser, room):
    """By keyboard German, by pointer Chinese, with all that is open; it is kept for the next time."""
    admin = await administer(options, server, browser, room)
    await _open_all(admin)
    seen, unsaid = [await admin.tab.evaluate(f"return {SHOWN}")], []
    # From the heading before it, as where the page has just been opened.
    await admin.tab.evaluate("const heading = document.querySelector('h1'); heading.tabIndex = -1; heading.focus(); heading.removeAttribute('tabindex')")
    await admin.tab_to("language")
    await admin.tab.press("ArrowDown")
    await admin.until("document.documentElement.lang === 'de'")
    for language, choosing in (("de", None), ("zh", choose(admin, "language", "zh"))):
        if choosing:
            await choosing
            await admin.until("document.documentElement.lang === 'zh-Hans'")
        await _whole(admin)
        seen.append(await admin.tab.evaluate(f"return {SHOWN}"))
        unsaid += [f"{language}: {each}" for each in await admin.tab.evaluate(f"return {UNSAID}")]
    still = await admin.tab.evaluate(f"return [{OPEN}.every(Boolean), document.activeElement.id]")
    await admin.tab.open(f"{server.ORIGIN}/admin?lang=en")
    again = await admin.until("document.getElementById('sign-out').textContent && document.documentElement.lang")
    complaints = await admin.tab.evaluate("return window.complaints")
    await admin.leave()
    return report.row(f"/admin, {browser.name}: a language chosen by keyboard, another by pointer", "all in it at once, open as it was, and kept",
                      f"{seen}, {still}, {again}, unsaid: {unsaid or 'nothing'}, {complaints or 'no complaint'}",
                      seen == [ENGLISH, GERMAN, CHINESE] and still == [True, "language"] and again == "zh-Hans" and not unsaid and not complaints)


async def _mirrored(report, options, server, browser, room):
    """Written from right to left everything is on the other side, and inside, wide and narrow."""
    admin = await administer(options, server, browser, room, lang="x-rtl")
    await _open_all(admin)
    sides = await admin.tab.evaluate(f"return {SIDES % ', '.join(repr(each) for each in MIRRORED)}")
    seen = dict(zip(MIRRORED, sides))
    outside, widths = [], []
    for size in ((1280, 800), (844, 390), (390, 844)):
        await admin.tab.resize(*size)
        outside += await admin.tab.evaluate(f"return {OUTSIDE}")
        widths.append(await admin.tab.evaluate("return document.documentElement.scrollWidth - innerWidth"))
    direction, complaints = await admin.tab.evaluate("return [document.documentElement.dir, window.complaints]")
    await admin.leave()
    return report.row(f"/admin, {browser.name}: written from right to left", "on the other side, nothing outside at 1280, 844 and 390",
                      f"{direction}, {seen}, outside: {outside or 'nothing'}, {widths}, {complaints or 'no complaint'}",
                      direction == "rtl" and seen == MIRRORED and not outside and max(widths) <= 0 and not complaints)


async def _run(report, options, server, browser, other):
    room = f"said-{browser.name}"
    bob = await Person.join(other, server, room, "Bob", identity="bob")
    rest.invite(server, options.roost, room, ttl=3600)
    holds = await _chosen(report, options, server, browser, room)
    holds &= await _mirrored(report, options, server, browser, room)
    await bob.leave()
    return holds


async def meet(report, options, server, chromium, firefox):
    return all(await asyncio.gather(_run(report, options, server, chromium, firefox), _run(report, options, server, firefox, chromium)))
