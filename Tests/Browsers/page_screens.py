"""axe-core on screens that come with trouble or with many people, in both browsers: banners with buttons, pages of tiles and a pinned one, the
menu of a phone, people at the door of a room in /admin, and all of it in Chinese. Firefox is light alone: it takes its scheme as it starts."""

from harness import rest
from harness.administration import administer
from harness.guests import guests
from harness.person import IN_CALL, Person
from page_accessible import WIDE, Look
from page_weak import BANNER, DEVICES, HURRY

PHONE = ((390, 844, True),)
ACTION = "document.getElementById('banner-action')"


async def _banner(look, person, kind, name):
    await person.until(f"{BANNER} === '{kind}'", 30)
    await look.at(person, name, holds=f"{BANNER} === '{kind}'")


async def _weak(look, server, browser):
    """One's own link is weak, and what comes in is turned off from there."""
    ada = await Person.join(browser, server, f"screens-weak-{browser.name}", "Ada", HURRY)
    await ada.tab.evaluate("""
      const { me } = roostPage.room;
      window.worse = setInterval(() => roostPage.room.dispatchEvent(new CustomEvent("quality", {
        detail: { participant: me.id, quality: "poor" } })), 300);""")
    await _banner(look, ada, "weak", "a banner: one's own link is weak")
    await ada.tab.resize(*WIDE)
    await ada.until(f"{ACTION}.checkVisibility()")
    await ada.click("banner-action")
    await _banner(look, ada, "declined", "a banner: incoming video is off")
    await ada.leave()


async def _silent(look, server, browser):
    room = f"screens-silent-{browser.name}"
    async with guests(server, room, ["Bob"]):
        ada = await Person.join(browser, server, room, "Ada", HURRY + DEVICES)
        await _banner(look, ada, "silent", "a banner: nothing is heard from the microphone")
        await ada.leave()


async def _throttled(look, server, browser):
    ada = await Person.join(browser, server, f"screens-slow-{browser.name}", "Ada")
    await look.prepare(ada)
    await ada.tab.evaluate("return new Promise((done) => setTimeout(done, 2500))")
    await ada.tab.evaluate("const end = performance.now() + 6000; while (performance.now() < end);", 30)
    await _banner(look, ada, "throttled", "a banner: the page is slowed down")
    await ada.leave()


async def _many(look, server, browser):
    """More than fit on one page; one of them pinned; and on a phone the menu of what its bar has no room for."""
    room = f"screens-many-{browser.name}"
    ada = await Person.join(browser, server, room, "Ada", publish=0)
    async with guests(server, room, [f"Guest {number}" for number in range(1, 40)]):
        await ada.until("document.querySelectorAll('.tile').length === 40 && !document.querySelector('.pager').hidden")
        await look.at(ada, "several pages of tiles", holds="!document.querySelector('.pager').hidden")
        await ada.tab.resize(*WIDE)
        await ada.click_on(f"{ada.tile('Guest 1')}.querySelector('.pin')")
        await ada.sees("Guest 1", "tile.querySelector('.pin').ariaPressed === 'true'")
        await look.at(ada, "a tile that is pinned", holds="!!document.querySelector('.pin[aria-pressed=true]')?.checkVisibility()")
        await ada.tab.resize(*PHONE[0][:2])
        await ada.until("document.getElementById('more').checkVisibility()")
        await ada.click("more")
        await look.at(ada, "the menu of a phone", ways=PHONE, holds="!document.getElementById('more-menu').hidden")
        await ada.tab.press("Escape")
    await ada.leave()


async def _chinese(look, options, server, browser):
    """The way in, the call with its panels, and /admin with two at the door."""
    room = f"screens-zh-{browser.name}"
    shown = "document.documentElement.lang === 'zh-Hans'"
    ada = await Person.arrive(browser, server, room, "Ada", lang="zh")
    await ada.until(f"{shown} && document.getElementById('preview').videoWidth > 0")
    await look.at(ada, "the lobby in Chinese", holds=shown)
    await ada.tab.resize(*WIDE)
    await ada.click("join-button")
    await ada.until(f"{IN_CALL} && document.body.hasAttribute('data-complete')")
    async with guests(server, room, ["Bob"]):
        await ada.until("document.querySelectorAll('.tile').length === 2")
        for toggle in ("people-toggle", "chat-toggle", "statistics-toggle"):
            await ada.tab.resize(*WIDE)
            await ada.click(toggle)
            await ada.until(f"document.getElementById('{toggle}').ariaExpanded === 'true'")
            await look.at(ada, f"the panel of {toggle}, in Chinese", holds=shown)
        await _door(look, options, server, browser, room)
    await ada.leave()


async def _door(look, options, server, browser, room):
    """Two who wait, in /admin, in English and in Chinese."""
    rest.change(server, options.roost, room, admission=True)
    people = []
    for name in ("Eve", "Tom"):
        people.append(await Person.arrive(browser, server, room, name, identity=name.lower(), publish=0))
        await people[-1].click("join-button")
        await people[-1].until("document.body.dataset.view === 'waiting'")
    for language in ("en", "zh"):
        admin = await administer(options, server, browser, room, lang=language)
        await admin.until("document.querySelectorAll('#waiters > li').length === 2")
        await look.at(admin, f"/admin with two at the door, {language}", holds="document.querySelectorAll('#waiters > li').length === 2")
        await admin.leave()
    for person in people:
        await person.leave()


async def meet(report, options, server, chromium, firefox):
    holds = True
    for browser in (chromium, firefox):
        look = Look()
        await _weak(look, server, browser)
        await _silent(look, server, browser)
        await _throttled(look, server, browser)
        await _many(look, server, browser)
        await _chinese(look, options, server, browser)
        holds &= look.report(report, f"pages, {browser.name}, trouble, many people, Chinese")
    return holds
