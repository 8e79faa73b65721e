"""axe-core, the script of the package from PyPI, on every screen of the pages: it finds no violation, wide and narrow, in light and in dark,
in both browsers."""

import json
import pathlib

from harness import rest
from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.guests import guests
from harness.person import IN_CALL, TABS, Person, new_tab
from harness.server import Server

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDE, NARROW = (1280, 800), (390, 844)
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

    def __init__(self, browser, sizes, dark=False):
        self.browser, self.sizes, self.dark = browser, sizes, dark
        self.script = _axe()
        self.screens = 0
        self.found = {}

    async def at(self, person, name):
        for width, height in self.sizes:
            await person.tab.resize(width, height, dark=self.dark)
            # What moves has arrived: a colour that is on its way is none.
            await person.tab.evaluate(f"""
              if (!window.axe) {{ {self.script}
              }}
              await new Promise((done) => setTimeout(done, 300));
              document.getAnimations().forEach((each) => {{ try {{ each.finish(); }} catch {{ each.cancel(); }} }});""")
            self.screens += 1
            found = await person.tab.evaluate(RUN, 60)
            if found:
                self.found[f"{name}, {width} wide{', dark' if self.dark else ''}"] = found

    def report(self, report, about):
        line = f"{about}, {self.browser.name}{', dark' if self.dark else ''}: axe-core on {self.screens} screens"
        for name, found in self.found.items():
            report.say(f"    {name}: {'; '.join(found[:8])}")
        return report.row(line, "no violation", json.dumps(list(self.found)) if self.found else "none", not self.found)


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


async def _call(look, options, server, browser):
    room = f"axe-call-{browser.name}"
    ada = await Person.join(browser, server, room, "Ada")
    await ada.until(f"{WHOLE} && !document.getElementById('invite-card').hidden")
    await look.at(ada, "alone, with the card that invites")
    async with guests(server, options.roost, room, ["Bob", "Eve", "<b>Tom</b>"]):
        await ada.until("document.querySelectorAll('.tile').length === 4")
        await look.at(ada, "four people")
        for menu in ("microphone-more", "camera-more", "view"):
            await ada.tab.resize(1280, 800, dark=look.dark)
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
        await look.at(ada, "the help")
        await ada.tab.press("Escape")
        await ada.tab.evaluate("""
          document.getElementById("banner").dataset.kind = "reconnecting";
          document.getElementById("banner-text").textContent = "Reconnecting…";""")
        await look.at(ada, "four people, reconnecting")
    await ada.leave()


async def _uninvited(look, options, browser):
    async with Server(options.roost, keys="ourkey:a secret of at least thirty-two bytes") as server:
        eve = Person(await new_tab(browser), "Eve")
        await eve.tab.open(server.ORIGIN)
        await eve.until("document.body.dataset.view === 'uninvited'")
        await look.at(eve, "without an invitation")
        await eve.leave()


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


async def _screens(report, options, server, *how):
    look = Look(*how)
    await _lobby(look, options, server, look.browser)
    await _call(look, options, server, look.browser)
    holds = look.report(report, "page")
    look = Look(*how)
    await _administration(look, options, server, look.browser)
    return holds & look.report(report, "/admin")


async def run(report, options):
    holds = True
    async with Chromium() as chromium, Firefox() as firefox:
        async with kept_on_failure(report, options.evidence, TABS):
            async with Server(options.roost) as server:
                # Colours are one scheme's or the other's; what they are on is the same in both browsers.
                for how in ((chromium, (WIDE, NARROW)), (chromium, (WIDE,), True), (firefox, (WIDE,))):
                    holds &= await _screens(report, options, server, *how)
                server.process.require_running()
            for browser in (chromium, firefox):
                look = Look(browser, (WIDE, NARROW))
                await _uninvited(look, options, browser)
                holds &= look.report(report, "page, no invitation")
    return holds
