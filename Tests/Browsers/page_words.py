"""The page in the language of those who read it: as the browser prefers, as a link asks, as chosen by hand; and written from right to left."""

import asyncio
import json
import urllib.parse

from harness.person import IN_CALL, Person, new_tab

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
# What lies outside of the window, or reaches out of it, once all has its place in it; pictures that move there are there already.
OUTSIDE = """await (async () => {
  for (let frame = 0; frame < 2; frame++) await new Promise((done) => requestAnimationFrame(done));
  document.getAnimations().forEach((each) => each.finish());
  const looked = "button, select, input, textarea, .tile, .side, .statistics, .menu, .banner, .notice, p, h1, h2";
  return [document.documentElement, ...document.querySelectorAll(looked)]
    .filter((each) => each.checkVisibility() && each.getClientRects().length && !each.closest(".unseen, .reactions"))
    .map((each) => [each.id || each.className || each.localName, each.getBoundingClientRect()])
    .filter(([, box]) => box.left < -1 || box.right > innerWidth + 1).map(([name, box]) => `${name} ${box.left}–${box.right}`);
})()"""
# On which side something is; null where it isn't to be seen.
SIDES = """[%s].map((each) => {
  const place = document.querySelector(each);
  if (!place?.checkVisibility()) return null;
  const { left, right } = place.getBoundingClientRect();
  return (left + right) / 2 < innerWidth / 2 ? "left" : "right";
})"""
# In the lobby and in a call of two, and on which side these are where one reads from right to left.
LOBBY = {"#room": "left", ".preview": "right"}
CALL = {"#side": "left", "#people-toggle": "left", "#place-room": "right", ".tile.floating": "left"}
READY = "document.getElementById('join-button').textContent && document.getElementById('room').value"


async def _arrive(browser, server, languages, room="words", **query):
    tab = await new_tab(browser, PREFERS.format(languages=json.dumps(languages)))
    await tab.resize(1280, 800)
    await tab.open(f"{server.ORIGIN}/?{urllib.parse.urlencode({'room': room, 'name': 'Ada', 'publish': 0, **query})}")
    person = Person(tab, "Ada")
    await person.until(READY)
    return person


async def _sides(person, wanted):
    """On which side each of them is."""
    sides = await person.tab.evaluate(f"return {SIDES % ', '.join(json.dumps(each) for each in wanted)}")
    return dict(zip(wanted, sides))


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
    await ada.tab.open(f"{server.ORIGIN}/?room=words&name=Ada&publish=0&lang=de")
    await ada.until(READY)
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
    """Two in a call, each in a language of their own, and all parts of the call have it: one reads German, the other one from right to left."""
    room = f"words-{browser.name}"
    ada = await _arrive(browser, server, ["de"], room)
    await ada.click("join-button")
    await ada.until(IN_CALL)
    dana = await _arrive(other, server, ["en"], room, name="דנה", lang="x-rtl")
    mirrored = [await _sides(dana, LOBBY)]
    outside = await dana.tab.evaluate(f"return {OUTSIDE}")
    await dana.click("join-button")
    await dana.until(IN_CALL)
    said = await ada.until(f"{SAID}.includes('beigetreten') && {SAID}")
    count = await ada.until("((words) => words.startsWith('2') && words)(document.getElementById('place-people').textContent)")
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
    fetched, complaints = await ada.tab.evaluate(f"return [{FETCHED}, window.complaints]")
    holds = report.row(f"page, {browser.name}: a call in German with someone of another script", "all parts German, the name by itself",
                       f"“{said}” {count}, {fetched}, unsaid: {unsaid or 'nothing'}, {complaints or 'no complaint'}",
                       "\u2068דנה\u2069 ist beigetreten" in said and count == "2 Personen" and unsaid == [] and complaints == []
                       and fetched == ["/words-call-de.js", "/words-de.js"])
    holds &= await _mirrored(report, other, dana, mirrored, outside)
    for person in (ada, dana):
        await person.leave()
    return holds


async def _mirrored(report, browser, dana, mirrored, outside):
    """Written from right to left everything is on the other side, inside, and works by pointer and by keyboard."""
    lang, direction = await dana.tab.evaluate("return [document.documentElement.lang, document.documentElement.dir]")
    await dana.click("chat-toggle")
    await dana.until("document.getElementById('chat-text')?.checkVisibility()")
    await dana.tab.evaluate("document.getAnimations().forEach((each) => each.finish())")
    mirrored.append(await _sides(dana, CALL))
    await dana.tab.evaluate("document.getElementById('side-chat-tab').focus()")
    await dana.tab.press("ArrowRight")  # The first tab is to the right.
    tab = await dana.until("document.activeElement.id === 'side-people-tab' && document.activeElement.getAttribute('aria-selected')")
    await dana.click("chat-toggle")
    await dana.click("microphone-more")
    outside += await dana.tab.evaluate(f"return {OUTSIDE}")
    await dana.tab.press("Escape")
    await dana.click("statistics-toggle")
    await dana.until("!document.getElementById('statistics').hidden")
    outside += await dana.tab.evaluate(f"return {OUTSIDE}")
    await dana.click("statistics-toggle")
    await dana.tab.resize(390, 844)
    await dana.click("chat-toggle")
    await dana.until("document.getElementById('chat-text')?.checkVisibility()")
    outside += await dana.tab.evaluate(f"return {OUTSIDE}")
    complaints = await dana.tab.evaluate("return window.complaints")
    return report.row(f"page, {browser.name}: written from right to left", "on the other side, nothing outside, keys follow",
                      f"{lang} {direction}, {mirrored}, {tab}, outside: {outside or 'nothing'}, {complaints or 'no complaint'}",
                      direction == "rtl" and mirrored == [LOBBY, CALL] and tab == "true" and outside == [] and complaints == [])


async def meet(report, options, server, chromium, firefox):
    holds = all(await asyncio.gather(*(_chosen(report, server, browser) for browser in (chromium, firefox))))
    return holds & all(await asyncio.gather(_in_call(report, server, chromium, firefox), _in_call(report, server, firefox, chromium)))
