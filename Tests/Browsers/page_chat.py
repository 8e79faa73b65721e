"""People beside their pictures: what they write, hands, reactions, and what hosts do to them; by pointer and by keyboard, seen and heard."""

import asyncio
import base64
import os
import sys
import urllib.parse

from harness import rest
from harness.person import IN_CALL, Person, new_tab

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Server"))
from signaller import hear, joined, say  # noqa: E402 (shared with the tests of the server)

SAID = "document.getElementById('status').textContent"
HEARD = "(({ role, textContent }) => role === 'status' && textContent)(document.getElementById('announcement'))"
NOTICE = ("(({ hidden, role }, text) => (!hidden && role === 'alert' ? text : ''))"
          "(document.getElementById('notice'), document.getElementById('notice-text').textContent)")
BADGE = "(({ hidden, textContent }) => (hidden ? '' : textContent))(document.querySelector('#%s-toggle .badge'))"
TEXTS = "[...document.querySelectorAll('.messages .words')].map((each) => each.textContent)"
LAST = "[...document.querySelectorAll('.messages > .message')].at(-1)"
FOCUS = "document.activeElement.id"
MARK = "!tile.querySelector('.hand-mark').hidden"
# The row of a person in the list.
ROW = "[...document.querySelectorAll('#side-people li')].find((row) => row.querySelector('.name')?.textContent === '%s')"
# What is no link, what is, and what would turn the rest of the page around.
HOSTILE = ("<b>bold</b> <img src=x onerror=alert(1)> javascript:alert(1) http://good.example\u2044x.evil.example/ https://a.example/b?c=1, "
           "\u202eback")
# Who sends no picture, since none is looked at here.
SOUND_ALONE = "localStorage.setItem('roost', JSON.stringify({ wantsCamera: false }));"
# The longest time between two frames while something happens, and what is asked of the page meanwhile.
FRAMES = """
window.longest = 0;
let last = performance.now();
const look = () => {
  window.longest = Math.max(window.longest, performance.now() - last);
  last = performance.now();
  window.looks = requestAnimationFrame(look);
};
look();
"""


async def invited(options, browser, server, room, name, *flags):
    """Somebody who comes by a token of their own."""
    token = await asyncio.to_thread(rest.token, options.roost, "--room", room, "--identity", name.lower(), "--name", name, *flags)
    tab = await new_tab(browser)
    await tab.resize(1280, 800)
    await tab.open(f"{server.ORIGIN}/?{urllib.parse.urlencode({'room': room, 'publish': 0, 'autojoin': 1})}#token={token}")
    return Person(tab, name)


async def _write(person, text):
    """Types into the field that has the focus, and sends."""
    for letter in text:
        await person.tab.press(letter)
    await person.tab.press("Enter")


async def _open(person, key, focus):
    """Opens the panel by its key."""
    await person.tab.evaluate("document.activeElement.blur()")
    await person.tab.press(key)
    await person.until(f"{FOCUS} === '{focus}'")


async def _written(report, ada, bob, name):
    """By pointer from one, by keyboard alone from the other."""
    await ada.click("chat-toggle")
    await ada.until(f"{FOCUS} === 'chat-text'")
    await ada.tab.evaluate(f"document.getElementById('chat-text').value = {HOSTILE!r}")
    await ada.click("chat-send")
    said = await bob.until(f"{SAID}.includes('Ada: ') && {SAID}")
    badge = await bob.until(f"{BADGE % 'chat'} && [{BADGE % 'chat'}, document.getElementById('chat-toggle').ariaLabel].join()")
    await _open(bob, "t", "chat-text")
    await bob.until(f"{TEXTS}.length === 1")
    text, links, elements, kept, unread, direction = await bob.tab.evaluate(f"""
      const words = document.querySelector(".messages .words");
      return [{TEXTS}[0], [...words.querySelectorAll("a")].map(({{ href, target, rel }}) => [href, target, rel].join(" ")),
        words.querySelectorAll(":not(a)").length, document.querySelector(".messages .name").localName, {BADGE % 'chat'},
        getComputedStyle(words).unicodeBidi];""")
    holds = report.row(f"page, {name}: a message while the chat is closed", "a badge, read out; a text with one link",
                       f"{badge}, {links}, “{said[:60]}”",
                       badge == "1,Chat, 1 unread message" and text == HOSTILE and elements == 0 and unread == ""
                       and links == ["https://a.example/b?c=1 _blank noopener noreferrer"])
    holds &= report.row(f"page, {name}: signs that turn text around", "kept within the message, the name apart from it", f"{direction}, {kept}",
                        direction in ("plaintext", "isolate") and kept == "bdi")
    await _write(bob, "yes")
    heard = await ada.until(f"{HEARD}.includes('Bob: yes') && {HEARD}")
    await ada.until(f"{TEXTS}.at(-1) === 'yes'")
    await bob.until(f"{LAST}.classList.contains('own') && !{LAST}.classList.contains('sending')")
    await bob.tab.press("Escape")
    focus = await bob.until(f"document.getElementById('side').hidden && {FOCUS}")
    return holds & report.row(f"page, {name}: answered by keyboard alone, closed by Escape", "read out; the focus is back", f"“{heard}” {focus}",
                              focus == "chat-toggle")


async def _recalled(report, server, options, browser, room, ada):
    """Who comes later has what was said, and who may not write has no field for it."""
    cid = await invited(options, browser, server, room, "Cid", "--no-data")
    await cid.until(IN_CALL)
    badge = await cid.until(BADGE % "chat")
    is_hidden = await cid.tab.evaluate("return document.getElementById('react').hidden")
    await cid.click("chat-toggle")
    texts = await cid.until(f"{TEXTS}.length > 1 && {TEXTS}")
    refused = await cid.tab.evaluate("return [document.querySelector('.composer').hidden, "
                                     "document.querySelector('.chat .hint:not([hidden])').innerText]")
    await cid.leave()
    await ada.sees_no("Cid")
    return report.row(f"page, {browser.name}: one who comes later, and may not write", "all that was said; neither field nor reactions",
                      f"{badge} unread, {len(texts)} texts, {refused}",
                      badge == "2" and texts == [HOSTILE, "yes"] and refused[0] and "permission" in refused[1] and is_hidden)


async def _flooded(report, server, options, room, ada, bob, name):
    """Somebody writes without a pause: the page goes on, in one place, and what others write stays."""
    token = await asyncio.to_thread(rest.token, options.roost, "--room", room, "--identity", "flo", "--name", "Flo")
    async with joined(server.ORIGIN, room, token) as ws:
        await ada.tab.evaluate(FRAMES)
        for number in range(190):
            payload = base64.b64encode(f"flood {number} {'x' * 200}".encode()).decode()
            await say(ws, type="data", id=number + 1, payload=payload, topic="chat")
        summary = f"{LAST}.querySelector('summary')?.textContent"
        more = await ada.until(f"{summary}?.startsWith('180 ') && {summary}")
        longest, shown, texts = await ada.tab.evaluate(f"""
          cancelAnimationFrame(window.looks);
          return [window.longest, document.querySelectorAll(".messages .message").length, {TEXTS}];""")
        heard = await ada.until(f"{HEARD}.includes('new messages') && {HEARD}")
        await say(ws, type="leave")
        await hear(ws, "closed")
    await ada.sees_no("Flo")
    return report.row(f"page, {name}: 190 messages at once", "in ten and one place, others' words kept, no second without a frame",
                      f"{shown} places, “{more}”, “{heard}”, {longest:.0f} ms",
                      shown <= 14 and texts[:2] == [HOSTILE, "yes"] and longest < 1000)


async def _hands(report, ada, bob, name):
    await bob.tab.evaluate("document.activeElement.blur()")
    await bob.tab.press("h")
    pressed = await bob.until("document.getElementById('hand').ariaPressed === 'true' && 'pressed'")
    said = await ada.until(f"{SAID}.includes('Bob raised a hand') && 'said'")
    await ada.sees("Bob", f"{MARK} && tile.ariaLabel.includes('hand raised')")
    await bob.sees("Bob (you)", MARK)
    await _open(ada, "p", "side-people-tab")
    first = await ada.until("document.querySelectorAll('#side-people li').length === 2 && "
                            "[...document.querySelectorAll('#side-people li .name')].map((each) => each.textContent).join()")
    # By keyboard alone: to the row, open what can be done, lower the hand.
    await ada.tab_to(lambda: "document.activeElement.matches('.opener')")
    await ada.tab.press("Enter")
    await ada.tab_to(lambda: "document.activeElement.dataset.act === 'lower'")
    await ada.tab.press("Enter")
    lowered = await bob.until(f"{SAID}.includes('A host lowered your hand') && document.getElementById('hand').ariaPressed")
    await ada.sees("Bob", f"!({MARK})")
    await bob.click("hand")
    await ada.sees("Bob", MARK)
    await bob.click("hand")
    await ada.sees("Bob", f"!({MARK})")
    heard = await bob.until(f"{HEARD} === 'Your hand is lowered' && {HEARD}")
    return report.row(f"page, {name}: a hand is raised by key, lowered by the host, and by its owner", "marked, said, heard",
                      f"{pressed}, {said}, {first}, {lowered}, “{heard}”", lowered == "false" and first == "Ada,Bob")


async def _reactions(report, ada, bob, name):
    await bob.tab.evaluate("document.activeElement.blur()")
    await bob.tab.press("r")
    await bob.until("document.activeElement.matches('#react-menu [role=menuitem]')")
    await bob.tab.press("ArrowDown")
    await bob.tab.press("Enter")
    shown = await ada.until("document.querySelector('.reactions p')?.textContent")
    heard = await ada.until(f"{HEARD}.includes('reacted') && {HEARD}")
    # What is none of them isn't shown.
    await bob.tab.evaluate("""await roostPage.room.sendData(btoa(JSON.stringify({ name: "<b>boo</b>" })), { topic: "reaction" });
      await roostPage.room.sendData(btoa(JSON.stringify({ name: "constructor" })), { topic: "reaction" });
      await roostPage.room.sendData(btoa(JSON.stringify({ name: "heart" })), { topic: "reaction" });""")
    await ada.until("[...document.querySelectorAll('.reactions p')].some((each) => each.textContent.includes('❤'))")
    count = await ada.tab.evaluate("return document.querySelectorAll('.reactions p').length")
    await ada.until("document.querySelectorAll('.reactions p').length === 0", 10)
    # Where nothing is to move it stands with what is said in passing, and is read once all the same.
    await ada.tab.evaluate("""window.asked = window.matchMedia;
      window.matchMedia = (query) => (query.includes("reduced-motion") ? { matches: true } : window.asked(query));""")
    await bob.tab.evaluate("""await roostPage.room.sendData(btoa(JSON.stringify({ name: "party" })), { topic: "reaction" })""")
    await ada.until("document.querySelector('#status p[aria-hidden=true]')?.textContent.includes('🎉')")
    still = await ada.tab.evaluate("window.matchMedia = window.asked; return document.querySelectorAll('.reactions p').length")
    return report.row(f"page, {name}: a reaction by keyboard alone", "seen, heard, gone; no other sign is shown; it moves only where things may",
                      f"{shown}, “{heard}”, {count}, {still} move", "👏" in shown and "Bob" in shown
                      and heard == "Bob reacted: Applause" and count <= 2 and still == 0)


async def _muted(report, ada, bob, name):
    """By pointer: the host mutes and allows."""
    act = f"{ROW % 'Bob'}?.querySelector('[data-act=\"%s\"]')"
    await ada.until(f"!!{ROW % 'Bob'}")
    opener = f"{ROW % 'Bob'}.querySelector('.opener')"
    await ada.tab.evaluate(f"{opener}.getAttribute('aria-expanded') === 'true' || {opener}.click()")
    await ada.until(f"!!{act % 'mute.microphone'}")
    await ada.tab.evaluate(f"{act % 'mute.microphone'}.click()")
    label = "document.getElementById('microphone').ariaLabel"
    label = await bob.until(f"{label}.includes('host') && {label}")
    await ada.until(f"!!{act % 'allow.microphone'}")
    await ada.tab.evaluate(f"{act % 'allow.microphone'}.click()")
    await bob.until(f"{NOTICE} === 'You can unmute now.'")
    await bob.click("people-toggle")
    await bob.until(f"!!{ROW % 'Ada'}")
    buttons = await bob.tab.evaluate("""
      return [...document.querySelectorAll("#side-people .opener, #lock-room")].filter((each) => each.checkVisibility()).length""")
    await bob.click("side-close")
    return report.row(f"page, {name}: the host mutes from the list", "muted, allowed; others have no such buttons", f"{label}, {buttons}",
                      buttons == 0)


async def _door(report, server, options, browser, room, ada, name):
    """The room is locked, and opened; then who comes has to be let in: one is, one isn't."""
    await ada.click("lock-room")
    await ada.until("document.getElementById('lock-room').ariaPressed === 'true'")
    late = await invited(options, browser, server, room, "Late")
    locked = await late.until(NOTICE)
    await late.leave()
    await ada.click("lock-room")
    await ada.until("document.getElementById('lock-room').ariaPressed === 'false'")
    holds = report.row(f"page, {name}: the room is locked from the list", "no one comes in, and it is said why", f"“{locked}”",
                       "locked" in locked)
    await asyncio.to_thread(rest.change, server, options.roost, room, admission=True)
    await ada.click("side-close")
    dan = await invited(options, browser, server, room, "Dan")
    said = await ada.until(f"{NOTICE}.includes('waiting') && {NOTICE}")
    badge = await ada.until(f"{BADGE % 'people'} && document.getElementById('people-toggle').ariaLabel")
    before = await dan.tab.evaluate("return [document.body.dataset.view, document.querySelectorAll('.tile').length].join()")
    # By keyboard alone.
    await ada.tab.evaluate("document.getElementById('notice-action').focus()")
    await ada.tab.press("Enter")
    await ada.until(f"{FOCUS} === 'side-people-tab'")
    await ada.tab_to(lambda: "document.activeElement.matches('.admit')")
    await ada.tab.press("Enter")
    await dan.until(IN_CALL)
    await ada.sees("Dan")
    eli = await invited(options, browser, server, room, "Eli")
    await ada.until("!!document.querySelector('.waiting .refuse')")
    await ada.tab.evaluate("document.querySelector('.waiting .refuse').click()")
    refused = await eli.until(NOTICE)
    # The list follows within some tenths of a second.
    await ada.until(f"!{BADGE % 'people'} && !document.querySelector('.waiting li')")
    await eli.leave()
    await dan.leave()
    await ada.sees_no("Dan")
    return holds & report.row(f"page, {name}: those who wait are let in, or not", "seen by the host, nothing seen of the room before",
                              f"“{said}” {badge}; {before}; “{refused}”",
                              said == "Dan is waiting to join." and before.endswith(",0") and "didn't let you in" in refused)


async def _parts(report, ada, name):
    """F6 goes from part to part, and back to where one was."""
    await _open(ada, "t", "chat-text")
    where = "[...document.querySelectorAll('.stage, .side, .bar')].find((part) => part.contains(document.activeElement))?.classList[0]"
    seen = []
    for _ in range(4):
        await ada.tab.press("F6")
        seen.append(await ada.tab.evaluate(f"return {where}"))
    focus = await ada.tab.evaluate(f"return {FOCUS}")
    # The tabs are chosen by arrows.
    await ada.tab.evaluate("document.getElementById('side-chat-tab').focus()")
    await ada.tab.press("ArrowLeft")
    tab = await ada.until(f"{FOCUS} === 'side-people-tab' && document.getElementById('side-people-tab').ariaSelected")
    await ada.tab.press("Escape")
    return report.row(f"page, {name}: F6, and arrows on the tabs", "bar, tiles, panel, bar; the other tab", f"{seen}, {focus}, {tab}",
                      seen == ["bar", "stage", "side", "bar"] and tab == "true")


async def _removed(report, ada, bob, name):
    """Asked once more before it is done, by keyboard alone."""
    await _open(ada, "p", "side-people-tab")
    await ada.tab_to(lambda: "document.activeElement.matches('.opener')")
    if await ada.tab.evaluate("return document.activeElement.getAttribute('aria-expanded')") != "true":
        await ada.tab.press("Enter")
    await ada.tab_to(lambda: "document.activeElement.dataset.act === 'remove'")
    await ada.tab.press("Enter")
    question = await ada.until("document.querySelector('dialog[open] h2')?.textContent")
    await ada.tab.press("Escape")
    await ada.until("!document.querySelector('dialog[open]')")
    is_there = await bob.tab.evaluate(f"return {IN_CALL}")
    await ada.tab.press("Enter")
    await ada.until("!!document.querySelector('dialog[open]')")
    await ada.tab_to(lambda: "document.activeElement.value === 'yes'")
    await ada.tab.press("Enter")
    said = await bob.until(f"{NOTICE}.startsWith('A host removed you') && {NOTICE}")
    await ada.sees_no("Bob")
    return report.row(f"page, {name}: the host removes someone", "asked first, then done and said", f"“{question}” “{said}”",
                      question == "Remove Bob from the call?" and is_there)


async def _call(report, options, server, browser, other):
    room = f"chat-{browser.name}"
    ada = await invited(options, browser, server, room, "Ada", "--admin")
    await ada.until(IN_CALL)
    await asyncio.to_thread(rest.change, server, options.roost, room, dataHistory={"topics": ["chat"], "max": 50, "seconds": 600})
    bob = await Person.join(other, server, room, "Bob", SOUND_ALONE, identity="bob")
    await ada.sees("Bob", "tile.querySelector('.microphone-mark').hidden")
    name = browser.name
    holds = await _written(report, ada, bob, name)
    holds &= await _recalled(report, server, options, browser, room, ada)
    holds &= await _flooded(report, server, options, room, ada, bob, name)
    holds &= await _hands(report, ada, bob, name)
    holds &= await _reactions(report, ada, bob, name)
    holds &= await _muted(report, ada, bob, name)
    holds &= await _door(report, server, options, browser, room, ada, name)
    holds &= await _parts(report, ada, name)
    holds &= await _removed(report, ada, bob, name)
    complaints = [await each.tab.evaluate("return window.complaints") for each in (ada, bob)]
    for person in (ada, bob):
        await person.leave()
    return holds & report.row(f"page, {name}: policy and scripts meanwhile", "no complaint", sum(complaints, []) or "none", complaints == [[], []])


async def meet(report, options, server, chromium, firefox):
    return all(await asyncio.gather(_call(report, options, server, chromium, firefox), _call(report, options, server, firefox, chromium)))
