"""The page in the language of those who read it: as the browser prefers, as a link asks, as chosen by hand; and written from right to left."""

import contextlib
import json
import urllib.parse

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.person import IN_CALL, TABS, Person, new_tab
from harness.server import Server

# What a browser says that its user reads.
PREFERS = "Object.defineProperty(navigator, 'languages', {{ value: {languages}, configurable: true }});"
# Whatever the page has fetched that holds words.
FETCHED = """performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname).filter((path) => path.startsWith("/words-")).sort()"""
SHOWN = """[document.documentElement.lang, document.documentElement.dir, document.getElementById("join-button").textContent,
  document.querySelector("label[for=name]").textContent, document.getElementById("preview-camera").getAttribute("aria-label"),
  document.getElementById("language").value]"""
SAID = "document.getElementById('status').textContent"
# Texts that are still their keys, and English that stands in another language.
UNSAID = r"""[...document.querySelectorAll("body *:not(script, style, option)")].filter((each) => each.checkVisibility()).flatMap((each) =>
  [...[...each.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data), each.getAttribute("aria-label"), each.title,
    each.getAttribute("placeholder")]).filter((text) => /^[a-z]+\.[a-z]+[\w.-]*$/.test(text ?? "")
  || /\b(the|your|you|and|off|with|people|leave|open|send)\b/i.test(text ?? ""))"""
# What lies outside of the window, or reaches out of it; pictures that move to their place are there already.
OUTSIDE = """(() => {
  document.getAnimations().forEach((each) => each.finish());
  const looked = "button, select, input, textarea, .tile, .side, .statistics, .menu, .banner, .notice, p, h1, h2";
  return [document.documentElement, ...document.querySelectorAll(looked)]
    .filter((each) => each.checkVisibility() && each.getClientRects().length && !each.closest(".unseen, .reactions"))
    .map((each) => [each.id || each.className || each.localName, each.getBoundingClientRect()])
    .filter(([, box]) => box.left < -1 || box.right > innerWidth + 1).map(([name, box]) => `${name} ${box.left}–${box.right}`);
})()"""
# Where things are, from the side where one begins to read.
SIDES = """((box, wide) => ["#room", "#side", "#people-toggle", "#place-room"].map((each) => {
  const place = document.querySelector(each);
  if (!place?.checkVisibility()) return null;
  const { left, right } = place.getBoundingClientRect();
  return (left + right) / 2 < innerWidth / 2 ? "left" : "right";
}))()"""


async def _arrive(browser, server, languages, room="words", **query):
    tab = await new_tab(browser, PREFERS.format(languages=json.dumps(languages)))
    await tab.resize(1280, 800)
    await tab.open(f"{server.ORIGIN}/?{urllib.parse.urlencode({'room': room, 'name': 'Ada', **query})}")
    person = Person(tab, "Ada")
    await person.until("document.getElementById('preview').videoWidth > 0")
    return person


async def _chosen(report, server, browser):
    """By browser, by link, by hand by keyboard alone; the hand's choice is kept."""
    ada = await _arrive(browser, server, ["de-AT", "en"])
    german, fetched = await ada.tab.evaluate(f"return [{SHOWN}, {FETCHED}]")
    holds = report.row(f"page, {browser.name}: a browser that prefers German", "German, and no other language fetched", f"{german}, {fetched}",
                       german == ["de", "ltr", "Beitreten", "Ihr Name", "Kamera", "de"] and fetched == ["/words-de.js"])
    unsaid = await ada.tab.evaluate(f"return {UNSAID}")
    # By keyboard alone: on the list of languages its last one is chosen.
    await ada.tab_to("language")
    await ada.tab.press("ArrowDown")
    await ada.until("document.documentElement.lang === 'zh-Hans'")
    chinese = await ada.tab.evaluate(f"return {SHOWN}")
    unsaid += await ada.tab.evaluate(f"return {UNSAID}")
    await ada.tab.open(f"{server.ORIGIN}/?room=words&name=Ada&lang=de")
    await ada.until("document.getElementById('join-button').textContent")
    again = await ada.tab.evaluate(f"return {SHOWN}")
    await ada.leave()
    holds &= report.row(f"page, {browser.name}: another language is chosen by hand", "at once, and the next time too",
                        f"{chinese}, {again}, unsaid: {unsaid or 'nothing'}",
                        chinese == ["zh-Hans", "ltr", "加入", "你的名字", "摄像头", "zh"] and again[:2] == chinese[:2] and unsaid == [])
    eve = await _arrive(browser, server, ["fr"], lang="zh")
    by_link = await eve.tab.evaluate(f"return {SHOWN}")
    await eve.leave()
    pat = await _arrive(browser, server, ["fr", "xx"])
    neither = await pat.tab.evaluate(f"return {SHOWN}")
    await pat.leave()
    return holds & report.row(f"page, {browser.name}: a link that asks for a language; a browser that knows none of ours", "that one; English",
                              f"{by_link[0]}, {neither[0]}", by_link[0] == "zh-Hans" and neither[0] == "en")


async def _in_call(report, server, browser, other):
    """In a call, each reads their own language, and all parts of the call have it."""
    room = f"words-{browser.name}"
    ada = await _arrive(browser, server, ["de"], room)
    await ada.click("join-button")
    await ada.until(IN_CALL)
    ben = await Person.join(other, server, room, "דנה")
    said = await ada.until(f"{SAID}.includes('beigetreten') && {SAID}")
    await ada.until("document.getElementById('place-people').textContent.startsWith('2')")
    unsaid = []
    for button in ("statistics-toggle", "people-toggle", "chat-toggle"):
        await ada.click(button)
        panel = "statistics" if button == "statistics-toggle" else "side"
        await ada.until(f"!document.getElementById('{panel}').hidden && document.getElementById('{panel}').textContent.length > 5")
        unsaid += await ada.tab.evaluate(f"return {UNSAID}")
    await ada.tab.evaluate("document.activeElement.blur()")
    await ada.tab.press("?")
    await ada.until("document.getElementById('help').open")
    unsaid += await ada.tab.evaluate(f"return {UNSAID}")
    await ada.tab.press("Escape")
    count = await ada.tab.evaluate("return document.getElementById('place-people').textContent")
    fetched = await ada.tab.evaluate(f"return {FETCHED}")
    complaints = await ada.tab.evaluate("return window.complaints")
    for person in (ada, ben):
        await person.leave()
    return report.row(f"page, {browser.name}: a call in German with someone of another script", "all parts German, the name by itself",
                      f"“{said}” {count}, {fetched}, unsaid: {unsaid or 'nothing'}, {complaints or 'no complaint'}",
                      "\u2068דנה\u2069 ist beigetreten" in said and count == "2 Personen" and unsaid == [] and complaints == []
                      and fetched == ["/words-call-de.js", "/words-de.js"])


async def _mirrored(report, server, browser, other):
    """Written from right to left everything is on the other side, inside, and works by pointer and by keyboard."""
    room = f"mirrored-{browser.name}"
    plain = await _arrive(browser, server, ["en"], room)
    ada = await _arrive(browser, server, ["en"], room, lang="x-rtl")
    outside = await ada.tab.evaluate(f"return {OUTSIDE}")
    sides = [await each.tab.evaluate(f"return {SIDES}") for each in (plain, ada)]
    lang, direction = await ada.tab.evaluate("return [document.documentElement.lang, document.documentElement.dir]")
    for each in (plain, ada):
        await each.click("join-button")
        await each.until(IN_CALL)
    for each in (plain, ada):
        await each.click("chat-toggle")
        await each.until("document.getElementById('chat-text')?.checkVisibility()")
        sides.append(await each.tab.evaluate(f"return {SIDES}"))
    await ada.tab.evaluate("document.getElementById('side-chat-tab').focus()")
    await ada.tab.press("ArrowRight")  # The first tab is to the right.
    tab = await ada.until("document.activeElement.id === 'side-people-tab' && document.activeElement.getAttribute('aria-selected')")
    await ada.click("chat-toggle")
    await ada.click("microphone-more")
    outside += await ada.tab.evaluate(f"return {OUTSIDE}")
    await ada.tab.press("Escape")
    await ada.click("statistics-toggle")
    await ada.until("!document.getElementById('statistics').hidden")
    outside += await ada.tab.evaluate(f"return {OUTSIDE}")
    await ada.click("statistics-toggle")
    await ada.tab.resize(390, 844)
    await ada.click("chat-toggle")
    await ada.until("document.getElementById('chat-text')?.checkVisibility()")
    outside += await ada.tab.evaluate(f"return {OUTSIDE}")
    complaints = await ada.tab.evaluate("return window.complaints")
    for each in (plain, ada):
        await each.leave()
    other_side = {"left": "right", "right": "left", None: None}
    mirrored = sides[1] == [other_side[side] for side in sides[0]] and sides[3] == [other_side[side] for side in sides[2]]
    return report.row(f"page, {browser.name}: written from right to left", "on the other side, nothing outside, keys follow",
                      f"{lang} {direction}, {sides}, {tab}, outside: {outside or 'nothing'}, {complaints or 'no complaint'}",
                      direction == "rtl" and mirrored and any(sides[0]) and any(sides[2]) and tab == "true" and outside == [] and complaints == [])


async def run(report, options):
    async with contextlib.AsyncExitStack() as stack:
        server, chromium, firefox = [await stack.enter_async_context(each)
                                     for each in (Server(options.roost), Chromium(), Firefox())]
        await stack.enter_async_context(kept_on_failure(report, options.evidence, TABS, (server.process,)))
        holds = True
        for browser, other in ((chromium, firefox), (firefox, chromium)):
            holds &= await _chosen(report, server, browser)
            holds &= await _in_call(report, server, browser, other)
            holds &= await _mirrored(report, server, browser, other)
        server.process.require_running()
        return holds
