"""How one looks at a call: layouts, pins, pages, one's own picture and screen, the whole screen, a window of its own; by pointer and by keyboard."""

import asyncio
import json

from harness.guests import guests
from harness.person import Person

# Where tiles belong, by name: what moves is on its way there.
SIZES = """Object.fromEntries([...document.querySelectorAll('.tile')].filter((tile) => !tile.hidden).map((tile) =>
  [tile.querySelector('.tile-name').textContent, Math.round(parseFloat(tile.style.width) * parseFloat(tile.style.height))]))"""
SETTLE = "document.getAnimations().forEach((each) => each.finish());"
CENTRE = "(({ x, y, width, height }) => [x + width / 2, y + height / 2])((%s).getBoundingClientRect())"
SAID = "document.getElementById('announcement').textContent"
SHOWN = "[...document.querySelectorAll('.tile:not([hidden]) .tile-name')].map((each) => each.textContent)"
ITEM = "[...document.querySelectorAll('#view-menu [role^=menuitem]')].find((item) => item.innerText.trim() === %s)"
CHECKED = f"({ITEM})?.ariaChecked"
PAGES = "!document.querySelector('.pager').hidden && document.querySelector('.pager span').textContent"
# Who looks needs no camera.
UNSEEN = "localStorage.setItem('roost', JSON.stringify({ wantsCamera: false, ...JSON.parse(localStorage.getItem('roost')) }));"
# Without a screen of its own a browser has none to fill: what is asked of it counts.
WHOLE = """
window.filled = [];
let whole = null;
Object.defineProperty(Document.prototype, "fullscreenEnabled", { get: () => true, configurable: true });
Object.defineProperty(Document.prototype, "fullscreenElement", { get: () => whole, configurable: true });
const change = (element) => { whole = element; document.dispatchEvent(new Event("fullscreenchange")); };
Element.prototype.requestFullscreen = async function () { window.filled.push(this.localName); change(this); };
Document.prototype.exitFullscreen = async () => { window.filled.push("none"); change(null); };
"""
# In place of a window above all others, a frame; and in place of the browser's own for a picture, what it would be asked.
OUTSIDE = """
Object.defineProperty(window, "documentPictureInPicture", { configurable: true, value: { requestWindow: async ({ width, height }) => {
  const frame = Object.assign(document.createElement("iframe"), { width, height });
  const loaded = new Promise((done) => (frame.onload = done));
  document.body.append(frame);
  await loaded;
  const other = window.outside = frame.contentWindow;
  other.close = () => { window.outside = null; other.dispatchEvent(new Event("pagehide")); frame.remove(); };
  return other;
} } });
"""
PICTURE = """
delete window.documentPictureInPicture;
delete Window.prototype.documentPictureInPicture;
Object.defineProperty(Document.prototype, "pictureInPictureEnabled", { get: () => true, configurable: true });
HTMLVideoElement.prototype.requestPictureInPicture = async function () {
  window.floating = this;
  return Object.assign(new EventTarget(), { width: 320, height: 180 });
};
Document.prototype.exitPictureInPicture = async () => {
  window.floating.dispatchEvent(new Event("leavepictureinpicture"));
  window.floating = null;
};
"""
NEITHER = """
delete window.documentPictureInPicture;
delete Window.prototype.documentPictureInPicture;
Object.defineProperty(Document.prototype, "pictureInPictureEnabled", { get: () => undefined, configurable: true });
"""


def focused_tile(name):
    return f"document.activeElement.matches('.tile') && document.activeElement.querySelector('.tile-name').textContent === {json.dumps(name)}"


async def _centre(person, element):
    return await person.tab.evaluate(f"{SETTLE} return {CENTRE % element}")


async def _pick(person, words):
    """By pointer: the menu is opened, and what is called so pressed."""
    await person.tab.point_click(*await _centre(person, "document.getElementById('view')"))
    await person.until(f"!!{ITEM % json.dumps(words)}")
    await person.tab.point_click(*await _centre(person, ITEM % json.dumps(words)))
    await person.until("document.getElementById('view-menu').hidden")


async def _pick_by_keys(person, words):
    await person.tab_to("view")
    await person.tab.press("Enter")
    await person.until("!document.getElementById('view-menu').hidden")
    for _ in range(12):
        if await person.tab.evaluate(f"return document.activeElement.innerText.trim() === {json.dumps(words)}"):
            break
        await person.tab.press("ArrowDown")
    await person.tab.press("Enter")
    await person.until("document.getElementById('view-menu').hidden && document.activeElement.id === 'view'")


async def _sizes(person, holds):
    """Waits until the sizes of the tiles are as `holds` says in JavaScript of `sizes`, by name. Answers with it."""
    return await person.until(f"((sizes) => ({holds}) && sizes)({SIZES})")


def _one_large(name):
    return (f"Object.entries(sizes).every(([name, size]) => name === {json.dumps(name)} || 5 * size < sizes[{json.dumps(name)}]) "
            "&& Object.keys(sizes).length > 2")


ALIKE = "Math.max(...Object.values(sizes)) < 1.05 * Math.min(...Object.values(sizes)) && Object.keys(sizes).length > 2"
# The large one is beside the others, or above them.
BESIDE = """(([large, ...rest]) => rest.every(({ left }) => left >= large.right))([...document.querySelectorAll('.tile:not([hidden])')]
  .sort((a, b) => b.clientWidth - a.clientWidth).map((each) => each.getBoundingClientRect()))"""
ABOVE = BESIDE.replace("left }) => left", "top }) => top").replace("large.right", "large.bottom")


async def _again(person, server, room):
    """Loads the page again and is in the call again."""
    await person.tab.open(f"{server.ORIGIN}/?room={room}&name=Ada")
    await person.enter()


async def _layouts(report, server, browser, room, person):
    """Three layouts, by key, by pointer and by the menu's keys; the last one is there the next time."""
    await _sizes(person, f"{ALIKE} && 'Dan' in sizes")
    said = []
    await person.tab.evaluate("document.getElementById('call').focus()")
    for holds, shape in ((_one_large("Bob"), ABOVE), (_one_large("Bob"), BESIDE), (ALIKE, "true")):
        await person.tab.press("l")
        await _sizes(person, holds)
        said.append(await person.until(f"{SETTLE.rstrip(';')}, {shape} && {SAID}"))
    holds = report.row(f"page, {browser.name}: layouts by key", "one large above the others, one beside them, all alike, each announced",
                       ", ".join(said), said == ["Layout: Speaker", "Layout: Sidebar", "Layout: Grid"])
    await _pick(person, "Sidebar")
    await _sizes(person, _one_large("Bob"))
    await _pick_by_keys(person, "Speaker")
    await person.until(f"{SETTLE.rstrip(';')}, {ABOVE}")
    await person.click("view")
    checked = [await person.tab.evaluate(f"return {CHECKED % json.dumps(words)}") for words in ("Grid", "Speaker", "Sidebar")]
    await person.tab.press("Escape")
    await _again(person, server, room)
    await _sizes(person, _one_large("Bob"))
    await _pick(person, "Grid")
    await _sizes(person, ALIKE)
    return holds & report.row(f"page, {browser.name}: layouts by pointer and by the menu's keys", "chosen, marked, and there after a reload",
                              checked, checked == ["false", "true", "false"])


async def _pins(report, server, browser, room, person):
    async with guests(server, room, ["Eve"], first=4):
        await _sizes(person, f"{ALIKE} && 'Eve' in sizes")
        large = "Object.keys(sizes).filter((name) => sizes[name] > 3 * Math.min(...Object.values(sizes))).sort().join() === '%s'"
        await person.tab.double_click(*await _centre(person, person.tile("Cid")))
        await _sizes(person, large % "Cid")
        said = [await person.until(f"{SAID}.includes('pinned') && {SAID}")]
        await person.tab.double_click(*await _centre(person, person.tile("Eve")))
        await _sizes(person, large % "Cid,Eve")
        # By its button, which stays in sight meanwhile.
        await person.tab.point_click(*await _centre(person, f"{person.tile('Cid')}.querySelector('.pin')"))
        await _sizes(person, large % "Eve")
        await person.tab.double_click(*await _centre(person, person.tile("Eve")))
        await _sizes(person, ALIKE)
        holds = report.row(f"page, {browser.name}: pinned by double click, two at once, unpinned by button and by double click",
                           "large for as long as they are", said[0], said[0] == "Cid is pinned")
        await person.tab.evaluate("document.getElementById('call').focus()")
        await person.tab_to(lambda: focused_tile("Dan"))
        await person.tab.press("Enter")
        await _sizes(person, large % "Dan")
        label = await person.tab.evaluate("return document.activeElement.ariaLabel")
        await person.tab_to(lambda: f"document.activeElement === {person.tile('Dan')}.querySelector('.pin')")
        button = await person.tab.evaluate("return [document.activeElement.ariaLabel, document.activeElement.ariaPressed].join()")
        await person.tab.press("Enter")
        await _sizes(person, ALIKE)
        said.append(await person.until(f"{SAID}.includes('no longer') && {SAID}"))
    return holds & report.row(f"page, {browser.name}: pinned by Enter on the tile, unpinned by Tab and Enter", "said by name",
                              f"{label} / {button} / {said[1]}",
                              label.startswith("Dan, pinned") and button == "Pin Dan,true" and said[1] == "Dan is no longer pinned")


# What the server says of somebody's camera: why it comes as it does, and which width was asked for. It may be asked once a second.
EXPLAINED = """
const who = [...roostPage.room.participants.values()].find((each) => each.name === %s);
const found = await roostPage.room.explain().catch(() => null);
const one = found?.subscriptions.find(({ track }) => who.tracks.some(({ id, source }) => id === track && source === "camera"));
return one ? [one.reason, one.wanted?.maxWidth ?? null] : null;
"""


async def _explained(person, name, holds):
    """Waits until that is as `holds` says in JavaScript of `reason` and `width`. Answers with both."""
    asked = f"await (async () => {{ {EXPLAINED % json.dumps(name)} }})()"
    return await person.until(f"((one) => {{ const [reason, width] = one ?? []; return ({holds}) && one; }})({asked})", 25)


async def _pages(report, server, browser, ada):
    """More people than can be made out: pages by key and by pointer, and nothing is asked for those of another page."""
    await ada.tab.resize(900, 520)
    await ada.until("document.querySelectorAll('.tile').length === 36")
    await ada.until(f"{PAGES} === 'Page 1 of 2'")
    first = await ada.tab.evaluate(f"return {SHOWN}")
    await ada.tab.evaluate("document.getElementById('call').focus()")
    await ada.tab.press("PageDown")
    await ada.until(f"{PAGES} === 'Page 2 of 2'")
    await ada.sees("Bob", "tile.hidden")
    second = await ada.tab.evaluate(f"return {SHOWN}")
    reason, _ = await _explained(ada, "Bob", "reason === 'off'")
    await ada.tab.press("PageDown")  # there is no third one
    said = await ada.tab.evaluate(f"return [{PAGES}, {SAID}].join(' / ')")
    await ada.tab.point_click(*await _centre(ada, "document.querySelector('.pager .before')"))
    await ada.until(f"{PAGES} === 'Page 1 of 2'")
    await ada.sees_picture("Bob")
    size = f"Math.ceil({ada.tile('Bob')}.clientWidth / 64) * 64"
    _, width = await _explained(ada, "Bob", f"width === {size}")
    holds = report.row(f"page, {browser.name}: 36 people, by Page down", "each on one page; a picture is asked for on its own page alone",
                       f"{len(first)} and {len(second)}, Bob: {reason}, then {width} wide; “{said}”",
                       len(first) + len(second) == 36 and not set(first) & set(second) and said == "Page 2 of 2 / Page 2 of 2")
    end = await ada.tab.evaluate("return document.querySelector('.pager .before').ariaDisabled")
    await ada.tab.evaluate("document.querySelector('.pager .before').focus()")
    await ada.tab_to(lambda: "document.activeElement.matches('.pager .after')")
    await ada.tab.press("Enter")
    await ada.sees("Bob", "tile.hidden")
    kept = await ada.tab.evaluate("return document.activeElement.matches('.pager .after')")
    holds &= report.row(f"page, {browser.name}: pages by their buttons", "by pointer and by keyboard, the focus stays",
                        f"first page: {end}, focus kept: {kept}", end == "true" and kept)
    # As at 200 % zoom, and on a phone.
    cut = []
    for width, height in ((640, 400), (390, 844), (844, 390)):
        await ada.tab.resize(width, height)
        await ada.until(f"{PAGES}")
        await ada.click("view")
        cut += await ada.tab.evaluate(f"{SETTLE} await new Promise((done) => setTimeout(done, 400)); {SETTLE} return {CUT}")
        await ada.tab.press("Escape")
    return holds & report.row(f"page, {browser.name}: pages and the menu at 640 × 400, 390 × 844 and 844 × 390", "all inside", cut or "so",
                              not cut)


# What is outside of the window, of tiles and of what is laid over them.
CUT = """[...document.querySelectorAll('.tile:not([hidden]), .pager, .pager button, #view-menu, #view')]
  .filter((each) => each.getClientRects().length).map((each) => [each.id || each.className, each.getBoundingClientRect()])
  .filter(([, box]) => box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight).map(([name]) => name)"""
WHERE = """((tile, stage) => [tile.left + tile.right > stage.left + stage.right ? 'right' : 'left',
  tile.top + tile.bottom > stage.top + stage.bottom ? 'bottom' : 'top'].join())
  (document.querySelector('.tile.floating').getBoundingClientRect(), document.getElementById('stage').getBoundingClientRect())"""


async def _own(report, server, browser, room, person):
    """One's own picture in a call of two: moved by pointer and by arrow keys, kept, hidden and shown."""
    await person.sees("Ada (you)", "tile.classList.contains('floating')")
    places = [await person.tab.evaluate(f"{SETTLE} return {WHERE}")]
    stage = "document.getElementById('stage')"
    x, y = await _centre(person, stage)
    await person.tab.drag(await _centre(person, person.tile("Ada (you)")), (x * 0.4, y * 0.4))
    await person.until(f"{SAID} === 'Your picture is at the top left'")
    places.append(await person.tab.evaluate(f"{SETTLE} return {WHERE}"))
    await person.tab.evaluate("document.getElementById('call').focus()")
    await person.tab_to(lambda: focused_tile("Ada (you)"))
    for key, words in (("ArrowRight", "top right"), ("ArrowDown", "bottom right"), ("ArrowLeft", "bottom left")):
        await person.tab.press(key)
        await person.until(f"{SAID} === 'Your picture is at the {words}'")
    places.append(await person.tab.evaluate(f"{SETTLE} return {WHERE}"))
    await _again(person, server, room)
    await person.sees("Ada (you)", "tile.classList.contains('floating')")
    places.append(await person.tab.evaluate(f"{SETTLE} return {WHERE}"))
    holds = report.row(f"page, {browser.name}: one's own picture in a call of two", "moved by pointer and by arrow keys, kept over a reload",
                       " / ".join(places), places == ["right,bottom", "left,top", "left,bottom", "left,bottom"])
    await _pick(person, "Hide my picture")
    await person.sees("Ada (you)", "tile.hidden")
    said = await person.until(f"{SAID}.includes('hidden') && {SAID}")
    await person.click("view")
    checked = await person.tab.evaluate(f"return {CHECKED % json.dumps('Hide my picture')}")
    await person.tab.press("Escape")
    sent = await person.tab.evaluate("return roostPage.room.publications.some(({ source }) => source === 'camera')")
    await _pick_by_keys(person, "Hide my picture")
    await person.sees("Ada (you)", "!tile.hidden")
    return holds & report.row(f"page, {browser.name}: one's own picture hidden by pointer, shown by keyboard",
                              "said that others still see it, and sent", f"{said} {checked}, sent: {sent}",
                              "Others still see you" in said and checked == "true" and sent)


async def _screen(report, browser, person):
    """One's own screen: a card by which it is stopped, and no picture of itself."""
    stop = f"{person.tile('Your screen')}.querySelector('.stop-sharing')"
    gone = []
    for way in ("pointer", "keyboard"):
        await person.tab.evaluate("document.getElementById('call').focus()")
        if way == "pointer":
            await person.point("document.getElementById('screen')")
        else:
            await person.tab.press("s")
        await person.sees("Your screen")
        plays = await person.tab.evaluate(f"return {person.tile('Your screen')}.querySelector('video').srcObject !== null")
        text = await person.tab.evaluate(f"return {person.tile('Your screen')}.querySelector('.sharing').innerText")
        await person.until("roostPage.room.publications.some(({ source, id }) => source === 'screen_share' && id)")
        if way == "pointer":
            await person.click_on(stop)
        else:
            # From the stage's beginning: behind the last control Firefox goes on among its own, and the page is without the focus.
            await person.tab.evaluate("document.getElementById('call').focus()")
            await person.tab_to(lambda: f"document.activeElement === {stop}")
            await person.tab.press("Enter")
        await person.sees_no("Your screen")
        gone.append(await person.until("!roostPage.room.publications.some(({ source }) => source === 'screen_share') "
                                       "&& [document.getElementById('screen').ariaPressed, document.activeElement.id].join()"))
    return report.row(f"page, {browser.name}: one's own screen, shared and stopped by pointer and by keyboard",
                      "a card without a picture; the focus goes on", f"“{text}” {gone}",
                      not plays and "You're sharing your screen" in text and "Stop sharing" in text and gone == ["false,screen", "false,screen"])


async def _whole(report, browser, person):
    await person.tab.evaluate("document.getElementById('call').focus()")
    await person.tab.press("f")
    await person.until("window.filled.length === 1")
    await _pick(person, "Full screen")
    await person.until("window.filled.length === 2")
    await _pick_by_keys(person, "Full screen")
    await person.until("window.filled.length === 3")
    await person.click("leave")
    filled = await person.until("window.filled.length === 4 && window.filled")
    return report.row(f"page, {browser.name}: full screen by key, by pointer, by the menu's keys, and at the end of the call",
                      "all of the page, so that what is said is seen", " ".join(filled), filled == ["html", "none", "html", "none"])


async def _outside(report, browser, ada):
    """A window above all others: who matters most, with controls, also while the page itself isn't seen."""
    await ada.tab.evaluate(OUTSIDE)
    await _pick_by_keys(ada, "Picture in picture")
    await ada.until("window.outside?.document.querySelector('video')?.videoWidth > 0")
    name = await ada.until("window.outside.document.querySelector('.outside-name').textContent")
    await ada.tab.evaluate("window.outside.document.querySelector('.outside-controls button').click()")
    muted = await ada.until("((twin) => twin.ariaPressed === 'false' && [twin.ariaLabel, document.getElementById('microphone').ariaPressed].join())"
                            "(window.outside.document.querySelector('.outside-controls button'))")
    await ada.tab.evaluate("""Object.defineProperty(document, "hidden", { value: true, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));""")
    await _explained(ada, "Bob", "width === 384")
    await ada.tab.evaluate("""delete document.hidden; document.dispatchEvent(new Event("visibilitychange"));""")
    await _pick(ada, "Picture in picture")
    await ada.until("window.outside === null")
    left = await ada.tab.evaluate("return document.querySelectorAll('iframe').length")
    complaints = await ada.tab.evaluate("return window.complaints")
    holds = report.row(f"page, {browser.name}: picture in picture by the menu, mute there, the page in the background",
                       "the other, its name, controls that follow; asked for in that size", f"{name}, {muted}, complaints: {complaints or 'none'}",
                       name == "Bob" and muted == "Microphone,false" and left == 0 and complaints == [])
    # Where there is a window for a picture alone; and where there is neither.
    await ada.tab.evaluate(PICTURE)
    await _pick(ada, "Picture in picture")
    plays = await ada.until(f"window.floating && window.floating.srcObject === {ada.tile('Bob')}.querySelector('video').srcObject "
                            "&& window.floating.muted")
    await _pick_by_keys(ada, "Picture in picture")
    await ada.until("window.floating === null")
    await ada.tab.evaluate(NEITHER)
    await ada.click("view")
    offered = await ada.tab.evaluate(f"return Boolean({ITEM % json.dumps('Picture in picture')})")
    await ada.tab.press("Escape")
    return holds & report.row(f"page, {browser.name}: picture in picture by the video's own, and where there is none",
                              "without its sound; not offered", f"{plays}, {offered}", plays and not offered)


async def _alone(report, server, browser):
    """What needs no other browser: one call in which more and more people come."""
    room = f"layout-{browser.name}"
    person = await Person.join(browser, server, room, "Ada", WHOLE + browser.SCREEN)
    async with guests(server, room, ["Bob"], first=1):
        holds = await _own(report, server, browser, room, person)
        holds &= await _screen(report, browser, person)
        async with guests(server, room, ["Cid", "Dan"], first=2):
            holds &= await _layouts(report, server, browser, room, person)
            holds &= await _pins(report, server, browser, room, person)
            holds &= await _whole(report, browser, person)
    await person.leave()
    return holds


async def _with_another(report, server, browser, other):
    """What needs somebody who is seen and heard: who speaks, a window for them, and a crowd around."""
    room = f"crowd-{browser.name}"
    ada = await Person.join(browser, server, room, "Ada", UNSEEN)
    async with guests(server, room, ["Cid"]):
        await ada.sees("Cid")
        await ada.tab.press("l")
        bob = await Person.join(other, server, room, "Bob")
        # Who speaks is large, and not who came first.
        await _sizes(ada, _one_large("Bob"))
        holds = report.row(f"page, {browser.name}: in the layout of speakers", "who speaks is large", "so", True)
    await ada.sees_no("Cid")
    for _ in range(2):
        await ada.tab.press("l")
    await ada.sees_picture("Bob")
    holds &= await _outside(report, browser, ada)
    async with guests(server, room, [f"Person {number}" for number in range(34)]):
        holds &= await _pages(report, server, browser, ada)
        await bob.leave()
    await ada.until("document.querySelector('.pager').hidden", 30)
    await ada.leave()
    return holds


async def meet(report, options, server, chromium, firefox):
    holds = all(await asyncio.gather(*(_alone(report, server, browser) for browser in (chromium, firefox))))
    return holds & all(await asyncio.gather(_with_another(report, server, chromium, firefox), _with_another(report, server, firefox, chromium)))
