"""A call on a phone, each by pointer and by keyboard alone: the menu of what the bar has no room for, where the sound comes out, the data saver;
and the panel of people and messages, which is a sheet at the bottom."""

import asyncio
import json

from harness.menus import OPEN, go_by_keys, item, pick_by_keys, pick_by_pointer
from harness.person import Person
from page_phone import ASKED, PHONE
from page_talk import VOICE

WAYS = {"pointer": pick_by_pointer, "keyboard": pick_by_keys}
BAR = "document.querySelector('.bar')"
FOCUS = "document.activeElement.id"
MARK = "!tile.querySelector('.hand-mark').hidden"
# By name: what shows that it has opened, and how a pointer closes it.
OPENS = {
    "Invite others": ("document.getElementById('invite-card')", "document.getElementById('invite-close')"),
    "Statistics": ("document.getElementById('statistics')", "document.getElementById('statistics-close')"),
    "Help": ("document.querySelector('#help[open]')", "document.querySelector('#help[open] form button')"),
}
# Whether an open menu, with all in it, is on the screen; and what is in it.
SHOWN = """
const menu = document.getElementById("more-menu");
const { left, top, right, bottom } = menu.getBoundingClientRect();
const items = [...menu.querySelectorAll("[role^=menuitem]")];
return [left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight,
  Math.min(...items.map((each) => each.getBoundingClientRect().height)), items.map((each) => each.innerText.trim())];
"""
WRITTEN = "[...document.querySelectorAll('.messages .words')].filter((each) => each.textContent === 'here').length"
# The sheet: from side to side, from the bar upwards, with a part of the call above it.
SHEET = """
const [side, bar, stage] = [".side", ".bar", ".stage"].map((each) => document.querySelector(each).getBoundingClientRect());
return [side.left, innerWidth - side.right, bar.top - side.bottom, side.top - stage.top, side.height].map(Math.round);
"""


async def _menu(report, browser, ada, ben):
    """What is in it at 360 and at 390 pixels, and each of it used."""
    found = {}
    for width in (390, 360):
        await ada.tab.resize(width, 740)
        await ada.point("document.getElementById('more')")
        await ada.until(OPEN % "more-menu")
        found[width] = await ada.tab.evaluate(SHOWN)
        await ada.tab.press("Escape")
        await ada.until(f"!({OPEN % 'more-menu'}) && {FOCUS} === 'more'")
    wide = ["Invite others", "Statistics", "Help"]
    holds = report.row(f"page, {browser.name}: the menu of what the bar has no room for", "all of it, on the screen, in the size of a finger", found,
                       found[390][2] == wide and found[360][2] == ["Raise hand", *wide]
                       and all(each[0] and each[1] >= 43.9 for each in found.values()))
    for way, pick in WAYS.items():
        seen = []
        for name, (place, close) in OPENS.items():
            await pick(ada, "more", "more-menu", name)
            await ada.until(f"{place}?.checkVisibility()")
            if name == "Statistics":
                below = await ada.tab.evaluate(f"return {place}.getBoundingClientRect().bottom - {BAR}.getBoundingClientRect().top")
            if way == "pointer":
                await ada.point(close)
            else:
                await ada.tab.press("Escape")
            await ada.until(f"!{place}?.checkVisibility()")
            seen.append(await ada.tab.evaluate(f"return {FOCUS}"))
        holds &= report.row(f"page, {browser.name}: invitation, statistics and help from that menu, by {way}",
                            "each opens and closes, the figures above the bar, and the focus is back", f"{below:.0f} beneath it, {seen}",
                            seen == ["more"] * 3 and below <= 0)
        await pick(ada, "more", "more-menu", "Raise hand")
        await ben.sees("Ada", MARK)
        await go_by_keys(ada, "more", "more-menu", "Raise hand")
        checked = await ada.tab.evaluate(f"return [{item('more-menu', 'Raise hand')}].map((each) => [each.role, each.ariaChecked].join()).join()")
        await ada.tab.press("Escape")
        await pick(ada, "more", "more-menu", "Raise hand")
        await ben.sees("Ada", f"!({MARK})")
        holds &= report.row(f"page, {browser.name}: the hand from that menu, by {way}", "raised, said to be, and lowered", checked,
                            checked == "menuitemcheckbox,true")
    return holds


async def _route(report, browser, ada, way, pick):
    """Where the others are heard, and by whom the browser asks."""
    sinks = []
    for name, wanted in (("The loud one", "loud"), ("Choose…", "car"), ("The ear one", "ear")):
        await pick(ada, "microphone-more", "microphone-menu", name)
        sinks.append(await ada.until(f"((sink) => sink === {json.dumps(wanted)} && sink)({ada.tile('Ben')}.querySelector('video').sinkId)"))
    await go_by_keys(ada, "microphone-more", "microphone-menu", "The ear one")
    checked = await ada.tab.evaluate(f"return {item('microphone-menu', 'The ear one')}.ariaChecked")
    await ada.tab.press("Escape")
    return report.row(f"page, {browser.name}: where the sound comes out, by {way}",
                      "one, that of the browser's question, another, and so the menu says",
                      f"{sinks}, {checked}", sinks == ["loud", "car", "ear"] and checked == "true")


async def _saver(report, browser, ada, ben, way, pick):
    """On and off again."""
    await ada.until(f"({ASKED}) === 'Ben shown'")
    await pick(ada, "view", "view-menu", "Data saver")
    await ada.until(f"({ASKED}) === 'Ben off'")
    note = await ada.sees("Ben", "tile.querySelector('.tile-note').textContent")
    camera = await ada.until("document.getElementById('camera').ariaPressed === 'false' && 'camera off'")
    await ben.sees("Ada", "!tile.classList.contains('has-picture')")
    await pick(ada, "view", "view-menu", "Data saver")
    await ada.until(f"({ASKED}) === 'Ben shown'")
    await ada.sees_picture("Ben")
    if way == "pointer":
        await ada.point("document.getElementById('camera')")
    else:
        await ada.tab.evaluate("document.getElementById('call').focus()")
        await ada.tab.press("v")
    await ben.sees_picture("Ada")
    return report.row(f"page, {browser.name}: the data saver on and off, by {way}", "no picture of who doesn't speak, one's own off; then as before",
                      f"“{note}”, {camera}", "save data" in note)


async def _write(ada, way):
    """Into the field at the sheet's foot, which nothing covers, and sent."""
    count = await ada.tab.evaluate(f"return {WRITTEN}")
    if way == "pointer":
        await ada.point("document.getElementById('chat-text')")
        await ada.until(f"{FOCUS} === 'chat-text'")
    else:
        await ada.tab.evaluate("document.getElementById('call').focus()")
        await ada.tab_to("chat-text")
    for letter in "here":
        await ada.tab.press(letter)
    if way == "pointer":
        await ada.point("document.getElementById('chat-send')")
    else:
        await ada.tab.press("Enter")
    await ada.until(f"{WRITTEN} === {count + 1}")


async def _sheet(report, browser, ada):
    """Opened by pointer and by key; one mutes meanwhile, and closes it."""
    await ada.tab.resize(390, 844)
    found = []
    for tab, key in (("people", "p"), ("chat", "t")):
        for way in WAYS:
            if way == "pointer":
                await ada.point(f"document.getElementById('{tab}-toggle')")
            else:
                await ada.tab.evaluate("document.getElementById('call').focus()")
                await ada.tab.press(key)
            await ada.until(f"document.getElementById('side-{tab}')?.checkVisibility()")
            await ada.tab.evaluate("document.getAnimations().forEach((each) => each.finish())")
            found.append(await ada.tab.evaluate(SHEET))
            for pressed in ("false", "true"):
                await ada.point("document.getElementById('microphone')")
                await ada.until(f"document.getElementById('microphone').ariaPressed === '{pressed}'")
            found[-1].append(await ada.tab.evaluate(f"return document.getElementById('side-{tab}').checkVisibility()"))
            if tab == "chat":
                await _write(ada, way)
            if way == "pointer":
                await ada.point("document.getElementById('side-close')")
            else:
                await ada.tab.press("Escape")
            await ada.until("document.getElementById('side').hidden")
    good = all(left == right == 0 and abs(below) <= 1 and above > 100 and height > 300 and is_open
               for left, right, below, above, height, is_open in found)
    return report.row(f"page, {browser.name}: people and chat at 390 pixels, by pointer and by key",
                      "a sheet from side to side above the bar, the call above it; one mutes and writes meanwhile", found, good)


async def _call(report, server, browser, other):
    room = f"more-{browser.name}"
    ben = await Person.join(other, server, room, "Ben", VOICE)
    ada = await Person.join(browser, server, room, "Ada", PHONE)
    await ada.tab.resize(360, 740)
    await ada.sees_picture("Ben")
    holds = await _menu(report, browser, ada, ben)
    for way, pick in WAYS.items():
        holds &= await _route(report, browser, ada, way, pick)
        holds &= await _saver(report, browser, ada, ben, way, pick)
    holds &= await _sheet(report, browser, ada)
    complaints = await ada.tab.evaluate("return window.complaints")
    for person in (ada, ben):
        await person.leave()
    return holds & report.row(f"page, {browser.name}: policy and scripts meanwhile", "no complaint", complaints or "none", complaints == [])


async def meet(report, options, server, chromium, firefox):
    return all(await asyncio.gather(_call(report, server, chromium, firefox), _call(report, server, firefox, chromium)))
