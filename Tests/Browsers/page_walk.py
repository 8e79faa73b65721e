"""A stranger's walk, from `make run` and the address that it prints to goodbye: open, a name, join, copy the link; a second browser comes by it;
both talk, write, one shares a screen; both leave. Timed by the pages, without what the test itself thinks about; nowhere is there no way on."""

import asyncio
import json
import os
import re
import time

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.person import IN_CALL, TABS, Person, new_tab
from harness.server import ROOT, Server

MOST = 30.0  # s of the pages' time
CLIPBOARD = """Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } });"""
BUTTON = "[...document.querySelectorAll('#invite-card button')].find((each) => each.textContent === 'Copy link')"
WORDS = "Is this the way to the roost?"


class Walk:
    """The steps, each with the time until the page was where it leads."""

    def __init__(self, report):
        self.report = report
        self.steps = []

    async def step(self, name, deed):
        start = time.monotonic()
        value = await deed
        self.steps.append((name, time.monotonic() - start))
        self.report.say(f"  {name}: {self.steps[-1][1]:.1f} s")
        return value

    @property
    def seconds(self):
        return sum(seconds for _, seconds in self.steps)


async def _press(person, element):
    """With the pointer, in the middle of what `element` is in JavaScript."""
    x, y = await person.until(f"""((each) => each?.checkVisibility() && [each.getBoundingClientRect()]
      .map(({{ left, top, width, height }}) => [left + width / 2, top + height / 2])[0])({element})""")
    await person.tab.point_click(x, y)


async def _write(person, text):
    for letter in text:
        await person.tab.press(letter)


def _by(id_):
    return f"document.getElementById({json.dumps(id_)})"


async def _open(person, address, name):
    await person.tab.open(address)
    await person.until("document.getElementById('join-button').textContent === 'Join'")
    await _press(person, _by("name"))
    await _write(person, name)


async def _join(person):
    await person.tab.press("Enter")
    await person.until(IN_CALL)


async def _copied(person):
    await _press(person, BUTTON)
    return await person.until("window.copied")


async def _seen(people):
    for person, other in zip(people, reversed(people)):
        await person.sees_picture(other.name)


async def _chat(people):
    ada, bob = people
    await _press(ada, _by("chat-toggle"))
    await ada.until("document.activeElement.matches('textarea, [contenteditable]')")
    await _write(ada, WORDS)
    await ada.tab.press("Enter")
    await _press(bob, _by("chat-toggle"))
    await bob.until(f"[...document.querySelectorAll('.message')].some((each) => each.textContent.includes({json.dumps(WORDS)}))")


async def _share(people):
    ada, bob = people
    await _press(ada, _by("screen"))
    await bob.sees_picture("Ada: screen")


async def _leave(people):
    for person in people:
        await _press(person, _by("leave"))
        await person.until("document.body.dataset.view === 'lobby'")


async def _walk(report, address, browser, other):
    walk = Walk(report)
    people = []
    for each, name in ((browser, "Ada"), (other, "Bob")):
        person = Person(await new_tab(each, CLIPBOARD + each.SCREEN), name)
        await person.tab.resize(1280, 800)
        people.append(person)
    ada, bob = people
    await walk.step("opened, and a name", _open(ada, address, "Ada"))
    await walk.step("joined", _join(ada))
    link = await walk.step("the link copied", _copied(ada))
    await walk.step("the link opened elsewhere, and a name", _open(bob, link, "Bob"))
    await walk.step("joined there", _join(bob))
    await walk.step("each sees the other", _seen(people))
    await walk.step("written and read", _chat(people))
    await walk.step("a screen shared and seen", _share(people))
    await walk.step("left", _leave(people))
    # Back at the door, one can go in again.
    ready = [await each.tab.evaluate("return [document.activeElement.id, document.getElementById('join-button').disabled]") for each in people]
    complaints = [await each.tab.evaluate("return window.complaints") for each in people]
    for person in people:
        await person.leave()
    way = f"page, a stranger's walk, {browser.name} with {other.name}"
    holds = report.row(f"{way}: page time", f"less than {MOST:g} s", f"{walk.seconds:.1f} s", walk.seconds < MOST)
    return holds & report.row(f"{way}: where it ends", "at the way in, with the focus on it, and no complaint",
                              f"{ready}, {sum(complaints, []) or 'none'}", ready == [["join-button", False]] * 2 and complaints == [[], []])


async def _printed(server):
    """The address that the server prints for people to open."""
    return await server.process.wait_for("address", lambda: next(iter(re.findall(r"http://127\.0\.0\.1:\d+", server.process.log())), None), 10)


async def run(report, options):
    # Of another binary than this folder's `make run` would show nothing.
    is_made = os.path.realpath(options.roost) == os.path.realpath(os.path.join(ROOT, ".build/release/roost"))
    server = Server.made(options.roost) if is_made else Server(options.roost)
    async with server, Chromium() as chromium, Firefox() as firefox:
        async with kept_on_failure(report, options.evidence, TABS, (server.process,)):
            address = await _printed(server)
            holds = report.row("a stranger's walk: " + ("`make run`" if is_made else "a server that was built elsewhere"),
                               f"prints {server.ORIGIN}", address, address == server.ORIGIN)
            for browser, other in ((chromium, firefox), (firefox, chromium)):
                holds &= await asyncio.wait_for(_walk(report, address, browser, other), 90)
            server.process.require_running()
            return holds
