"""axe-core, the script of the package from PyPI, on every screen of the pages: it finds no violation, wide in light colours, and narrow in dark
ones. What it looks at is the same in each browser. The screen for those without an invitation is looked at by page_invitation."""

import json
import pathlib

from harness import rest
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


def _axe():
    (path,) = ROOT.glob(".build-python/lib/python3*/site-packages/axe_playwright_python/axe.min.js")
    return path.read_text(encoding="utf-8")


class Look:
    """Looks at screens, and keeps what is found."""

    def __init__(self):
        self.script = _axe()
        self.screens = 0
        self.found = {}

    async def at(self, person, name):
        if not await person.tab.evaluate("return 'axe' in window"):
            await person.tab.evaluate(self.script + "\n")
        for width, height, dark in WAYS:
            await person.tab.resize(width, height, dark=dark)
            # What moves has arrived: a colour that is on its way is none.
            await person.tab.evaluate("""
              for (let frames = 0; frames < 3; frames++) await new Promise((done) => requestAnimationFrame(done));
              document.getAnimations().forEach((each) => { try { each.finish(); } catch { each.cancel(); } });""")
            self.screens += 1
            found = await person.tab.evaluate(RUN, 60)
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
    rest.change(server, options.roost, room, admission=True)
    eve = await Person.arrive(browser, server, room, "Eve")
    await eve.click("join-button")
    await eve.until("document.body.dataset.view === 'waiting'")
    await look.at(eve, "waiting to be let in")
    await host.until("roostPage.room.waiting.length === 1")
    await look.at(host, "a host with somebody at the door")
    for person in (eve, host):
        await person.leave()


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
    for person in (bob, admin):
        await person.leave()


async def meet(report, options, server, chromium, _):
    look = Look()
    await _lobby(look, options, server, chromium)
    await _call(look, server, chromium)
    holds = look.report(report, "page")
    look = Look()
    await _administration(look, options, server, chromium)
    return holds & look.report(report, "/admin")
