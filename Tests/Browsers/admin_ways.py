"""/admin by both ways: whatever other tests of it do by pointer is done by keyboard alone here, and the other way round."""

import json

from harness import rest
from harness.administration import NOTICE, administer, choose, room_of, row_of, start_from, track_of
from harness.guests import guests
from harness.person import Person
from page_talk import VOICE

ABOUT = "document.getElementById('room-about').textContent"
BLOCKED = "'blocked' in document.getElementById('microphone').dataset"
CHARTS = "[...document.querySelectorAll('#people .closer svg')].map((each) => each.getAttribute('aria-label'))"
EVENTS = "[...document.querySelectorAll('#events li span')].map((each) => each.textContent)"
NAMES = "[...document.querySelectorAll('%s .name')].map((each) => each.textContent)"
ROOMS, PEOPLE = NAMES % "#rooms button", NAMES % "#people > li"
TITLE = "document.getElementById('room-title').textContent"


async def _write(admin, id_, words):
    """With the pointer into the field, and there by letters."""
    await admin.click(id_)
    await admin.until(f"document.activeElement.id === '{id_}'")
    for letter in words:
        await admin.tab.press(letter)


async def _sure(admin, by_pointer):
    """Yes to the question."""
    await admin.until("document.getElementById('question').open")
    if by_pointer:
        await admin.click("question-yes")
    else:
        await admin.tab_to("question-yes")
        await admin.tab.press("Enter")
    await admin.until("!document.getElementById('question').open")


async def _enter(admin, target, after="room-title"):
    """By keyboard alone, from the title of the room."""
    await start_from(admin, after)
    await admin.tab_to(target)
    await admin.tab.press("Enter")


async def _opened(report, admin, browser, room, beside):
    """Found by its name, opened by keyboard, another one by pointer."""
    await _write(admin, "rooms-search", f"ways-{browser}")
    await admin.until(f"({ROOMS}).length === 2 && ({ROOMS}).every((each) => each.startsWith('ways-{browser}'))")
    seen = []
    await admin.tab_to(lambda: f"document.activeElement === {room_of(beside)}")
    await admin.tab.press("Enter")
    await admin.until(f"{TITLE} === {json.dumps(beside)} && ({PEOPLE}).length === 1")
    seen.append(await admin.tab.evaluate(f"return [{TITLE}, ...{PEOPLE}, document.activeElement.id]"))
    await admin.click_on(room_of(room))
    await admin.until(f"{TITLE} === {json.dumps(room)} && ({PEOPLE}).length === 3")
    seen.append(await admin.tab.evaluate(f"return [{TITLE}, ...{PEOPLE}, document.activeElement.id]"))
    return report.row(f"/admin, {browser}: a room opened by keyboard, another by pointer", "each with its people, the focus on its title", seen,
                      seen == [[beside, "Tom", "room-title"], [room, "Ada", "Bob", "Eve", "room-title"]])


async def _lists(report, admin, browser, room, beside):
    await choose(admin, "rooms-sort", "-participants")
    await admin.until(f"({ROOMS}).join() === {json.dumps(f'{room},{beside}')}")
    by_people = await admin.tab.evaluate(f"return {ROOMS}")
    await choose(admin, "people-sort", "-joined")
    latest = await admin.until(f"({PEOPLE})[0] === 'Bob' && {PEOPLE}")
    await _write(admin, "people-search", "ad")
    found = await admin.until(f"({PEOPLE}).length === 1 && {PEOPLE}")
    await admin.tab.evaluate("const field = document.getElementById('people-search'); field.value = '';"
                             "field.dispatchEvent(new Event('input', { bubbles: true }))")
    await admin.until(f"({PEOPLE}).length === 3")
    return report.row(f"/admin, {browser}: lists searched and sorted, by pointer", "the fuller room first, who came last first, one found",
                      f"{by_people} / {latest} / {found}", by_people == [room, beside] and latest[-1] == "Eve" and found == ["Ada"])


async def _looked_into(report, admin, browser):
    """Charts and what happened, opened and filtered by pointer."""
    await admin.click_on(f"({row_of('Ada')}).querySelector('.closer summary')")
    charts = await admin.until(f"({CHARTS}).length === 3 && ({CHARTS}).every((each) => each?.includes('now')) && {CHARTS}")
    await admin.click_on("document.querySelector('#happened summary')")
    every = await admin.until(f"({EVENTS}).includes('The room began') && {EVENTS}")
    await choose(admin, "events-kind", "people")
    people = await admin.until(f"!({EVENTS}).includes('The room began') && {EVENTS}")
    await _write(admin, "events-search", "eve")
    eves = await admin.until(f"({EVENTS}).length < {len(people)} && {EVENTS}")
    await admin.click_on("document.querySelector('#happened summary')")
    await admin.until("!document.getElementById('happened').open")
    await admin.click_on(f"({row_of('Ada')}).querySelector('.closer summary')")
    return report.row(f"/admin, {browser}: charts, and what happened by kind and by name, by pointer", "three; all, those of people, Eve’s",
                      f"{len(charts)}; {len(every)}, {len(people)}, {eves}",
                      all("joined" in each for each in people) and len(people) == 3 and len(eves) == 1 and eves[0].startswith("Eve joined"))


async def _steady(report, server, admin, browser, room):
    """Sorted by who came last; whose row has the focus finds it where it was, though another one comes meanwhile."""
    before = await admin.tab.evaluate(f"return {PEOPLE}")
    await admin.click("people-search")
    await admin.tab.evaluate(f"({row_of('Ada')}).querySelector('.closer summary').focus()")
    async with guests(server, room, ["Zoe"], first=7):
        kept = await admin.until(f"({PEOPLE}).includes('Zoe') && {PEOPLE}")
        has_focus = await admin.tab.evaluate(f"return document.activeElement === ({row_of('Ada')}).querySelector('.closer summary')")
        await start_from(admin, "room-title")
        after = await admin.until(f"({PEOPLE})[0] === 'Zoe' && {PEOPLE}")
    await admin.until(f"!({PEOPLE}).includes('Zoe')")
    return report.row(f"/admin, {browser}: the order of a list while the focus is in it, and once it has left", "who came is last, then first",
                      f"{before}, {kept}, {has_focus}, {after}", kept == [*before, "Zoe"] and has_focus and after == ["Zoe", *before])


async def _picture(report, admin, browser):
    """By pointer: shown where the browser decodes, else said; by Tab elsewhere."""
    can = await admin.tab.evaluate("return 'VideoDecoder' in window")
    look = f"({row_of('Ada')}).querySelector('.look:not([hidden])')"
    await admin.until(f"!!{look}")
    await admin.click_on(look)
    if not can:
        said = await admin.until(NOTICE)
        return report.row(f"/admin, {browser}: a picture asked for by pointer", "no decoder here, and that is said", f"“{said}”",
                          "can't decode pictures here" in said)
    shown = await admin.until("document.querySelector('.picture:not([hidden]) canvas')?.ariaLabel")
    await admin.click_on("document.querySelector('.picture:not([hidden]) button')")
    await admin.until(f"!document.querySelector('.picture:not([hidden])') && document.activeElement === {look}")
    return report.row(f"/admin, {browser}: a picture asked for by pointer", "shown, and put away by pointer", f"“{shown}”", "Ada’s camera" in shown)


async def _tracks(report, admin, ada, bob, browser):
    """A camera muted by keyboard and allowed by pointer, a microphone the other way round."""
    camera, microphone = (f"({track_of('Ada', kind)}).querySelector('.mute')" for kind in ("Camera", "Microphone"))
    muted = "(%s).closest('li').innerText.includes('Muted by a host')"
    await _enter(admin, lambda: f"document.activeElement === {camera}")
    await bob.sees("Ada", "!tile.classList.contains('has-picture')")
    await admin.until(muted % camera)
    await admin.click_on(microphone)
    await ada.until(BLOCKED)
    await admin.until(muted % microphone)
    await admin.click_on(camera)
    await ada.until(f"{NOTICE} === 'You can turn on your camera now.'")
    await ada.click("notice-action")
    await bob.sees_picture("Ada")
    await _enter(admin, lambda: f"document.activeElement === {microphone}")
    await ada.until(f"!({BLOCKED})")
    await admin.until(f"!({muted % microphone})")
    return report.row(f"/admin, {browser}: a camera muted by keyboard, a microphone by pointer, and the other way round allowed",
                      "seen by the one, and by the other", "so", True)


async def _room(report, options, server, room, admin, people, browser):
    """All muted, and the room locked, by pointer; both undone by keyboard."""
    await admin.click("mute-all")
    await _sure(admin, True)
    for person in people:
        await person.until(BLOCKED)
    await _enter(admin, "allow-all")
    await _sure(admin, False)
    for person in people:
        await person.until(f"!({BLOCKED})")
    await admin.click("lock")
    await admin.until(f"{ABOUT}.includes('locked')")
    locked = rest.room(server, options.roost, room)["locked"]
    await _enter(admin, "lock")
    await admin.until(f"!{ABOUT}.includes('locked')")
    unlocked = not rest.room(server, options.roost, room)["locked"]
    return report.row(f"/admin, {browser}: all muted and the room locked by pointer, allowed and unlocked by keyboard",
                      "both muted, both may unmute; locked, unlocked", f"so; {locked}, {unlocked}", locked and unlocked)


async def _removed(report, admin, bob, browser):
    """One removed by keyboard alone, another by pointer."""
    await _enter(admin, lambda: f"document.activeElement === ({row_of('Eve')}).querySelector('.remove')")
    await _sure(admin, False)
    await bob.sees_no("Eve")
    await admin.until(f"({PEOPLE}).length === 2 && document.activeElement.id === 'room-title'")
    await admin.click_on(f"({row_of('Bob')}).querySelector('.remove')")
    await _sure(admin, True)
    said = await bob.until(f"String({NOTICE}).includes('removed') && {NOTICE}")
    left = await admin.until(f"({PEOPLE}).length === 1 && {PEOPLE}")
    return report.row(f"/admin, {browser}: one removed by keyboard, one by pointer", "gone, and said there", f"{left}, “{said}”",
                      left == ["Ada"] and "removed you" in said)


async def _closed(report, admin, ada, browser):
    await _enter(admin, "close")
    await _sure(admin, False)
    said = await ada.until(f"String({NOTICE}).includes('ended') && {NOTICE}")
    about = await admin.until(f"{ABOUT}.includes('ended') && {ABOUT}")
    focus, complaints = await admin.tab.evaluate("return [document.activeElement.id, window.complaints]")
    return report.row(f"/admin, {browser}: a room closed by keyboard alone", "said there and here, the focus on the title",
                      f"“{said}” “{about}” {focus}, {complaints or 'no complaint'}",
                      "ended the call" in said and focus == "room-title" and complaints == [])


async def _run(report, options, server, browser, other):
    name, room, beside = browser.name, f"ways-{browser.name}", f"ways-{browser.name}-2"
    async with guests(server, room, ["Eve"]), guests(server, beside, ["Tom"], first=1):
        ada = await Person.join(other, server, room, "Ada", VOICE, identity="ada")
        bob = await Person.join(browser, server, room, "Bob", VOICE, identity="bob")
        await bob.sees_picture("Ada")
        admin = await administer(options, server, browser, room)
        holds = await _opened(report, admin, name, room, beside)
        holds &= await _lists(report, admin, name, room, beside)
        holds &= await _looked_into(report, admin, name)
        holds &= await _steady(report, server, admin, name, room)
        holds &= await _picture(report, admin, name)
        holds &= await _tracks(report, admin, ada, bob, name)
        holds &= await _room(report, options, server, room, admin, (ada, bob), name)
        holds &= await _removed(report, admin, bob, name)
        holds &= await _closed(report, admin, ada, name)
    for person in (ada, bob, admin):
        await person.leave()
    return holds


async def meet(report, options, server, chromium, firefox):
    # One after the other: the pointer is in the window that is in front.
    holds = await _run(report, options, server, chromium, firefox)
    return holds & await _run(report, options, server, firefox, chromium)
