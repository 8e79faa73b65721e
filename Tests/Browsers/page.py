"""The server's own page as people use it: by keyboard, with names and marks, on a phone's width."""

import os

from harness import namespace
from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.guests import guests
from harness.person import IN_CALL, TABS, Person, new_tab
from harness.server import Server
from page_invite import on_the_network

HOSTILE = '<img src=x onerror="window.complaints.push(1)">'


async def _by_keyboard(browser, server, room):
    """Joins with Tab, Enter and letters alone, mutes, looks for help, leaves."""
    tab = await new_tab(browser)
    await tab.open(f"{server.ORIGIN}/?room={room}")
    person = Person(tab, "Kay")
    await person.until("document.getElementById('preview').videoWidth > 0")
    await person.tab_to("name")
    for letter in "Kay":
        await tab.press(letter)
    await person.until("document.getElementById('name').value === 'Kay'")
    await person.tab_to("join-button")
    await tab.press("Enter")
    await person.until(IN_CALL)
    await person.until("document.activeElement.id === 'call'")
    await tab.press("m")
    await person.sees("Kay (you)", "!tile.querySelector('.microphone-mark').hidden")
    await tab.press("m")
    await person.sees("Kay (you)", "tile.querySelector('.microphone-mark').hidden")
    await tab.press("?")
    await person.until("document.getElementById('help').open")
    await person.tab_to(lambda: "document.activeElement.closest('#help form') !== null")
    await tab.press("Enter")
    await person.until("!document.getElementById('help').open")
    await person.tab_to("leave")
    await tab.press("Enter")
    await person.until("!document.getElementById('lobby').hidden")
    complaints = await tab.evaluate("return window.complaints")
    await person.leave()
    return complaints


async def _two_people(report, server, one, other):
    """`one` and `other` are browsers: what each sees of the other's doing."""
    room = f"page-{one.name}-{other.name}"
    ada = await Person.join(one, server, room, "Ada")
    eve = await Person.join(other, server, room, HOSTILE)
    for watching, watched in ((ada, HOSTILE), (eve, "Ada")):
        await watching.sees_picture(watched)
        await watching.sees(watched, "tile.querySelector('.microphone-mark').hidden")
    way = f"{one.name} with {other.name}"
    holds = report.row(f"page, {way}", "each other's name and picture", "both", True)
    images = await ada.tab.evaluate("return document.querySelectorAll('#stage img').length")
    holds &= report.row(f"page, {way}: a name that is HTML", "shown as text", f"{images} images made of it", images == 0)

    await eve.click("microphone")
    await ada.sees(HOSTILE, "!tile.querySelector('.microphone-mark').hidden")
    await eve.click("camera")
    await ada.sees(HOSTILE, "!tile.classList.contains('has-picture')")
    await eve.click("microphone")
    await eve.click("camera")
    await ada.sees(HOSTILE, "tile.querySelector('.microphone-mark').hidden")
    await ada.sees_picture(HOSTILE)
    holds &= report.row(f"page, {way}: muted, camera off, both on again", "marked, then seen", "so", True)
    await ada.sees(HOSTILE, "tile.hasAttribute('data-speaking')")
    await ada.sees(HOSTILE, "tile.querySelector('.quality').dataset.quality")
    holds &= report.row(f"page, {way}: who speaks, and how well it travels", "marked", "so", True)

    await ada.click("statistics-toggle")
    rows = await ada.until(
        "document.querySelectorAll('#track-rows tr').length >= 4 && "
        "document.getElementById('transport').innerText.includes('AES') && "
        "[...document.querySelectorAll('#track-rows tr')].map((row) => row.innerText)")
    holds &= report.row(f"page, {way}: statistics", "a row for each of four tracks", f"{len(rows)} rows", len(rows) == 4)

    await eve.click("leave")
    await ada.sees_no(HOSTILE)
    await eve.until("!document.getElementById('lobby').hidden")
    again = await ada.tab.evaluate("return document.querySelectorAll('.tile').length")
    holds &= report.row(f"page, {way}: after one left", "one tile", f"{again}", again == 1)
    complaints = [await person.tab.evaluate("return window.complaints") for person in (ada, eve)]
    holds &= report.row(f"page, {way}: policy and scripts", "no complaint", sum(complaints, []) or "none",
                        complaints == [[], []])
    for person in (ada, eve):
        await person.leave()
    return holds


# What can be operated and is smaller than a finger; a checkbox counts with its label.
SMALL = """[...document.querySelectorAll("button, select, input")]
  .filter((each) => each.getClientRects().length && !each.disabled)
  .map((each) => [each.id || each.className, (each.closest("label") ?? each).getBoundingClientRect()])
  .filter(([, box]) => box.width < 43.9 || box.height < 43.9).map(([name, box]) => `${name} ${box.width}×${box.height}`)"""
# Text that is hard to read on what is behind it (WCAG 2, 1.4.3). Pictures are left out, and what is switched off.
PALE = """(() => {
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const paint = (colors) => {
    context.clearRect(0, 0, 1, 1);
    for (const color of colors) { context.fillStyle = color; context.fillRect(0, 0, 1, 1); }
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const luminance = (rgb) => rgb.map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!(isText || element.localName === "svg") || !element.checkVisibility() || element.closest(":disabled, option")) continue;
    const behind = [];
    for (let each = element; each; each = each.parentElement) behind.unshift(getComputedStyle(each).backgroundColor);
    const { color } = getComputedStyle(element);
    const [light, dark] = [luminance(paint(["white", ...behind, color])), luminance(paint(["white", ...behind]))].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < (isText ? 4.5 : 3)) found.push(`${element.id || element.className || element.localName} ${ratio.toFixed(1)}`);
  }
  return found;
})()"""


async def _narrow(report, server, browser, people):
    """On a phone nothing is cut off, nothing scrolls sideways, and everything is large enough for a finger."""
    room = f"page-narrow-{browser.name}"
    phone = await Person.arrive(browser, server, room, "Phone")
    await phone.tab.resize(390, 844)
    await phone.until("document.getElementById('preview').videoWidth > 0")
    lobby, small = await phone.tab.evaluate(f"return [document.documentElement.scrollWidth, {SMALL}]")
    await phone.click("join-button")
    await phone.until(IN_CALL)
    longest = "Wolfeschlegelsteinhausenbergerdorff" * 3 + "و" * 11  # 127 bytes
    async with guests(server, room, [longest, *(f"Person {number}" for number in range(2, people))]):
        await phone.until(f"document.querySelectorAll('.tile').length === {people}")
        outside, more = await phone.tab.evaluate(f"""
          const small = {SMALL};
          document.getElementById("microphone-more").click();
          document.getElementById("statistics-toggle").click();
          document.getElementById("banner").dataset.kind = "draining";
          document.getElementById("banner-text").textContent =
            "The server restarts at 12:00:00. You can join again a moment later.";
          await new Promise((resolve) => setTimeout(resolve, 300));
          document.getAnimations().forEach((each) => each.finish());
          return [[document.documentElement, ...document.querySelectorAll(".tile, button, .statistics, .menu, .banner")]
            .filter((each) => each.getClientRects().length)
            .map((each) => [each.id || each.className, each.getBoundingClientRect()])
            .filter(([, box]) => box.left < 0 || box.right > 390 || box.top < 0 || box.bottom > 844).map(([name]) => name),
            small.concat({SMALL})];
        """)
        width = await phone.tab.evaluate("return document.documentElement.scrollWidth")
    small += more
    await phone.leave()
    return report.row(f"page, {browser.name} at 390 × 844 with {people} people", "all inside, no scrolling, nothing below 44 px",
                      f"{lobby} and {width} wide, outside: {outside or 'nothing'}, small: {small or 'nothing'}",
                      max(lobby, width) <= 390 and not outside and not small)


async def _readable(report, server, chromium):
    """Text and signs stand out from what is behind them, by day and by night."""
    pale = []
    for dark in (False, True):
        person = await Person.arrive(chromium, server, "page-contrast", "Ada")
        await person.tab.resize(1280, 800, dark=dark)
        await person.until("document.getElementById('preview').videoWidth > 0")
        pale += await person.tab.evaluate(f"return {PALE}")
        await person.click("join-button")
        await person.until(IN_CALL)
        await person.click("microphone")
        await person.click("statistics-toggle")
        await person.until("document.querySelectorAll('#track-rows tr').length >= 1")
        await person.click("microphone-more")
        for kind in ("reconnecting", "draining"):
            pale += await person.tab.evaluate(f"""
              document.getElementById("banner").dataset.kind = "{kind}";
              document.getElementById("banner-text").textContent = "{kind}";
              document.getElementById("notice").hidden = false;
              document.getElementById("notice-text").textContent = "a notice";
              return {PALE}""")
        await person.click("help-open")
        pale += await person.tab.evaluate(f"return {PALE}")
        await person.leave()
    return report.row("page: contrast, light and dark", "at least 4.5 for text and 3 for signs", sorted(set(pale)) or "everywhere",
                      not pale)


async def _reachable(report, server, browser):
    """Every control of the call comes by Tab, and in Chromium shows that it has the focus."""
    person = await Person.join(browser, server, f"page-tab-{browser.name}", "Ada")
    await person.until("document.activeElement.id === 'call'")
    wanted = await person.tab.evaluate("""
      return [...document.querySelectorAll("#call button[id]")].filter((each) => each.getClientRects().length).map(({ id }) => id)""")
    seen, unmarked = set(), []
    for _ in range(len(wanted) + 8):
        id_, style = await person.tab.evaluate(
            "return [document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]")
        seen.add(id_)
        # Firefox without a window draws rings only after a while, so Chromium alone is asked for them.
        if id_ in wanted and style == "none" and browser.name == "chromium":
            unmarked.append(id_)
        await person.tab.press("Tab")
    await person.leave()
    missing = sorted(set(wanted) - seen)
    return report.row(f"page, {browser.name}: all controls by Tab", "each reached, none without a ring",
                      f"{len(wanted)} controls, not reached: {missing or 'none'}, unmarked: {unmarked or 'none'}",
                      len(wanted) >= 9 and not missing and not unmarked)


async def _announcements(report, server, chromium):
    """Who comes and goes is said where screen readers listen, politely."""
    ada = await Person.join(chromium, server, "page-told", "Ada")
    await ada.tab.evaluate("""
      window.said = [];
      new MutationObserver((changes) => changes.forEach(({ addedNodes }) =>
        addedNodes.forEach((each) => window.said.push(each.textContent)))).observe(document.getElementById("status"), { childList: true });""")
    bob = await Person.join(chromium, server, "page-told", "דנה")
    await bob.click("leave")
    said = await ada.until("window.said.length >= 2 && window.said")
    role = await ada.tab.evaluate("return document.getElementById('status').getAttribute('role')")
    for person in (ada, bob):
        await person.leave()
    return report.row("page: who comes and goes", "said, by a status", f"{role}: {' / '.join(said)}",
                      role == "status" and said == ["\u2068דנה\u2069 joined", "\u2068דנה\u2069 left"])


async def _accessible(report, server, chromium):
    """Whatever can be operated has a name, in the lobby and in the call."""
    person = await Person.arrive(chromium, server, "page-access", "Ada")
    await person.until("document.getElementById('preview').videoWidth > 0")
    nameless, count = [], 0
    for view in ("lobby", "call"):
        for role, name in await person.tab.accessible_names():
            if role in ("button", "textbox", "combobox", "checkbox", "meter", "dialog", "region", "image", "img"):
                count += 1
                if not name.strip():
                    nameless.append(f"{role} in the {view}")
        if view == "lobby":
            await person.click("join-button")
            await person.until(IN_CALL)
            await person.click("statistics-toggle")
    live = await person.tab.evaluate("return document.querySelector('[role=status]').textContent")
    await person.leave()
    return report.row("page: accessible names", "each control has one", f"{count} looked at, without: {nameless or 'none'}"
                      f"{live and ', said: ' + live}", count > 15 and not nameless)


async def _refusals(report, server, chromium):
    """What goes wrong is said with what to do."""
    seen = {}
    person = await Person.arrive(chromium, server, "page-token", "Ada")
    await person.tab.open(f"{server.ORIGIN}/?x=1#token=e30.eyJzdWIiOiJhIn0.e30")
    await person.until("document.getElementById('name').readOnly")
    address = await person.tab.evaluate("return location.href")
    await person.tab.evaluate("document.getElementById('room').value = 'demo'")
    await person.click("join-button")
    seen["a bad token"] = await person.until("document.getElementById('notice-text').textContent")
    await person.leave()
    return report.row("page: a bad token", "said, and gone from the address", f"{seen['a bad token']}",
                      "invitation" in seen["a bad token"] and "token" not in address)


async def _by_https(report, options, chromium):
    """With --dev --lan two friends meet by https, at the address that the network has for the server."""
    async with Server(options.roost, lan=namespace.ADDRESS) as server:
        people = []
        for name in ("Ada", "Bob"):
            tab = await new_tab(chromium)
            await tab.trust_everybody()
            await tab.open(f"{server.ORIGIN}/?room=lan&name={name}")
            people.append(Person(tab, name))
            await people[-1].enter()
        for person, other in zip(people, reversed(people)):
            await person.sees_picture(other.name)
        is_secure = await people[0].tab.evaluate("return window.isSecureContext")
        for person in people:
            await person.leave()
        holds = await on_the_network(report, server, chromium)
        server.process.require_running()
    return holds & report.row("page, by https with --lan", "two see each other", f"secure context: {is_secure}", is_secure)


async def run(report, options):
    if not os.access(options.roost, os.X_OK):
        raise FileNotFoundError(f"no server at {options.roost}: swift build -c release --product roost")
    async with Server(options.roost) as server, Chromium() as chromium, Firefox() as firefox:
        async with kept_on_failure(report, options.evidence, TABS, (server.process,)):
            holds = True
            for browser in (chromium, firefox):
                complaints = await _by_keyboard(browser, server, f"page-keys-{browser.name}")
                holds &= report.row(f"page, {browser.name}: joined, muted, helped, left by keyboard alone",
                                    "no complaint", complaints or "none", complaints == [])
            holds &= await _two_people(report, server, chromium, firefox)
            holds &= await _two_people(report, server, firefox, chromium)
            for browser in (chromium, firefox):
                holds &= await _narrow(report, server, browser, 9)
            for browser in (chromium, firefox):
                holds &= await _reachable(report, server, browser)
            holds &= await _accessible(report, server, chromium)
            holds &= await _readable(report, server, chromium)
            holds &= await _announcements(report, server, chromium)
            holds &= await _refusals(report, server, chromium)
            server.process.require_running()
            await server.process.end()
            return holds & await _by_https(report, options, chromium)
