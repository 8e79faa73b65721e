"""Invitations at the page of a server in production: asked for before the camera is, kept by the tab until one leaves, renewed."""

import asyncio
import contextlib
import subprocess

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.person import IN_CALL, TABS, Person, new_tab
from harness.remote import RemoteError
from harness.server import Server
from page_accessible import Look

KEYS = "ourkey:a secret of at least thirty-two bytes"
VIEW = "document.body.dataset.view"
STORED = "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])"
# Whether the camera is asked for, and the sockets that are opened.
WATCH = """
window.asked = 0;
const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = (wanted) => { window.asked += 1; return ask(wanted); };
window.sockets = [];
window.WebSocket = class extends WebSocket { constructor(...all) { super(...all); window.sockets.push(this); } };
"""


def _link(options, server, room, identity, *flags):
    done = subprocess.run(
        [options.roost, "token", "--room", room, "--identity", identity, "--name", identity.title(), "--link", server.ORIGIN, *flags],
        capture_output=True, text=True, timeout=20, check=True, env={"ROOST_KEYS": KEYS})
    return done.stdout.strip()


async def _loads(person, program):
    """Runs what loads the page again, and waits until it has."""
    await person.tab.evaluate(f"window.isOld = true; setTimeout(() => {{ {program} }}, 0)")
    for _ in range(200):
        await asyncio.sleep(0.05)
        with contextlib.suppress(RemoteError):  # While one page goes and the other comes there is none to ask.
            if await person.tab.evaluate("return !window.isOld && document.readyState === 'complete'"):
                return
    raise TimeoutError("the page doesn't load again")


async def _uninvited(person):
    await person.until(f"{VIEW} === 'uninvited'")
    return await person.tab.evaluate(
        "return [document.getElementById('uninvited').innerText, document.getElementById('lobby').hidden, window.asked, window.sockets.length]")


async def _in_german(person):
    """What stands there in German, by a list that is seen; then it is English again."""
    await person.until("document.getElementById('language').checkVisibility()")
    said = []
    for language in ("de", "en"):
        await person.tab.evaluate(f"""
          const list = document.getElementById("language");
          list.value = "{language}";
          list.dispatchEvent(new Event("change"));""")
        said.append(await person.until(f"document.documentElement.lang === '{language}' && document.querySelector('#uninvited h1').textContent"))
    return said[0]


async def _invited(report, options, server, browser):
    person = Person(await new_tab(browser, WATCH), "Ada")
    await person.tab.resize(1280, 800)
    await person.tab.open(server.ORIGIN)
    text, is_lobby_hidden, asked, sockets = await _uninvited(person)
    holds = report.row(f"page, {browser.name}: no invitation where one is needed", "said, and no camera asked for", " ".join(text.split()),
                       "need an invitation" in text and is_lobby_hidden and asked == 0 and sockets == 0)

    german = await _in_german(person)
    holds &= report.row(f"page, {browser.name}: the language there", "can be chosen", german, "Einladung" in german)

    # Short enough to be renewed at one of the next signs of life.
    link = _link(options, server, browser.name, "ada", "--valid-for", "33s")
    # In this very tab: what is behind the # alone is new.
    await _loads(person, f"location.href = '{link}'")
    token = link.split("token=")[1]
    await person.until("document.getElementById('name').readOnly && document.getElementById('preview').videoWidth > 0")
    await person.click("join-button")
    await person.until(IN_CALL)
    address, stored = await person.tab.evaluate(f"return [location.href, {STORED}]")
    await _loads(person, "location.reload()")
    await person.until("document.getElementById('name').value === 'Ada'")
    await person.click("join-button")
    await person.until(IN_CALL)
    holds &= report.row(f"page, {browser.name}: a link, a reload in the call", "still invited, the token in the tab's storage alone",
                        address, token in stored.split("}")[0] and "token" not in address and stored.count(token) == 1)

    await person.tab.evaluate("""setInterval(() => window.sockets.at(-1).send('{"type":"ping"}'), 500)""")
    await person.until(f"!({STORED}).includes('{token}') && ({STORED}).includes('roost-invitation')", 45)
    await _loads(person, "location.reload()")
    await person.until("document.getElementById('preview').videoWidth > 0")
    await person.click("join-button")
    await person.until(IN_CALL)
    renewed = await person.tab.evaluate(f"return !({STORED}).includes('{token}')")
    holds &= report.row(f"page, {browser.name}: the server renews the token", "the renewed one is kept, and lets in after a reload",
                        "so", renewed)

    other = _link(options, server, browser.name, "eve").split("#")[1]
    await _loads(person, f"location.hash = '{other}'")
    await person.until("document.getElementById('name').value === 'Eve' && !location.hash")
    await person.click("join-button")
    await person.until(IN_CALL)
    await person.click("leave")
    await person.until(f"{VIEW} === 'lobby'")
    stored = await person.tab.evaluate(f"return {STORED}")
    said = await person.text("status")
    await _loads(person, "location.reload()")
    text, *_ = await _uninvited(person)
    await person.leave()
    return holds & report.row(f"page, {browser.name}: another link in the tab, then the call is left", "taken; then kept no longer",
                              f"“{said}”", "token" not in stored and said == "You left the call" and "invitation" in text)


async def _looked_at(report, server, browser):
    """What those see who have no invitation, by axe-core."""
    look = Look()
    eve = Person(await new_tab(browser), "Eve")
    await eve.tab.open(server.ORIGIN)
    await eve.until(f"{VIEW} === 'uninvited'")
    await look.at(eve, "without an invitation")
    await eve.leave()
    return look.report(report, f"page, {browser.name}, without an invitation")


async def run(report, options):
    async with Server(options.roost, keys=KEYS) as server, Chromium() as chromium, Firefox() as firefox:
        async with kept_on_failure(report, options.evidence, TABS, (server.process,)):
            holds = all(await asyncio.gather(*(_invited(report, options, server, browser) for browser in (chromium, firefox))))
            for browser in (chromium, firefox):
                holds &= await _looked_at(report, server, browser)
            server.process.require_running()
            return holds
