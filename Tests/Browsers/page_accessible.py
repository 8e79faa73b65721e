"""axe-core, the script of the package from PyPI, on every screen of the pages, in both browsers: it finds no violation, wide in light colours,
and narrow in dark ones (in Firefox in light ones too: it takes its scheme as it starts), in German, and written from right to left. The screen
for those without an invitation is looked at by page_invitation, those that come with trouble or with many people by page_screens."""

import asyncio
import json
import pathlib

from harness import rest
from harness.administration import administer, row_of
from harness.guests import guests
from harness.person import IN_CALL, Person, new_tab

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Width, height, and whether the colours are dark.
WAYS = ((1280, 800, False), (390, 844, True))
# Which rules it breaks, and where.
RUN = """
const { violations } = await axe.run(document, { resultTypes: ["violations"] });
return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} at ${target.flat().join(" ")}`));
"""
WHOLE = "document.body.hasAttribute('data-complete')"
WIDE = (1280, 800)


def _axe():
    (path,) = ROOT.glob(".build-python/lib/python3*/site-packages/axe_playwright_python/axe.min.js")
    return path.read_text(encoding="utf-8")


class Look:
    """Looks at screens, and keeps what is found."""

    def __init__(self):
        self.script = _axe()
        self.screens = 0
        self.found = {}

    async def prepare(self, person):
        if not await person.tab.evaluate("return 'axe' in window"):
            await person.tab.evaluate(self.script + "\n")

    async def at(self, person, name, ways=WAYS, holds="true"):
        """`holds`: what is so of the screen, in JavaScript, and still is when it has been looked at."""
        await self.prepare(person)
        for width, height, dark in ways:
            await person.tab.resize(width, height, dark=dark)
            # What moves has arrived: a colour that is on its way is none.
            await person.tab.evaluate("""
              const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 200); });
              for (let frames = 0; frames < 3; frames++) await frame();
              document.getAnimations().forEach((each) => { try { each.finish(); } catch { each.cancel(); } });""")
            self.screens += 1
            found = await person.tab.evaluate(RUN, 60)
            if not await person.tab.evaluate(f"return {holds}"):
                found.append(f"it is no longer so that {holds}")
            if found:
                self.found[f"{name}, {width} wide{', dark' if dark else ''}"] = found

    def report(self, report, about):
        for name, found in self.found.items():
            report.say(f"    {name}: {'; '.join(found[:8])}")
        return report.row(f"{about}: axe-core on {self.screens} screens", "no violation", json.dumps(list(self.found)) if self.found else "none",
                          not self.found)


async def _lobby(look, options, server, browser):
    ada = await Person.arrive(browser, server, f"axe-{browser.name}", "Ada")
    await ada.until("document.getElementById('preview').videoWidth > 0")
    await look.at(ada, "the lobby")
    await ada.click("preview-camera")
    await ada.click("preview-microphone")
    await ada.tab.evaluate("""
      document.getElementById("notice").hidden = false;
      document.getElementById("notice-text").textContent = "Something went wrong.";""")
    await look.at(ada, "the lobby, all off, with a notice")
    await ada.leave()

    room = f"axe-wait-{browser.name}"
    host = Person(await new_tab(browser), "Hella")
    token = rest.token(options.roost, "--admin", "--room", room, "--identity", "host", "--name", "Hella")
    await host.tab.open(f"{server.ORIGIN}/?room={room}#token={token}")
    await host.until("document.getElementById('name').readOnly")
    await look.at(host, "the lobby with an invitation")
    await host.click("join-button")
    await host.until(f"{IN_CALL} && {WHOLE}")
    await host.until("document.getElementById('invite-make')?.checkVisibility()")
    await look.at(host, "the card by which a host makes a link")
    await host.tab.resize(*WIDE)
    await host.click("invite-make")
    await host.until("document.getElementById('invite-link').value && document.getElementById('invite-stop').checkVisibility()")
    await look.at(host, "the card with a link that was made")
    await host.tab.resize(*WIDE)
    await _acts(look, server, browser, host, room)
    rest.change(server, options.roost, room, admission=True)
    eve = await Person.arrive(browser, server, room, "Eve")
    await eve.click("join-button")
    await eve.until("document.body.dataset.view === 'waiting'")
    await look.at(eve, "waiting to be let in")
    await host.until("roostPage.room.waiting.length === 1")
    await look.at(host, "a host with somebody at the door")
    for person in (eve, host):
        await person.leave()


async def _acts(look, server, browser, host, room):
    """What a host can do to somebody, and the question before the last of it."""
    bob = await Person.join(browser, server, room, "Bob", publish=0)
    await host.sees("Bob")
    await host.tab.evaluate("document.getElementById('call').focus()")
    await host.click("people-toggle")
    await host.until("!!document.querySelector('#side-people .opener:not([hidden])')")
    await host.tab_to(lambda: "document.activeElement.matches('.opener')")
    await host.tab.press("Enter")
    await host.until("!!document.querySelector('#side-people [data-act=remove]')")
    await look.at(host, "people, with what a host can do to one")
    await host.tab_to(lambda: "document.activeElement.dataset.act === 'remove'")
    await host.tab.press("Enter")
    await host.until("!!document.querySelector('dialog[open]')")
    await look.at(host, "the question before one is removed")
    await host.tab.press("Escape")
    await host.until("!document.querySelector('dialog[open]')")
    await host.tab.resize(*WIDE)
    await host.click("side-close")
    await bob.leave()
    await host.sees_no("Bob")


async def _two(look, server, browser):
    """What there is where others send something: a screen that is shared, a reason, reactions."""
    room = f"axe-two-{browser.name}"
    bob = await Person.join(browser, server, room, "Bob", browser.SCREEN)
    ada = await Person.join(browser, server, room, "Ada")
    await ada.sees_picture("Bob")
    await bob.click("screen")
    await bob.sees("Your screen")
    await ada.sees_picture("Bob: screen")
    await look.at(bob, "one's own screen is shared")
    await look.at(ada, "another's screen is shared")
    bars = f"{ada.tile('Bob')}.querySelector('.quality')"
    await ada.tab.resize(*WIDE)
    await ada.until(f"{bars} && !{bars}.hidden")
    await ada.tab.evaluate(f"{bars}.click()")
    await ada.until("!document.getElementById('reasons').hidden && document.getElementById('reasons').innerText.includes('Bob')")
    await look.at(ada, "why a picture is as it is")
    await ada.tab.press("Escape")
    await ada.tab.resize(*WIDE)
    await ada.click("react")
    await ada.until("!!document.querySelector('#react-menu:not([hidden])')")
    await look.at(ada, "the menu of reactions")
    await ada.tab.press("Escape")
    for person in (bob, ada):
        await person.leave()


async def _languages(look, server, browser):
    """In another language, and the other way round: as long and as clear, and labelled."""
    for language in ("de", "x-rtl"):
        room = f"axe-{language}-{browser.name}"
        ada = await Person.arrive(browser, server, room, "Ada", lang=language)
        await ada.until("document.getElementById('preview').videoWidth > 0")
        await look.at(ada, f"the lobby, {language}")
        await ada.tab.resize(*WIDE)
        await ada.click("join-button")
        await ada.until(f"{IN_CALL} && {WHOLE}")
        async with guests(server, room, ["Bob", "Eve"]):
            await ada.until("document.querySelectorAll('.tile').length === 3")
            for toggle in ("people-toggle", "chat-toggle"):
                await ada.tab.resize(*WIDE)
                await ada.click(toggle)
                await ada.until(f"document.getElementById('{toggle}').ariaExpanded === 'true'")
                await look.at(ada, f"the panel of {toggle}, {language}")
        await ada.leave()


async def _call(look, server, browser):
    room = f"axe-call-{browser.name}"
    ada = await Person.join(browser, server, room, "Ada")
    await ada.until(f"{WHOLE} && !document.getElementById('invite-card').hidden")
    await look.at(ada, "alone, with the card that invites")
    async with guests(server, room, ["Bob", "Eve", "<b>Tom</b>"]):
        await ada.until("document.querySelectorAll('.tile').length === 4")
        await look.at(ada, "four people")
        for menu in ("microphone-more", "camera-more", "view"):
            await ada.tab.resize(1280, 800)
            await ada.click(menu)
            await ada.until("!!document.querySelector('.menu:not([hidden])')")
            await look.at(ada, f"the menu of {menu}")
            await ada.tab.press("Escape")
        for toggle in ("people-toggle", "chat-toggle", "statistics-toggle"):
            await ada.click(toggle)
            await ada.until(f"document.getElementById('{toggle}').ariaExpanded === 'true'")
            await look.at(ada, f"the panel of {toggle}")
            await ada.tab.resize(*WIDE)
            await ada.click(toggle)
        await ada.click("help-open")
        await ada.until("document.getElementById('help').open")
        await look.at(ada, "the help")
        await ada.tab.press("Escape")
        await ada.tab.evaluate("""
          document.getElementById("banner").dataset.kind = "reconnecting";
          document.getElementById("banner-text").textContent = "Reconnecting…";""")
        await look.at(ada, "four people, reconnecting")
    await ada.leave()


async def _administration(look, options, server, browser):
    room = f"axe-admin-{browser.name}"
    bob = await Person.join(browser, server, room, "Bob")
    admin = Person(await new_tab(browser), "admin")
    await admin.tab.open(f"{server.ORIGIN}/admin")
    await admin.until("!document.getElementById('sign-in').hidden")
    await look.at(admin, "/admin, signing in")
    # What is behind the # alone doesn't load the page again.
    await admin.tab.open("about:blank")
    await admin.tab.open(f"{server.ORIGIN}/admin#token={rest.token(options.roost, '--list', '--admin', '--create', '--room', '*')}")
    await admin.until("!document.getElementById('signed-in').hidden && document.querySelectorAll('#people > li').length > 0")
    await look.at(admin, "/admin, a room")
    await admin.leave()
    rest.invite(server, options.roost, room, ttl=3600)
    for language in ("en", "de", "x-rtl"):
        await _opened(look, options, server, browser, room, language)
    await bob.leave()


async def _opened(look, options, server, browser, room, language):
    """All that can be opened of a room: charts, what one gets, links, events, a picture; and a question."""
    admin = await administer(options, server, browser, room, lang=language)
    row = row_of("Bob")
    await admin.tab.evaluate("for (const each of document.querySelectorAll('#room details')) each.open = true;")
    await admin.until("document.querySelectorAll('#events > li').length > 0 && document.querySelectorAll('#invitations > li').length === 1")
    await admin.until(f"({row}).querySelectorAll('.closer svg').length === 3 && ({row}).querySelectorAll('.permissions input:enabled').length === 7")
    look_at = f"({row}).querySelector('.look:not([hidden])')"
    await admin.until(f"!!{look_at}")
    await admin.tab.evaluate(f"{look_at}.click()")
    # Of one track there is a picture every two seconds; another window may have had the last.
    for _ in range(4):
        if await admin.tab.evaluate("""return new Promise((done) => setTimeout(() =>
          done(!!document.querySelector('.picture:not([hidden]) canvas')), 2500))"""):
            break
        await admin.tab.evaluate(f"{look_at}.click()")
    await admin.until("!!document.querySelector('.picture:not([hidden]) canvas')")
    await look.at(admin, f"/admin, a room with all open, {language}")
    await admin.tab.evaluate("document.querySelector('#invitations button').click()")
    await admin.until("document.getElementById('question').open")
    await look.at(admin, f"/admin, a question, {language}")
    await admin.tab.press("Escape")
    await admin.leave()


async def _look(report, options, server, browser):
    look = Look()
    await _lobby(look, options, server, browser)
    await _call(look, server, browser)
    await _two(look, server, browser)
    await _languages(look, server, browser)
    holds = look.report(report, f"page, {browser.name}")
    look = Look()
    await _administration(look, options, server, browser)
    return holds & look.report(report, f"/admin, {browser.name}")


async def meet(report, options, server, chromium, firefox):
    return all(await asyncio.gather(*(_look(report, options, server, browser) for browser in (chromium, firefox))))
