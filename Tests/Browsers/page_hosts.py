"""What hosts do to others from the list of people, who they let in, and what one does beside: each by pointer and by keyboard alone. And two
things that a host has no hand in: who may not write raises a hand all the same, and what was said in a room is gone with it."""

import asyncio

from harness import rest
from harness.person import IN_CALL, SETTLED, Person
from page_chat import HEARD, MARK, NOTICE, ROW, SAID, TEXTS, invited

CALL = "document.getElementById('call').focus()"
ACT = "(%s)?.querySelector('[data-act=\"%s\"]')"
LOCK = "document.getElementById('lock-room')"
BLOCKED = "document.getElementById('%s').ariaLabel"


def _act(name, act):
    """The button of that act in somebody's row."""
    return ACT % (ROW % name, act)


async def _list_by_pointer(ada, name):
    """The list of people, and in it what can be done to one."""
    await ada.point("document.getElementById('people-toggle')")
    await ada.point(f"({ROW % name})?.querySelector('.opener')")
    await ada.until(f"({_act(name, 'remove')})?.checkVisibility()")


async def _list_by_keys(ada, name):
    await ada.tab.evaluate(CALL)
    await ada.tab.press("p")
    await ada.until("document.activeElement.id === 'side-people-tab'")
    await ada.tab_to(lambda: f"document.activeElement === ({ROW % name})?.querySelector('.opener')")
    await ada.tab.press("Enter")
    await ada.until(f"({_act(name, 'remove')})?.checkVisibility()")


async def _do_by_pointer(ada, name, act):
    await ada.point(_act(name, act))


async def _do_by_keys(ada, name, act):
    """From the opener of the row, behind which its acts come."""
    await ada.tab.evaluate(f"({ROW % name}).querySelector('.opener').focus()")
    await ada.until(f"!!({_act(name, act)})")
    await ada.tab_to(lambda: f"document.activeElement === {_act(name, act)}")
    await ada.tab.press("Enter")


WAYS = {"pointer": (_list_by_pointer, _do_by_pointer), "keyboard": (_list_by_keys, _do_by_keys)}


async def _tabs(report, ada, name):
    """People and Chat, by pointer."""
    shown = []
    await ada.point("document.getElementById('people-toggle')")
    await ada.until("document.getElementById('side-people')?.checkVisibility()")
    for tab in ("chat", "people"):
        await ada.point(f"document.getElementById('side-{tab}-tab')")
        shown.append(await ada.until(f"document.getElementById('side-{tab}-tab').ariaSelected === 'true' && "
                                     "[...document.querySelectorAll('#side [role=tabpanel]')].filter((each) => each.checkVisibility())"
                                     f".map((each) => each.id).join() === 'side-{tab}' && [document.activeElement.id, "
                                     "document.getElementById('people-toggle').ariaExpanded].join()"))
    await ada.point("document.getElementById('side-close')")
    await ada.until("document.getElementById('side').hidden && document.activeElement.id === 'people-toggle'")
    return report.row(f"page, {name}: Chat and People by their tabs, by pointer", "one is shown at a time, and the bar says which",
                      shown, [each.split(",")[1] for each in shown] == ["false", "true"])


async def _reacted(report, ada, bob, name):
    """By pointer: the menu, and a sign in it."""
    await bob.point("document.getElementById('react')")
    await bob.point("[...document.querySelectorAll('#react-menu [role=menuitem]')].find((each) => each.innerText.includes('❤'))")
    seen = await ada.until("document.querySelector('.reactions p')?.textContent")
    own = await bob.until("document.querySelector('.reactions p')?.textContent")
    heard = await ada.until(f"{HEARD}.includes('reacted') && {HEARD}")
    focus = await bob.until("document.getElementById('react-menu').hidden && document.activeElement.id")
    return report.row(f"page, {name}: a reaction by pointer", "seen at both, heard, the menu is closed", f"{seen}, {own}, “{heard}”, {focus}",
                      "❤" in seen and "Bob" in seen and "❤" in own and heard.startswith("Bob reacted: ") and focus == "react")


async def _close(ada, way):
    """The acts of Bob and the list, as they were opened."""
    await ada.tab.evaluate(f"({ROW % 'Bob'}).querySelector('.opener').focus()")
    if way == "pointer":
        await ada.point(f"({ROW % 'Bob'}).querySelector('.opener')")
    else:
        await ada.tab.press("Enter")
    await ada.until(f"!({_act('Bob', 'remove')})?.checkVisibility()")
    await ada.tab.press("Escape")
    await ada.until("document.getElementById('side').hidden")


async def _acts(report, ada, bob, name, way):
    """A hand lowered; microphone and camera muted and allowed."""
    open_list, do = WAYS[way]
    await bob.tab.evaluate(CALL)
    await bob.tab.press("h")
    await ada.sees("Bob", MARK)
    await open_list(ada, "Bob")
    await do(ada, "Bob", "lower")
    lowered = await bob.until("document.getElementById('hand').ariaPressed === 'false' && 'lowered'")
    await ada.until(f"!({_act('Bob', 'lower')})")
    said = []
    for kind, is_gone in (("microphone", "!tile.querySelector('.microphone-mark').hidden"), ("camera", "!tile.classList.contains('has-picture')")):
        await do(ada, "Bob", f"mute.{kind}")
        said.append(await bob.until(f"{BLOCKED % kind}.includes('host') && {BLOCKED % kind}"))
        await ada.sees("Bob", is_gone)
        await do(ada, "Bob", f"allow.{kind}")
        await bob.until(f"!{BLOCKED % kind}.includes('host') && {NOTICE}.includes('now')")
        # It is the participant who turns it on again.
        await bob.tab.evaluate(CALL)
        await bob.tab.press("m" if kind == "microphone" else "v")
        await ada.sees("Bob", f"!({is_gone})")
    await _close(ada, way)
    return report.row(f"page, {name}: a host lowers a hand, mutes and allows microphone and camera, by {way}",
                      "done there, said there, turned on again there", f"{lowered}, {said}",
                      said[0].startswith("Microphone") and said[1].startswith("Camera"))


async def _screen(report, ada, bob, name, way):
    """A host stops a shared screen; the next is seen once the host allows it. Its sharer reads both."""
    open_list, do = WAYS[way]
    card = f"{bob.tile('Your screen')}?.querySelector('.sharing p').textContent"
    await bob.tab.evaluate(CALL)
    await bob.tab.press("s")
    await ada.sees("Bob: screen", "tile.classList.contains('has-picture')")
    await open_list(ada, "Bob")
    await do(ada, "Bob", "mute.screen_share")
    stopped = await bob.until(f"{NOTICE}.includes('stopped your screen') && !({bob.tile('Your screen')}) && {NOTICE}")
    await ada.sees_no("Bob: screen")
    await bob.tab.evaluate(CALL)
    await bob.tab.press("s")
    held = await bob.until(f"{card}?.includes('once a host allows it') && {SAID}.includes('once a host allows it') && {card}")
    await ada.sees("Bob: screen", "!tile.classList.contains('has-picture')")
    await do(ada, "Bob", "allow.screen_share")
    await ada.sees("Bob: screen", "tile.classList.contains('has-picture')")
    shared = await bob.until(f"{card} === \"You're sharing your screen\" && {card}")
    await bob.tab.evaluate(CALL)
    await bob.tab.press("s")
    await ada.sees_no("Bob: screen")
    await _close(ada, way)
    return report.row(f"page, {name}: a host stops a shared screen and allows the next, by {way}", "stopped, held until then, and said each time",
                      f"“{stopped}” “{held}” “{shared}”", True)


async def _locked(report, server, options, ada, room, name):
    """By keyboard alone: locked and opened from the list."""
    await ada.tab.evaluate(CALL)
    await ada.tab.press("p")
    await ada.until("document.activeElement.id === 'side-people-tab'")
    states = []
    for is_locked in ("true", "false"):
        await ada.tab_to("lock-room")
        await ada.tab.press(" ")
        await ada.until(f"{LOCK}.ariaPressed === '{is_locked}' && document.activeElement === {LOCK}")
        now = await asyncio.to_thread(rest.room, server, options.roost, room)
        hint = await ada.tab.evaluate("return [...document.querySelectorAll('#side-people > .hint')].some((each) => each.checkVisibility())")
        states.append((now["locked"], hint))
    await ada.tab.press("Escape")
    return report.row(f"page, {name}: the room is locked and opened from the list, by keyboard alone", "so the server and the list say",
                      states, states == [(True, True), (False, False)])


async def _answer(ada, who, button, way):
    """Lets one in, or not, from the list."""
    place = f"document.querySelector('.waiting .{button}')"
    if way == "pointer":
        await ada.point("document.getElementById('people-toggle')")
        await ada.until(f"{place}?.ariaLabel.includes('{who}')")
        await ada.point(place)
        await ada.tab.evaluate(f"{place}?.click()")  # As a double click does.
    else:
        await ada.tab.evaluate(CALL)
        await ada.tab.press("p")
        await ada.until(f"{place}?.ariaLabel.includes('{who}')")
        await ada.tab_to(lambda: f"document.activeElement === {place}")
        await ada.tab.press("Enter")
    await ada.until("!document.querySelector('.waiting li')")
    await ada.point("document.getElementById('side-close')")


async def _door(report, server, options, browser, ada, room):
    """Who has to be let in is, or isn't; and one stops waiting."""
    await asyncio.to_thread(rest.change, server, options.roost, room, admission=True)
    for way in WAYS:
        dan = await invited(options, browser, server, room, "Dan")
        await dan.until("document.body.dataset.view === 'waiting'")
        await _answer(ada, "Dan", "admit", way)
        await dan.until(IN_CALL)
        await ada.sees("Dan")
        is_once = await ada.tab.evaluate(f"return !{SAID}.includes('already left')")
        eli = await invited(options, browser, server, room, "Eli")
        await eli.until("document.body.dataset.view === 'waiting'")
        await _answer(ada, "Eli", "refuse", way)
        refused = await eli.until(NOTICE)
        sees = await ada.tab.evaluate(f"return Boolean({ada.tile('Eli')})")
        await eli.leave()
        await dan.leave()
        await ada.sees_no("Dan")
        yield report.row(f"page, {browser.name}: one is let in and one refused from the list, by {way}", "the first is in, the second reads so",
                         f"“{refused}”, seen: {sees}, asked once: {is_once}", "didn't let you in" in refused and not sees and is_once)
    yield await _focus(report, options, browser, server, ada, room)
    tom = await Person.arrive(browser, server, room, "Tom", publish=0)
    await tom.until(SETTLED)
    await tom.click("join-button")
    await tom.until("document.body.dataset.view === 'waiting'")
    await ada.until("roostPage.room.waiting.length === 1")
    await tom.point("document.getElementById('waiting-leave')")
    # What is hidden keeps the focus for a moment.
    focus = await tom.until("document.body.dataset.view === 'lobby' && document.activeElement.id === 'join-button' && document.activeElement.id")
    await ada.until("roostPage.room.waiting.length === 0")
    is_quiet = await tom.tab.evaluate("return document.getElementById('notice').hidden")
    await tom.leave()
    yield report.row(f"page, {browser.name}: one waits no longer, by pointer", "back in the lobby without a word, and the host sees no one",
                     f"{focus}, quiet: {is_quiet}", focus == "join-button" and is_quiet)
    await asyncio.to_thread(rest.change, server, options.roost, room, admission=False)


async def _focus(report, options, browser, server, ada, room):
    """Two wait, and are answered by keyboard alone: the focus goes on to who waits next, and then to the list."""
    fay, gil = [await _waits(await invited(options, browser, server, room, name)) for name in ("Fay", "Gil")]
    await ada.tab.evaluate(CALL)
    await ada.tab.press("p")
    await ada.until("document.querySelectorAll('.waiting li').length === 2")
    await ada.tab_to(lambda: "document.activeElement === document.querySelector('.waiting .admit')")
    await ada.tab.press("Enter")
    following = await ada.until("document.querySelectorAll('.waiting li').length === 1 && document.activeElement.ariaLabel")
    await ada.tab.press("Tab")
    await ada.until("document.activeElement.matches('.waiting .refuse')")
    await ada.tab.press("Enter")
    last = await ada.until("!document.querySelector('.waiting li') && document.activeElement.id")
    await ada.point("document.getElementById('side-close')")
    await fay.until(IN_CALL)
    await gil.until(NOTICE)
    for person in (fay, gil):
        await person.leave()
    await ada.sees_no("Fay")
    return report.row(f"page, {browser.name}: two who wait are answered by keyboard alone", "the focus goes on to the next, then to the list",
                      f"{following}, {last}", (following, last) == ("Admit Gil", "side-people"))


async def _waits(person):
    await person.until("document.body.dataset.view === 'waiting'")
    return person


async def _asked(report, server, options, browser, other):
    """The call is over while a host is being asked whether to remove somebody: so is the question."""
    room = f"asked-{browser.name}"
    ada = await invited(options, browser, server, room, "Ada", "--admin")
    await ada.until(IN_CALL)
    bob = await Person.join(other, server, room, "Bob", publish=0)
    await ada.sees("Bob")
    await _list_by_pointer(ada, "Bob")
    await ada.point(_act("Bob", "remove"))
    await ada.until("!!document.querySelector('dialog[open]')")
    await asyncio.to_thread(rest.close, server, options.roost, room)
    await ada.until("document.body.dataset.view === 'lobby' && !document.querySelector('#confirm-title')")
    focus, is_open = await ada.tab.evaluate("return [document.activeElement.id, document.querySelector('dialog[open]') !== null]")
    said = await ada.tab.evaluate(f"return {NOTICE}")
    for person in (ada, bob):
        await person.leave()
    return report.row(f"page, {browser.name}: the call ends while a host is asked about somebody", "the question is gone, the focus is in the lobby",
                      f"{focus}, still asked: {is_open}, “{said}”", focus == "join-button" and not is_open and "ended" in said)


async def _removed(report, ada, bob, name):
    """By pointer: no, then yes."""
    await _list_by_pointer(ada, "Bob")
    await ada.point(_act("Bob", "remove"))
    await ada.point("document.querySelector('dialog[open] button[value=\"\"]')")
    await ada.until("!document.querySelector('dialog[open]')")
    is_there = await bob.tab.evaluate(f"return {IN_CALL}")
    await ada.point(_act("Bob", "remove"))
    await ada.point("document.querySelector('dialog[open] button[value=yes]')")
    said = await bob.until(f"{NOTICE}.startsWith('A host removed you') && {NOTICE}")
    await ada.sees_no("Bob")
    noted = await ada.until(f"{SAID}.includes('You removed Bob') && 'said to the host'")
    return report.row(f"page, {name}: the host removes someone by pointer", "not by Cancel, then done and said",
                      f"stayed: {is_there}, “{said}”, {noted}", is_there)


async def _silent(report, server, options, browser, ada, room):
    """With a token that may not write: a hand by key and by pointer, and no reactions, by button or by key."""
    cid = await invited(options, browser, server, room, "Cid", "--no-data")
    await cid.until(f"{IN_CALL} && document.body.hasAttribute('data-complete')")
    shown = await cid.tab.evaluate("return ['hand', 'react'].map((id) => document.getElementById(id).checkVisibility())")
    await cid.tab.evaluate(CALL)
    await cid.tab.press("r")
    await cid.tab.press("h")
    await ada.sees("Cid", MARK)
    opened = await cid.tab.evaluate("return !document.getElementById('react-menu').hidden")
    await cid.point("document.getElementById('hand')")
    await ada.sees("Cid", f"!({MARK})")
    await cid.leave()
    await ada.sees_no("Cid")
    return report.row(f"page, {browser.name}: one who may send no data", "raises a hand and lowers it; reactions are hidden, by key too",
                      f"hand and reactions shown: {shown}, menu: {opened}", shown == [True, False] and not opened)


async def _gone(report, server, options, browser):
    """What was said in a room is gone with it: the next of its name, which keeps what is said too, has nothing of it."""
    room, found = f"again-{browser.name}", []
    for words in ("of the first room", "of the second room"):
        await asyncio.to_thread(rest.create, server, options.roost, name=room, dataHistory={"topics": ["chat"], "max": 50, "seconds": 600})
        ada = await Person.join(browser, server, room, "Ada", publish=0)
        await ada.point("document.getElementById('chat-toggle')")
        await ada.until("document.activeElement.id === 'chat-text'")
        before = await ada.tab.evaluate(f"return {TEXTS}")
        for letter in words:
            await ada.tab.press(letter)
        await ada.tab.press("Enter")
        await ada.until(f"{TEXTS}.length === {len(before) + 1} && !document.querySelector('.message.sending')")
        bob = await Person.join(browser, server, room, "Bob", publish=0)
        await bob.point("document.getElementById('chat-toggle')")
        found.append((before, await bob.until(f"{TEXTS}.length > 0 && {TEXTS}")))
        await asyncio.to_thread(rest.close, server, options.roost, room)
        for person in (ada, bob):
            await person.until("document.body.dataset.view === 'lobby'")
            await person.leave()
    return report.row(f"page, {browser.name}: a room is over, and the next of its name begins", "who comes has what was said in that one alone",
                      found, found == [([], ["of the first room"]), ([], ["of the second room"])])


async def _call(report, options, server, browser, other):
    room, name = f"hosts-{browser.name}", browser.name
    ada = await invited(options, browser, server, room, "Ada", "--admin")
    await ada.until(f"{IN_CALL} && document.body.hasAttribute('data-complete')")
    bob = await Person.join(other, server, room, "Bob", other.SCREEN, identity="bob")
    await ada.sees_picture("Bob")
    holds = await _tabs(report, ada, name)
    holds &= await _reacted(report, ada, bob, name)
    for way in WAYS:
        holds &= await _acts(report, ada, bob, name, way)
        holds &= await _screen(report, ada, bob, name, way)
    holds &= await _locked(report, server, options, ada, room, name)
    async for each in _door(report, server, options, browser, ada, room):
        holds &= each
    holds &= await _silent(report, server, options, browser, ada, room)
    holds &= await _removed(report, ada, bob, name)
    complaints = [await each.tab.evaluate("return window.complaints") for each in (ada, bob)]
    for person in (ada, bob):
        await person.leave()
    holds &= await _asked(report, server, options, browser, other)
    holds &= await _gone(report, server, options, browser)
    return holds & report.row(f"page, {name}: policy and scripts meanwhile", "no complaint", sum(complaints, []) or "none", complaints == [[], []])


async def meet(report, options, server, chromium, firefox):
    return all(await asyncio.gather(_call(report, options, server, chromium, firefox), _call(report, options, server, firefox, chromium)))
