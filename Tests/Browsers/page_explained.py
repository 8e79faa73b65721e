"""What one gets and why, in the page's statistics and in /admin: a chart and a reason for each subscription, as the server explains it."""

import json
import os

from harness.person import Person, new_tab
from harness.rest import token

FIGURES = "document.querySelectorAll('.explained').length"
# Of the first figure: the title, the reason, what the chart is to those who don't see it, whether its lines go on, and the figures below.
FIRST = """
const figure = document.querySelector('.explained');
return [figure.querySelector('.explained-title').textContent, figure.querySelector('.explained-reason').textContent,
  figure.querySelector('svg').getAttribute('aria-label'), figure.querySelector('.chart-bitrate').getAttribute('d') ?? '',
  [...figure.querySelectorAll('dd')].map((each) => each.textContent)];
"""
# Of whom /admin asked for explanations.
ASKED = """
const asked = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/explain?'));
return [...new Set(asked.map(({ name }) => new URL(name).searchParams.get('identity')))];
"""
DRAWN = "(document.querySelector('.explained .chart-bitrate')?.getAttribute('d') ?? '').split('L').length > 2"


async def _call(report, options, server, browser, other):
    room = f"explained-{browser.name}"
    ada = await Person.join(other, server, room, "Ada")
    bob = await Person.join(browser, server, room, "Bob")
    await bob.sees_picture("Ada")
    await bob.click("statistics-toggle")
    await bob.until(f"{FIGURES} > 0")
    await bob.until(DRAWN)
    title, reason, label, _, figures = await bob.tab.evaluate(FIRST)
    holds = report.row(f"statistics, {browser.name}: what one gets of a camera, and why", "whose, a sentence, a chart with words, figures",
                       f"{title} / {reason} / {label} / {', '.join(figures)}",
                       title == "Ada: camera" and reason.endswith(".") and "sent of this track: " in label
                       and "not known" not in label.split("sent of this track")[1] and figures[3] != "–")
    # A camera that is muted has no chart to show; one that is turned off by its viewer says so.
    await ada.click("camera")
    await bob.until(f"{FIGURES} === 0")
    await ada.click("camera")
    await bob.until(f"{FIGURES} > 0", 30)
    await bob.tab.resize(390, 844)
    width, clipped = await bob.tab.evaluate("""return [document.documentElement.scrollWidth,
      [...document.querySelectorAll('.explained')].some((each) => each.scrollWidth > each.clientWidth)]""")
    complaints = await bob.tab.evaluate("return window.complaints")
    holds &= report.row(f"statistics, {browser.name}: 390 wide, policy and scripts", "no scrolling, nothing cut, no complaint",
                        f"{width}, {clipped}, {complaints or 'none'}", width <= 390 and not clipped and complaints == [])
    await _picture(options, bob, f"explained-{browser.name}-390")
    if browser.name == "chromium":
        await bob.tab.resize(1280, 800, dark=True)
        await _picture(options, bob, "explained-dark")
    holds &= await _admin(report, options, server, browser, room)
    for person in (ada, bob):
        await person.leave()
    return holds


async def _admin(report, options, server, browser, room):
    admin = Person(await new_tab(browser), "admin")
    await admin.tab.resize(1280, 800)
    await admin.tab.open(f"{server.ORIGIN}/admin#token={token(options.roost, '--list', '--admin', '--room', '*')}")
    # A room before it may still wait for somebody whose tab was closed.
    row = f"[...document.querySelectorAll('#rooms button')].find((each) => each.textContent.includes({json.dumps(room)}))"
    await admin.until(f"Boolean({row})")
    await admin.tab.evaluate(f"{row}.click()")
    await admin.until("document.querySelectorAll('#people .gets').length === 2")
    closed = await admin.tab.evaluate(f"return {FIGURES}")
    await admin.tab.evaluate("document.querySelectorAll('#people .gets')[1].open = true")
    await admin.until(f"{FIGURES} > 0")
    await admin.until(DRAWN)
    title, reason, _, _, figures = await admin.tab.evaluate(FIRST)
    asked = await admin.tab.evaluate(ASKED)
    complaints = await admin.tab.evaluate("return window.complaints")
    await _picture(options, admin, f"explained-{browser.name}-admin")
    await admin.leave()
    return report.row(f"/admin, {browser.name}: what somebody gets, once it is opened",
                      "a chart, a sentence, figures; none before; asked for that one alone",
                      f"{closed} / {title} / {reason} / {', '.join(figures)} / {complaints or 'no complaint'} / {', '.join(asked)}",
                      closed == 0 and len(asked) == 1 and bool(asked[0]) and reason.endswith(".") and figures[2] != "–" and complaints == [])


async def _picture(options, person, name):
    """For people to look at, where the folder for evidence is asked for by `ROOST_PICTURES`."""
    if os.environ.get("ROOST_PICTURES"):
        os.makedirs(options.evidence, exist_ok=True)
        await person.tab.screenshot(os.path.join(options.evidence, f"{name}.png"))


async def meet(report, options, server, chromium, firefox):
    holds = await _call(report, options, server, chromium, firefox)
    return await _call(report, options, server, firefox, chromium) and holds
