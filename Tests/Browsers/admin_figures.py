"""/admin: how the server, its rooms and those in them do; lists searched and sorted, charts, what happened, pictures; by pointer and by keyboard."""

import json
import os
import re

from harness.administration import NOTICE, administer, room_of, row_of
from harness.guests import guests
from harness.person import Person

PEOPLE = "[...document.querySelectorAll('#people > li')].map((row) => row.querySelector('.name').textContent)"
EVENTS = "[...document.querySelectorAll('#events li span')].map((each) => each.textContent)"
LOADS = "[...document.querySelectorAll('.worker-load')].map((each) => each.textContent)"
# Of the charts that are open: what each is to those who don't see it, and from how many readings its first line is made.
CHARTS = """[...document.querySelectorAll('#people .closer .explained')].map((each) => [each.querySelector('svg').getAttribute('aria-label'),
  (each.querySelector('path').getAttribute('d') ?? '').split('L').length])"""
# Of a picture that is shown: its size, how light the lightest of its pixels is, and how many there are that nothing was drawn on.
PICTURE = """
const canvas = document.querySelector('.picture:not([hidden]) canvas');
const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
let [light, bare] = [0, 0];
for (let place = 0; place < data.length; place += 4) {
  light = Math.max(light, data[place] + data[place + 1] + data[place + 2]);
  if (data[place + 3] < 255) bare += 1;
}
return [canvas.width, canvas.height, light, bare, canvas.getAttribute('aria-label')];
"""
EDGES = """[...document.querySelectorAll('.plain, input:not([type=checkbox]), select, .card, .mark')].filter((each) => each.checkVisibility()
  && getComputedStyle(each).borderTopWidth === '0px').map(({ id, className }) => id || className)"""


async def _type(admin, id_, words):
    """Writes into a field by keyboard."""
    await admin.tab.evaluate(f"const field = document.getElementById('{id_}'); field.value = ''; field.focus();"
                             "field.dispatchEvent(new Event('input', { bubbles: true }))")
    for letter in words:
        await admin.tab.press(letter)


async def _header(report, admin, browser, room):
    await admin.until(f"{LOADS}.length === 2 && {LOADS}.every((each) => each.includes('%'))", 30)
    about, rooms, people, received = await admin.tab.evaluate("""return ['server-about', 'total-rooms', 'total-participants', 'total-received']
      .map((id) => document.getElementById(id).textContent)""")
    loads = await admin.tab.evaluate(f"return {LOADS}")
    rates = await admin.until("((text) => text.includes('bit/s') && !text.includes('in 0 kbit') && text)"
                              f"(({room_of(room)}).querySelector('.rates').textContent)")
    return report.row(f"/admin, {browser}: how the server does", "version, uptime, totals, the load of two workers, a room's rates",
                      f"{about} / {rooms}, {people}, {received} / {', '.join(loads)} / {rates}",
                      "version" in about and "running for" in about and int(rooms) >= 1 and int(people) >= 2 and "bit/s" in received)


async def _people(report, admin, browser):
    camera = ("[...(%s).querySelectorAll('.tracks li')].find((each) => each.querySelector('.kind').textContent === 'Camera')"
              ".querySelector('.about').textContent") % row_of("Ada")
    seen = await admin.until(rf"((text) => /×\d+ · [\d.]+\/s · .*bit\/s/.test(text) && text)({camera})", 30)
    figures = await admin.until("((words) => words.every((each) => /\\d/.test(each)) && words)(['received', 'sent', 'loss', 'round-trip']"
                                f".map((each) => ({row_of('Ada')}).querySelector(`.${{each}}`).textContent))", 30)
    await admin.until(f"!({row_of('Ada')}).querySelector('.speaks').hidden || !({row_of('Bob')}).querySelector('.speaks').hidden")
    return report.row(f"/admin, {browser}: how participants do", "codec, size, rates, loss, round trip; who speaks",
                      f"{seen} / {', '.join(figures)}", "VP8" in seen and all("bit/s" in each for each in figures[:2])
                      and bool(re.fullmatch(r"[\d.]+ % \d+ ms", " ".join(figures[2:]))))


async def _lists(report, admin, browser, room):
    """Searched and sorted, by keyboard."""
    await _type(admin, "rooms-search", "zz")
    await admin.until("!document.getElementById('no-rooms').hidden")
    none = await admin.text("no-rooms")
    await _type(admin, "rooms-search", room[:6])
    await admin.until(f"!!({room_of(room)}) && document.getElementById('no-rooms').hidden")
    await admin.tab_to("rooms-sort")
    await admin.tab.press("ArrowDown")
    await admin.until("document.getElementById('rooms-sort').value === '-created'")
    await admin.until(f"document.querySelector('#rooms li .name').textContent === {json.dumps(room)}")
    before = await admin.tab.evaluate(f"return {PEOPLE}")
    await admin.tab.evaluate("document.getElementById('room-title').focus()")
    await admin.tab_to("people-sort")
    await admin.tab.press("ArrowDown")
    after = await admin.until(f"(({PEOPLE})[0] === 'Bob') && {PEOPLE}")
    await _type(admin, "people-search", "ad")
    found = await admin.until(f"({PEOPLE}).length === 1 && {PEOPLE}")
    await _type(admin, "people-search", "")
    await admin.until(f"({PEOPLE}).length === 2")
    complete = before == ["Ada", "Bob"] and after == ["Bob", "Ada"] and found == ["Ada"]
    return report.row(f"/admin, {browser}: lists searched and sorted, by keyboard", "no room, one; people the other way round, one of them",
                      f"“{none}” / {before} / {after} / {found}", "called that" in none and complete)


async def _charts(report, options, admin, browser):
    """Of what was before they were opened too."""
    await admin.tab_to(lambda: f"document.activeElement === ({row_of('Ada')}).querySelector('.closer summary')")
    await admin.tab.press("Enter")
    await admin.until(f"({CHARTS}).length === 3 && ({CHARTS})[0][1] > 2", 10)
    charts = await admin.tab.evaluate(f"return {CHARTS}")
    first = charts[0][1]
    await admin.until(f"({CHARTS})[0][1] > {first}")
    await _picture(options, admin, f"admin-{browser}")
    words = " / ".join(each for each, _ in charts)
    return report.row(f"/admin, {browser}: charts of a participant, opened by keyboard", "three that go on, with what was before, in words too",
                      f"{words} / {first} readings", all("now" in each and "not known" not in each for each, _ in charts))


async def _events(report, admin, browser):
    await admin.tab.evaluate("document.getElementById('room-title').focus()")
    await admin.tab_to(lambda: "document.activeElement === document.querySelector('#happened summary')")
    await admin.tab.press("Enter")
    await admin.until(f"({EVENTS}).includes('The room began')")
    every = await admin.tab.evaluate(f"return {EVENTS}")
    await admin.tab_to("events-kind")
    for _ in range(2):
        await admin.tab.press("ArrowDown")
    await admin.until("document.getElementById('events-kind').value === 'tracks'")
    tracks = await admin.until(f"!({EVENTS}).includes('The room began') && {EVENTS}")
    await _type(admin, "events-search", "bob")
    bobs = await admin.until(f"({EVENTS}).length < {len(tracks)} && {EVENTS}")
    complete = any(each.startswith("Ada joined") for each in every) and all("turned" in each or "muted" in each for each in tracks)
    complete &= len(bobs) > 0 and all(each.startswith("Bob") for each in bobs)
    return report.row(f"/admin, {browser}: what happened, by kind and by name, by keyboard", "all, those of tracks, those of Bob’s",
                      f"{len(every)}, {len(tracks)}, {len(bobs)}", complete)


async def _two(report, options, server, browser, admin, room):
    """Two windows of one browser, what happened open in both: browsers open six connections to one server, and what is done needs one."""
    second = await administer(options, server, browser, room)
    await second.click_on("document.querySelector('#happened summary')")
    await second.until(f"({EVENTS}).includes('The room began')")
    lock = "document.getElementById('lock').textContent"
    for each, other, words in ((second, admin, "Unlock room"), (admin, second, "Lock room")):
        await each.tab.evaluate("document.getElementById('lock').click()")
        await each.until(f"{lock} === '{words}'")
        if not await other.tab.evaluate("return document.hidden"):
            await other.until(f"{lock} === '{words}'")
    if not await second.tab.evaluate("return document.hidden"):
        await second.until(f"({EVENTS}).filter((each) => each === 'The room was changed').length === 2")
    hidden = [await each.tab.evaluate("return document.hidden") for each in (admin, second)]
    await second.leave()
    return report.row(f"/admin, {browser.name}: two windows, what happened open in both", "locked in one, unlocked in the other, seen in both",
                      f"so; hidden: {hidden}", True)


async def _pictures(report, admin, ada, browser):
    """Decoded where the browser can, and then the one who is looked at hears of it; else that is said, and nothing asked for."""
    await ada.tab.evaluate("""window.taken = [];
      roostPage.room.addEventListener('event', ({ detail }) => {
        if (detail.type === 'thumbnail.taken') window.taken.push(detail.track.source);
      });""")
    await _type(admin, "events-search", "picture")
    look = f"({row_of('Ada')}).querySelector('.look:not([hidden])')"
    await admin.tab.evaluate(f"{look}.focus()")
    await admin.tab.press("Enter")
    if not await admin.tab.evaluate("return 'VideoDecoder' in window"):
        said = await admin.until(NOTICE)
        return report.row(f"/admin, {browser}: a picture of a camera", "this browser has no decoder, and says so", f"“{said}”",
                          "can't decode pictures here" in said)
    await admin.until("!!document.querySelector('.picture:not([hidden]) canvas')")
    width, height, light, bare, label = await admin.tab.evaluate(PICTURE)
    await ada.until("window.taken.join() === 'camera'")
    [event] = await admin.until(f"({EVENTS}).length === 1 && {EVENTS}")
    # Two clicks at once are one, once the server gives another one of this track; right behind it there is none.
    await admin.tab.evaluate("return new Promise((done) => setTimeout(done, 2000))")
    await admin.tab.evaluate(f"""window.answers = [];
      const ask = window.fetch;
      window.fetch = async (...all) => {{
        const answer = await ask(...all);
        if (String(all[0]).includes('/thumbnail')) window.answers.push(answer.status);
        return answer;
      }};
      {look}.click(); {look}.click()""")
    await admin.until(f"window.answers.length > 0 && !{look}.hasAttribute('aria-busy')")
    once = await admin.tab.evaluate(f"return [window.answers.join(), {NOTICE}]") == ["200", False]
    await admin.tab.evaluate(f"{look}.click()")
    again = await admin.until(NOTICE)
    await admin.click("notice-close")
    await admin.tab.evaluate("document.querySelector('.picture:not([hidden]) button').focus()")
    await admin.tab.press("Enter")
    await admin.until(f"!document.querySelector('.picture:not([hidden])') && document.activeElement === {look}")
    return report.row(f"/admin, {browser}: a picture of a camera", "decoded here; heard of there and in the events; once for two clicks",
                      f"{width}×{height}, {light}, {bare} / {label} / {event} / {once} / “{again}”",
                      width >= 160 and height >= 90 and light > 100 and bare == 0 and once and "Ada’s camera" in label
                      and event.startswith("An administrator looked at a picture of Ada") and "two seconds" in again)


async def _many(report, options, server, browser):
    """Of more than the page lists, one is looked for and looked at closely: there to stay when the search is over, until gone, which is said."""
    room = f"many-{browser.name}"
    zoe = row_of("Zoe")
    async with guests(server, room, [f"Guest {number}" for number in range(103)]):
        # Behind all others, by the identity.
        async with guests(server, room, ["Zoe"], first=999):
            admin = await administer(options, server, browser, room)
            await admin.until(f"!document.getElementById('more-people').hidden && ({PEOPLE}).length === 100")
            await _type(admin, "people-search", "zoe")
            await admin.until(f"({PEOPLE}).join() === 'Zoe'")
            await admin.tab.evaluate(f"({zoe}).querySelector('.closer summary').click()")
            await admin.until(f"({CHARTS}).length === 3")
            await _type(admin, "people-search", "")
            await admin.until(f"!document.getElementById('more-people').hidden && ({PEOPLE}).length >= 100")
            first = await admin.tab.evaluate(f"return ({CHARTS})[0][1]")
            await admin.until(f"({CHARTS}).length === 3 && ({CHARTS})[0][1] > {first} + 1")
            people = await admin.tab.evaluate(f"return ({PEOPLE}).length")
            await admin.tab.evaluate(f"({zoe}).querySelector('.remove').focus()")
        said = await admin.until(f"!({zoe}) && ((text) => text.includes('Zoe left') && text)(document.getElementById('status').textContent)")
        focus = await admin.tab.evaluate("return document.activeElement.id")
        await admin.leave()
    return report.row(f"/admin, {browser.name}: one of more than a hundred who is looked at closely", "stays, with charts that go on; “left” when that is so, the focus on the title",
                      f"{people} listed, “{said}”, {focus}", people == 101 and focus == "room-title")


async def _narrow(report, options, admin, browser):
    await admin.tab.resize(390, 844)
    width = await admin.tab.evaluate("return document.documentElement.scrollWidth")
    await _picture(options, admin, f"admin-{browser}-390")
    bare = []
    if browser == "chromium":
        await admin.tab.resize(1280, 800, dark=True)
        await _picture(options, admin, "admin-dark")
        await admin.tab.force_colors()
        bare = await admin.tab.evaluate(f"return {EDGES}")
    complaints = await admin.tab.evaluate("return window.complaints")
    return report.row(f"/admin, {browser}: 390 wide with all open, forced colours, policy and scripts", "no scrolling, edges, no complaint",
                      f"{width}, {bare or 'all'}, {complaints or 'none'}", width <= 390 and not bare and complaints == [])


async def _picture(options, person, name):
    """For people to look at, where the folder for evidence is asked for by `ROOST_PICTURES`."""
    if os.environ.get("ROOST_PICTURES"):
        os.makedirs(options.evidence, exist_ok=True)
        await person.tab.screenshot(os.path.join(options.evidence, f"{name}.png"))


async def _look(report, options, server, browser, other):
    name, room = browser.name, f"fig-{browser.name}"
    ada = await Person.join(other, server, room, "Ada", identity="ada")
    bob = await Person.join(browser, server, room, "Bob", identity="bob")
    await bob.sees_picture("Ada")
    admin = await administer(options, server, browser, room)
    holds = await _header(report, admin, name, room)
    holds &= await _people(report, admin, name)
    holds &= await _lists(report, admin, name, room)
    holds &= await _charts(report, options, admin, name)
    holds &= await _events(report, admin, name)
    holds &= await _two(report, options, server, browser, admin, room)
    holds &= await _pictures(report, admin, ada, name)
    holds &= await _narrow(report, options, admin, name)
    for person in (ada, bob, admin):
        await person.leave()
    return holds & await _many(report, options, server, browser)


async def meet(report, options, server, chromium, firefox):
    holds = await _look(report, options, server, chromium, firefox)
    return holds & await _look(report, options, server, firefox, chromium)
