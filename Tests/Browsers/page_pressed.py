"""A browser as people have it, which lets a page make no sound before something was pressed; and a page of which a part doesn't come, or in
which somebody has the longest name that there may be."""

from harness import rest
from harness.calls import token
from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.guests import connect, hear, say
from harness.person import IN_CALL, TABS, Person, new_tab
from harness.server import Server
from page_talk import VOICE

NOTICE = "(document.getElementById('notice').hidden ? '' : document.getElementById('notice-text').textContent)"
IS_STILL = "((tile) => tile.querySelector('video').paused)"
LEVEL = "Number(document.getElementById('level').ariaValueNow)"
ALERT = """
const { notice } = await import("/notices.js");
notice(%s, { label: "Show", action() {} });
"""
# How far the notice's own controls stand within the window, and whether its words do.
WITHIN = """
const edge = document.documentElement.clientWidth;
return ["notice-text", "notice-action", "notice-close"].every((id) => {
  const { left, right, width } = document.getElementById(id).getBoundingClientRect();
  return width > 0 && left >= 0 && right <= edge;
}) && document.documentElement.scrollWidth <= edge;
"""
# The same of a question, as the page asks it.
ASKED = """
const dialog = document.createElement("dialog");
dialog.append(Object.assign(document.createElement("h2"), { textContent: %s }), Object.assign(document.createElement("p"), { textContent: "a" }));
document.body.append(dialog);
dialog.showModal();
const is = dialog.scrollWidth <= dialog.clientWidth && dialog.getBoundingClientRect().right <= document.documentElement.clientWidth;
dialog.remove();
return is;
"""


async def _press_key(ada):
    await ada.tab.press("p")


async def _press_pointer(ada):
    await ada.tab.point_click(640, 300)


async def _press_button(ada):
    await ada.click("notice-action")


async def _sound(report, server, ada_browser, bob, room):
    """Who has come by a link that joins at once, and has pressed nothing, hears and sees others from its first press on."""
    holds = True
    for words, press, is_noticed in (("a key", _press_key, False), ("the pointer, elsewhere", _press_pointer, False),
                                     ("the notice's button", _press_button, True)):
        ada = await Person.arrive(ada_browser, server, room, "Ada", autojoin="1", publish="0")
        await ada.until(f"{NOTICE}.includes('needs a click')")
        before = await ada.tab.evaluate(f"return {IS_STILL}({ada.tile('Bob')})")
        if not is_noticed:
            # Escape is no press to a browser; and the notice has given way to another one by then.
            await ada.tab.press("Escape")
            await ada.tab.evaluate(ALERT % "'Another thing'")
            before &= await ada.tab.evaluate(f"return {IS_STILL}({ada.tile('Bob')})")
        await press(ada)
        await ada.sees("Bob", f"!{IS_STILL}(tile)", 5)
        await ada.sees_picture("Bob")
        after = await ada.tab.evaluate(f"return {NOTICE}")
        await ada.leave()
        holds &= report.row(f"page, chromium before the first press: what others send, from {words} on", "nothing, then all; other notices stay",
                            f"{'nothing' if before else 'something'}, then all; “{after}”",
                            before and after == ("" if is_noticed else "Another thing"))
    return holds


async def _noise(report, server, browser, bob, room):
    """A picture and a tone that the page makes itself need no press to come in; the tone can be heard from the first on."""
    ada = await Person.arrive(browser, server, room, "Nora", autojoin="1", source="noise")
    await ada.until(IN_CALL)
    await bob.sees_picture("Nora")
    speaks = "tile.hasAttribute('data-speaking')"
    before = await bob.tab.evaluate(f"return ((tile) => {speaks})({bob.tile('Nora')})")
    await _press_key(ada)
    await bob.sees("Nora", speaks)
    await ada.leave()
    return report.row("page, chromium before the first press: ?source=noise&autojoin=1", "in, seen, and heard from a key on",
                      f"in, seen, {'heard' if before else 'silent'}, then heard", not before)


async def _meter(report, server, browser):
    ada = await Person.arrive(browser, server, "meter", "Ada")
    await ada.until("document.getElementById('preview').videoWidth > 0")
    await ada.tab.evaluate("return new Promise((done) => setTimeout(done, 1500))")
    await _press_pointer(ada)
    level = await ada.until(LEVEL, 8)
    await ada.leave()
    return report.row("page, chromium before the first press: the level in the lobby", "moves from the first press on", level, level > 0)


async def _parts(report, server, browser):
    """A panel whose script doesn't come says so, is closed, and opens once it does."""
    ada = await Person.join(browser, server, "parts", "Ada")
    holds = True
    for key, path, opened in (("i", "statistics.js", "!document.getElementById('statistics').hidden"),
                              ("?", "help.js", "document.querySelector('dialog[open]') !== null")):
        await ada.tab.block(f"*/{path}")
        await ada.tab.press(key)
        said = await ada.until(NOTICE)
        is_open = await ada.tab.evaluate(f"return {opened}")
        expanded = await ada.tab.evaluate("return document.getElementById('statistics-toggle').ariaExpanded")
        await ada.tab.block()
        await ada.click("notice-close")
        await ada.tab.press(key)
        await ada.until(opened)
        await ada.tab.press("Escape")
        await ada.until(f"!({opened})")
        holds &= report.row(f"page, chromium: {path} doesn't come, then does", "said, nothing open, then open",
                            f"“{said}”, {'open' if is_open else 'nothing open'}, then open",
                            said.startswith("The server isn't responding") and not is_open and expanded == "false")
    complaints = await ada.tab.evaluate("return window.complaints")
    await ada.leave()
    return holds & report.row("page, chromium: policy and scripts meanwhile", "no complaint", complaints or "none", complaints == [])


async def _names(report, options, server, browser):
    """One who waits under the longest name, without a space, leaves the host its buttons; and so does a question about one."""
    name = "W" * 128
    rest.create(server, options.roost, name="long", admission=True)
    host = Person(await new_tab(browser), "Hella")
    text = rest.token(options.roost, "--admin", "--room", "long", "--identity", "host", "--name", "Hella")
    await host.tab.open(f"{server.ORIGIN}/?room=long&publish=0#token={text}")
    await host.until("document.getElementById('name').readOnly")
    await host.click("join-button")
    await host.until(IN_CALL)
    holds = True
    async with connect(server.ORIGIN, "long") as ws:
        await say(ws, type="auth", token=token(server, "long", "eve", name=name))
        await hear(ws, "waiting")
        await host.until(f"{NOTICE}.includes('{name}')")
        for size in ((1280, 800), (390, 844), (844, 390)):
            await host.tab.resize(*size)
            is_within = [await host.tab.evaluate(WITHIN), await host.tab.evaluate(ASKED % f"'{name}'")]
            holds &= report.row(f"page, chromium at {size[0]} × {size[1]}: one waits under a name of 128 letters", "all of the notice in sight, and of a question",
                                is_within, is_within == [True, True])
    await host.leave()
    return holds


async def _run(report, options, server, chromium, firefox):
    bob = await Person.join(firefox, server, "pressed", "Bob", VOICE)
    holds = await _sound(report, server, chromium, bob, "pressed")
    holds &= await _noise(report, server, chromium, bob, "pressed")
    await bob.leave()
    holds &= await _meter(report, server, chromium)
    holds &= await _parts(report, server, chromium)
    return holds & await _names(report, options, server, chromium)


async def run(report, options):
    async with Server(options.roost) as server, Chromium(guarded=True) as chromium, Firefox() as firefox:
        async with kept_on_failure(report, options.evidence, TABS, (server.process,)):
            holds = await _run(report, options, server, chromium, firefox)
        server.process.require_running()
        return holds
