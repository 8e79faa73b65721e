"""What the page says of trouble at one's own end: bars that explain themselves, a banner that is closed, a silent microphone, a lost one, a slow
page. What is a matter of many seconds is seen on a page whose clock goes four times as fast."""

import asyncio

from harness.guests import guests
from harness.menus import item, pick_by_keys, pick_by_pointer
from harness.person import Person

CENTRE = "(({ x, y, width, height }) => [x + width / 2, y + height / 2])((%s).getBoundingClientRect())"
SETTLE = "document.getAnimations().forEach((each) => each.finish());"
BANNER = "document.getElementById('banner').dataset.kind"
SAID = "document.getElementById('banner-text').textContent"
NOTICE_TOP = "return document.getElementById('notice').getBoundingClientRect().top"
PANEL = "document.getElementById('reasons')"
# What the page was answered when it asked why it gets what it gets; and the reason for Bob's camera in words.
OVERHEARD = """
const ask = roostPage.room.explain.bind(roostPage.room);
roostPage.room.explain = async () => (window.explained = await ask());
"""
REASON = """(await (async () => {
  const { why } = await import("/why.js");
  const bob = [...roostPage.room.participants.values()].find(({ name }) => name === "Bob");
  const one = window.explained?.subscriptions.find(({ track }) => bob.tracks.some(({ id, kind }) => id === track && kind === "video"));
  return one ? why(one, window.explained.transport) : null;
})())"""
# A camera that shows grey, and microphones of which one has a voice as loud as the test says. The first is chosen unless another is asked for.
DEVICES = """
window.plugged = [["camera", "videoinput"], ["first", "audioinput"], ["second", "audioinput"]]
  .map(([deviceId, kind]) => ({ deviceId, kind, label: `The ${deviceId} one`, groupId: "" }));
window.voices = {};
window.tracks = {};
const make = {
  videoinput: () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 320, height: 180 });
    const context = canvas.getContext("2d");
    setInterval(() => { context.fillStyle = `rgb(${120 + Math.random() * 9} 120 120)`; context.fillRect(0, 0, 320, 180); }, 50);
    return canvas.captureStream(20).getTracks()[0];
  },
  audioinput: (id) => {
    const context = new AudioContext();
    const destination = context.createMediaStreamDestination();
    const oscillator = new OscillatorNode(context, { frequency: 220 });
    window.voices[id] = new GainNode(context, { gain: id === "second" ? 0.3 : window.loudness ?? 0 });
    oscillator.connect(window.voices[id]).connect(destination);
    oscillator.start();
    return window.tracks[id] = destination.stream.getTracks()[0];
  },
};
const pick = (kind, { deviceId } = {}) => {
  const there = window.plugged.filter((each) => each.kind === kind);
  const wanted = deviceId?.exact ?? deviceId?.ideal;
  const { deviceId: id } = there.find((each) => each.deviceId === wanted) ?? there[0];
  const track = make[kind](id);
  track.getSettings = () => ({ deviceId: id });
  return track;
};
navigator.mediaDevices.enumerateDevices = async () => window.plugged;
navigator.mediaDevices.getUserMedia = async ({ audio, video }) =>
  new MediaStream([...(audio ? [pick("audioinput", audio)] : []), ...(video ? [pick("videoinput", video)] : [])]);
"""
LOUD = "window.loudness = 0.3;"
FASTER = 4
# By the page's own clock and timers.
HURRY = f"""
const now = performance.now.bind(performance);
performance.now = () => {FASTER} * now();
for (const name of ["setTimeout", "setInterval"]) {{
  const set = window[name].bind(window);
  window[name] = (act, time, ...more) => set(act, (time ?? 0) / {FASTER}, ...more);
}}
window.rest = (time) => new Promise((done) => setTimeout(done, time));
"""
# Everything that the banner ever said, but that the page is slow: it is four times as slow as it seems.
HEARD = """
window.lines = [];
new MutationObserver(() => {
  const { kind } = document.getElementById("banner").dataset;
  if (kind !== "throttled") window.lines.push(kind);
}).observe(document.getElementById("banner"), { attributes: true, attributeFilter: ["data-kind"] });
"""
# One's own connection is poor, as the server says it.
POOR = """
const { me } = roostPage.room;
window.worse = setInterval(() => roostPage.room.dispatchEvent(new CustomEvent("quality", {
  detail: { participant: me.id, quality: "poor" } })), 300);
"""


async def press(person, element):
    """By pointer."""
    await person.tab.point_click(*await person.tab.evaluate(f"{SETTLE} return {CENTRE % element}"))


async def _bars(report, server, browser, other):
    """Each tile's bars say how good the connection is and why the picture is as it is, by pointer and by keyboard."""
    room = f"bars-{browser.name}"
    bob = await Person.join(other, server, room, "Bob")
    ada = await Person.join(browser, server, room, "Ada")
    await ada.sees_picture("Bob")
    bars = f"{ada.tile('Bob')}.querySelector('.quality')"
    await ada.until(f"!{bars}.hidden")
    await ada.tab.evaluate(OVERHEARD)
    await press(ada, bars)
    reason = await ada.until(f"((reason) => reason && {PANEL}.innerText.includes(reason) && reason)({REASON})")
    said = await ada.tab.evaluate(f"return {PANEL}.innerText.split(/\\n+/)")
    expanded = [await ada.tab.evaluate(f"return {bars}.ariaExpanded")]
    await press(ada, "document.getElementById('place-room')")
    await ada.until(f"{PANEL}.hidden")
    expanded.append(await ada.tab.evaluate(f"return {bars}.ariaExpanded"))
    holds = report.row(f"page, {browser.name}: the bars of another's tile, by pointer", "whose, how good, the server's reason in words",
                       " / ".join(said), said[0].startswith("Bob: ") and "onnection" in said[0] and said[-1] == reason
                       and expanded == ["true", "false"])
    await ada.tab.evaluate("document.getElementById('call').focus()")
    own = f"{ada.tile('Ada (you)')}.querySelector('.quality')"
    await ada.until(f"!{own}.hidden")
    await ada.tab_to(lambda: f"document.activeElement === {own}")
    await ada.tab.press("Enter")
    said = await ada.until(f"{PANEL}.innerText.startsWith('Ada (you): ') && {PANEL}.innerText.split(/\\n+/)")
    role = await ada.tab.evaluate(f"return {PANEL}.getAttribute('role')")
    inside = await ada.tab.evaluate(f"return (({{ left, top, right, bottom }}) => left >= 0 && top >= 0 && right <= innerWidth "
                                    f"&& bottom <= innerHeight)({PANEL}.getBoundingClientRect())")
    await ada.tab.press("Escape")
    await ada.until(f"{PANEL}.hidden && document.activeElement === {own}")
    complaints = await ada.tab.evaluate("return window.complaints")
    for person in (ada, bob):
        await person.leave()
    return holds & report.row(f"page, {browser.name}: the bars of one's own tile, by keyboard",
                              "said by a status inside of the window; Escape closes it",
                              f"{role}: {' / '.join(said)}, complaints: {complaints or 'none'}",
                              role == "status" and inside and said[0].endswith("connection") and complaints == [])


async def _closed(report, server, browser):
    """What was closed is not said again while it lasts, and what was turned off by the menu can be turned on from there."""
    ada = await Person.join(browser, server, f"closed-{browser.name}", "Ada", HURRY)
    await ada.tab.evaluate(HEARD)
    # Nothing is said in the first ten seconds, in which a connection finds its pace.
    await ada.tab.evaluate(POOR)
    await ada.until(f"{BANNER} === 'weak'", 30)
    await ada.tab.evaluate("(await import('/notices.js')).notice('Something else', { label: 'Act' })")
    places = [await ada.tab.evaluate(NOTICE_TOP)]
    await ada.tab_to("banner-close")
    await ada.tab.press("Enter")
    await ada.until(f"{BANNER} === '' && document.activeElement.id === 'call'")
    places.append(await ada.tab.evaluate(NOTICE_TOP))
    await ada.click("notice-close")
    places.append(await ada.tab.evaluate(f"(await import('/notices.js')).notice('Once more'); {NOTICE_TOP}"))
    await ada.click("notice-close")
    await ada.tab.evaluate("return rest(4000)")
    lines = await ada.tab.evaluate("clearInterval(window.worse); return window.lines.join()")
    checked = []
    for kind in ("declined", ""):
        await (pick_by_pointer if kind else pick_by_keys)(ada, "view", "view-menu", "Turn off incoming video")
        await ada.until(f"{BANNER} === '{kind}'")
        await ada.click("view")
        checked.append(await ada.tab.evaluate(f"return ({item('view-menu', 'Turn off incoming video')}).ariaChecked"))
        await ada.tab.press("Escape")
    await ada.leave()
    return report.row(f"page, {browser.name}: a banner that is closed, and incoming video by the menu",
                      "not said again; off by pointer, on by keyboard; a notice beneath it stays where it is, the next one is at the top",
                      f"{lines!r}, {checked}, {places}",
                      lines == "weak," and checked == ["true", "false"] and places[0] == places[1] > places[2])


async def _declined(report, server, browser, other):
    """What comes in is turned off and on again from the banner, by pointer and by keyboard. That the connection is weak is said as the server says
    it; over one that is, it is done by weak_link."""
    room = f"declined-{browser.name}"
    bob = await Person.join(other, server, room, "Bob")
    ada = await Person.join(browser, server, room, "Ada", HURRY)
    await ada.sees_picture("Bob")
    await ada.tab.evaluate(OVERHEARD + POOR)
    button = "document.getElementById('banner-action')"
    seen = []
    for way in ("pointer", "keyboard"):
        await ada.until(f"{BANNER} === 'weak'", 30)
        for kind in ("declined", ""):
            label = await ada.tab.evaluate(f"return {button}.textContent")
            if way == "pointer":
                await ada.point(button)
            else:
                await ada.tab.evaluate("document.getElementById('call').focus()")
                await ada.tab_to("banner-action")
                await ada.tab.press("Enter")
            await ada.until(f"{BANNER} === 'declined'" if kind else f"{BANNER} !== 'declined'")
            note = await ada.until(f"((note) => (note === 'Incoming video is off') === {str(kind != '').lower()} && [note])"
                                   f"({ada.tile('Bob')}.querySelector('.tile-note').textContent)")
            if kind:
                await ada.until(f"(await roostPage.room.explain().catch(() => null), {REASON} === 'Turned off.')", 30)
            else:
                await ada.sees_picture("Bob")
            seen.append((label, note[0]))
    for person in (ada, bob):
        await person.leave()
    off, on = ("Turn off incoming video", "Incoming video is off"), ("Turn on incoming video", "")
    return report.row(f"page, {browser.name}: incoming video off and on from the banner, by pointer and by keyboard",
                      "said on the tile and by the server; then the picture again", seen, seen == [off, on] * 2)


async def _silent(report, server, browser):
    """A microphone from which nothing comes: said after eight seconds, another chosen from there; none that works is spoken of."""
    room = f"silent-{browser.name}"
    async with guests(server, room, ["Bob"]):
        ada = await Person.join(browser, server, room, "Ada", HURRY + DEVICES)
        began = await ada.tab.evaluate("return performance.now()")
        said = await ada.until(f"{BANNER} === 'silent' && {SAID}", 20)
        after = (await ada.tab.evaluate("return performance.now()") - began) / 1000
        await ada.tab_to("banner-action")
        await ada.tab.press("Enter")
        await ada.until("document.activeElement.closest('#microphone-menu') && document.activeElement.innerText.trim() === 'The first one'")
        await ada.tab.press("ArrowDown")
        await ada.tab.press("Enter")
        await ada.until(f"{BANNER} === ''")
        sent = await ada.until("roostPage.room.publications.some(({ track }) => track === window.tracks.second)")
        holds = report.row(f"page, {browser.name}: nothing comes from the microphone", "said after 8 s, another chosen by keyboard, and over",
                           f"“{said}” after {after:.1f} s", "Nothing is heard" in said and 6 < after < 14 and sent)
        # Muted it isn't missed; unmuted it is, if it is as silent as before.
        await ada.tab.evaluate("window.voices.second.gain.value = 0;" + HEARD)
        await ada.tab.press("m")
        await ada.tab.evaluate("return rest(9500)")
        muted = await ada.tab.evaluate("return window.lines.join()")
        await ada.tab.press("m")
        await ada.until(f"{BANNER} === 'silent'", 20)
        # By pointer to the first again, which has found its voice.
        await ada.tab.evaluate("window.loudness = 0.3")
        await ada.point("document.getElementById('banner-action')")
        await ada.point(item("microphone-menu", "The first one"))
        await ada.until(f"{BANNER} === ''")
        by_pointer = await ada.until("roostPage.room.publications.some(({ track }) => track === window.tracks.first)")
        await ada.leave()
        # One that was heard may keep silent: who listens isn't asked for a word.
        eve = await Person.join(browser, server, room, "Eve", HURRY + LOUD + DEVICES)
        await eve.tab.evaluate(HEARD)
        await eve.tab.evaluate("return rest(3000)")
        await eve.tab.evaluate("window.voices.first.gain.value = 0; return rest(10500)")
        heard = await eve.tab.evaluate("return window.lines.join()")
        await eve.leave()
    return holds & report.row(f"page, {browser.name}: muted; unmuted and silent; heard before and silent",
                              "said of the second alone, and another chosen from there by pointer",
                              f"{muted!r}, silent, sent: {by_pointer}, {heard!r}", muted == "" and heard == "" and by_pointer)


async def _lost(report, server, browser):
    """A microphone that is pulled out: said, and another one chosen by keyboard alone."""
    ada = await Person.join(browser, server, f"lost-{browser.name}", "Ada", LOUD + DEVICES)
    await ada.until("roostPage.room.publications.some(({ track }) => track === window.tracks.first)")
    await ada.tab.evaluate("""
      window.plugged = window.plugged.filter(({ deviceId }) => deviceId !== "first");
      window.endTrack(window.tracks.first);
      navigator.mediaDevices.dispatchEvent(new Event("devicechange"));""")
    said = await ada.text("notice-text")
    await ada.tab.evaluate("document.getElementById('notice-action').focus()")
    await ada.tab.press("Enter")
    await ada.until("document.activeElement.closest('#microphone-menu') && document.activeElement.innerText.trim() === 'The second one'")
    await ada.tab.press("Enter")
    await ada.until("roostPage.room.publications.some(({ track }) => track === window.tracks.second)")
    await ada.leave()
    return report.row(f"page, {browser.name}: the microphone is pulled out", "said, another chosen by keyboard and sent", f"“{said}”",
                      "disconnected" in said)


async def _throttled(report, server, browser):
    """A page whose timers come late, because it isn't let do anything for six seconds."""
    ada = await Person.join(browser, server, f"slow-{browser.name}", "Ada")
    await ada.tab.evaluate("return new Promise((done) => setTimeout(done, 2500))")
    before = await ada.tab.evaluate(f"return {BANNER}")
    await ada.tab.evaluate("const end = performance.now() + 6000; while (performance.now() < end);", 30)
    said = await ada.until(f"{BANNER} === 'throttled' && {SAID}", 10)
    await ada.until(f"{BANNER} === ''", 40)
    await ada.leave()
    return report.row(f"page, {browser.name}: nothing of it runs for 6 s", "said, not before, and over a while later", f"“{said}”",
                      before == "" and "slowing this page down" in said)


async def _alone(report, server, browser):
    """What needs no other browser."""
    holds = await _closed(report, server, browser)
    holds &= await _silent(report, server, browser)
    return holds & await _lost(report, server, browser)


async def meet(report, options, server, chromium, firefox):
    holds = all(await asyncio.gather(_bars(report, server, chromium, firefox), _bars(report, server, firefox, chromium)))
    holds &= all(await asyncio.gather(_declined(report, server, chromium, firefox), _declined(report, server, firefox, chromium)))
    holds &= all(await asyncio.gather(*(_alone(report, server, browser) for browser in (chromium, firefox))))
    # Each alone: while one does nothing else it takes a processor for itself.
    for browser in (chromium, firefox):
        holds &= await _throttled(report, server, browser)
    return holds
