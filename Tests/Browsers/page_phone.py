"""A call on a phone: the screen stays on, the camera turns, the system's own controls work, sound goes where one wants it, no word is cut off
in either orientation or covered by what is said in passing, and the data saver brings sound and the picture of who speaks alone."""

import asyncio
import json

from harness.guests import guests
from harness.person import IN_CALL, Person
from page_talk import VOICE

# A phone's devices, and what the page asks of it.
PHONE = """
window.locks = [];
Object.defineProperty(navigator, "wakeLock", { value: { request: async (type) => {
  const lock = new EventTarget();
  lock.release = async () => { lock.isReleased = true; lock.dispatchEvent(new Event("release")); };
  window.locks.push(lock);
  return lock;
} } });
window.actions = {};
window.session = { setActionHandler: (action, act) => { window.actions[action] = act; },
  setMicrophoneActive: async (isOn) => { window.session.microphone = isOn; throw new Error("not now"); }, setCameraActive: (isOn) => { window.session.camera = isOn; } };
Object.defineProperty(navigator, "mediaSession", { value: window.session });
window.plugged = [["front", "videoinput"], ["back", "videoinput"], ["mouth", "audioinput"], ["ear", "audiooutput"], ["loud", "audiooutput"]]
  .map(([deviceId, kind]) => ({ deviceId, kind, label: `The ${deviceId} one`, groupId: "" }));
navigator.mediaDevices.enumerateDevices = async () => window.plugged;
window.opened = [];
const colours = { front: "red", back: "blue" };
navigator.mediaDevices.getUserMedia = async ({ audio, video }) => {
  const tracks = [];
  if (video) {
    const id = video.facingMode?.exact === "environment" ? "back" : "front";
    if (id === window.broken) throw new DOMException("in use", "NotReadableError");
    window.opened.push(id);
    const canvas = Object.assign(document.createElement("canvas"), { width: 320, height: 180 });
    const context = canvas.getContext("2d");
    setInterval(() => { context.fillStyle = colours[id]; context.fillRect(0, 0, 320, 180); context.clearRect(Math.random() * 300, 0, 3, 3); }, 50);
    const [track] = canvas.captureStream(20).getTracks();
    track.getSettings = () => ({ deviceId: id, facingMode: id === "back" ? "environment" : "user" });
    tracks.push(track);
  }
  if (audio) tracks.push(...new AudioContext().createMediaStreamDestination().stream.getTracks());
  return new MediaStream(tracks);
};
HTMLMediaElement.prototype.setSinkId = async function (id) {
  Object.defineProperty(this, "sinkId", { value: id, configurable: true });
};
navigator.mediaDevices.selectAudioOutput = async () => {
  window.plugged.push({ deviceId: "car", kind: "audiooutput", label: "The car", groupId: "" });
  return window.plugged.at(-1);
};
// How each track is asked for: the last word counts.
window.views = new Map();
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
  const { type, tracks } = JSON.parse(data);
  if (type === "view") for (const each of tracks) window.views.set(each.track, each.quality ?? "shown");
  return send.call(this, data);
};
"""
MENU = "[...document.querySelectorAll('#%s-menu [role^=menuitem]')].find((each) => each.innerText.trim() === %s)"
ASKED = """[...roostPage.room.participants.values()].map(({ name, tracks }) =>
  [name, window.views.get(tracks.find(({ source }) => source === "camera")?.id) ?? "nothing"]).sort().map((each) => each.join(" ")).join(", ")"""
# Words of the page's own that are cut off by the window or by what encloses them.
CLIPPED = """
const cut = [];
for (const element of document.querySelectorAll("body *")) {
  if (!element.checkVisibility() || element.closest("select, input, .unseen, bdi, .tile-name, .toasts, svg")) continue;
  if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
  const range = document.createRange();
  range.selectNodeContents(element);
  let box = range.getBoundingClientRect();
  for (let each = element; each; each = each.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(each);
    const isRoot = each === document.documentElement;
    const around = isRoot ? { left: 0, right: innerWidth, top: -Infinity, bottom: Infinity } : each.getBoundingClientRect();
    const isWide = (overflowX !== "visible" || isRoot) && (box.left < around.left - 1 || box.right > around.right + 1);
    const isHigh = overflowY === "hidden" && !isRoot && (box.top < around.top - 1 || box.bottom > around.bottom + 1);
    if (isWide || isHigh) {
      const about = (one) => [one.left, one.right, one.top, one.bottom].map(Math.round).join(" ");
      cut.push(`${element.id || element.className || element.localName}: ${element.textContent.trim().slice(0, 40)}, ${about(box)}`
        + ` in ${each.id || each.className || each.localName}, ${about(around)}`);
      break;
    }
    // What a list is scrolled to is seen where the list is.
    if (each !== element && ["auto", "scroll"].includes(overflowY) && each.scrollHeight > each.clientHeight) {
      box = { left: box.left, right: box.right, top: around.top, bottom: around.bottom };
    }
  }
}
return cut;
"""
# What happened before isn't said any more.
QUIET = "(await import('/notices.js')).hush();"
# Connected again, which is said in passing.
AGAIN = """
(await import("/notices.js")).tell((await import("/words.js")).say("call.back"));
await new Promise((resolve) => setTimeout(resolve, 100));
"""
# The longest that the banner says, with a button and without. The page takes it away at its next beat, so that all is measured at once,
# without the tiles, which take their places a frame later.
TROUBLE = """
const [kind, text, label] = %s;
const { say } = await import("/words.js");
document.getElementById("banner").dataset.kind = kind;
document.getElementById("banner-text").textContent = say(text);
document.getElementById("banner-action").textContent = label && say(label);
document.getElementById("banner-action").hidden = !label;
document.getElementById("banner-close").hidden = false;
const stage = document.getElementById("stage");
stage.hidden = true;
queueMicrotask(() => { stage.hidden = false; });
"""
TROUBLES = (["throttled", "trouble.throttled", ""], ["silent", "trouble.silent", "choices.other"])
# What is said in a notice meanwhile stands beneath it.
NOTICE = """
const notice = document.getElementById("notice");
const before = notice.hidden;
notice.hidden = false;
const [top, bottom] = [notice.getBoundingClientRect().top, document.getElementById("banner").getBoundingClientRect().bottom];
notice.hidden = before;
if (top < bottom) return [`the banner ends at ${bottom}, a notice begins at ${top}`];
"""
# What is said in passing, and where it stands once everything has its place.
SAID = """
const { hush, tell } = await import("/notices.js");
hush();
for (const words of ["Ben raised a hand", "Cleo joined", `Ben: ${"one word and another ".repeat(5)}`]) tell(words);
"""
# Names, and what can be pressed, beneath those lines; a panel counts as a whole.
COVERED = """
for (let round = 0; round < 3; round++) {
  await new Promise((resolve) => setTimeout(resolve, 100));
  document.getAnimations().forEach((each) => each.finish());
}
const panels = ":is(.side, .invite-card, .menu)";
const lines = [...document.querySelectorAll("#status p:not(.unseen)")].map((each) => each.getBoundingClientRect());
const foot = document.getElementById("stage").getBoundingClientRect().bottom;
const covered = lines.length > 0 ? [] : ["nothing is said"];
for (const { left, top, right, bottom } of lines) {
  if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) covered.push(`outside: ${left}–${right}, ${top}–${bottom}`);
}
for (const element of document.querySelectorAll(`#call ${panels}, #call :is(button, figcaption):not(${panels} *)`)) {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  // What reaches out of the stage isn't seen there.
  const box = { left, right, top, bottom: element.closest(".stage") ? Math.min(bottom, foot) : bottom };
  const isOver = (line) => line.left < box.right && line.right > box.left && line.top < box.bottom && line.bottom > box.top;
  if (element.checkVisibility() && lines.some(isOver)) covered.push(element.id || element.textContent.trim() || element.className);
}
return covered;
"""
SIZES = ((390, 844), (844, 390), (360, 640), (640, 360))


async def _take(person, menu, name):
    """Opens a menu and takes what is called so."""
    await person.until("document.body.hasAttribute('data-complete')")
    if await person.tab.evaluate(f"return document.getElementById('{menu}-menu').hidden"):
        await person.click("view" if menu == "view" else f"{menu}-more")
    item = MENU % (menu, json.dumps(name))
    await person.until(f"!!{item}")
    await person.tab.evaluate(f"{item}.click()")


async def _held(report, server, browser):
    """The lock of the screen, the system's controls and the camera at the back."""
    ada = await Person.join(browser, server, f"held-{browser.name}", "Ada", PHONE)
    await ada.tab.resize(390, 844)
    await ada.until("document.body.hasAttribute('data-complete') && window.locks.length === 1")
    # Out of sight the browser lets go of it by itself; the page asks again once it is back.
    await ada.tab.evaluate("window.locks[0].release(); document.dispatchEvent(new Event('visibilitychange'))")
    await ada.until("window.locks.length === 2")
    title, playing = await ada.until("window.session.metadata && [window.session.metadata.title, window.session.playbackState]")
    await ada.tab.evaluate("window.actions.togglemicrophone()")
    await ada.until("window.session.microphone === false && document.getElementById('microphone').ariaPressed === 'false'")
    await ada.tab.evaluate("window.actions.togglecamera()")
    await ada.until("window.session.camera === false")
    await ada.tab.evaluate("window.actions.togglecamera()")
    await ada.until("window.session.camera === true")
    flip = "document.getElementById('flip')"
    await ada.until(f"{flip}.checkVisibility()")
    await ada.click("flip")
    outward = f"({ada.tile('Ada (you)')})?.classList.contains('outward')"
    await ada.until(f"window.opened.at(-1) === 'back' && {outward}")
    await ada.tab_to("flip")
    await ada.tab.press("Enter")
    await ada.until(f"window.opened.at(-1) === 'front' && !({outward})")
    turned = await _broken(ada, outward)
    size = await ada.tab.evaluate(f"const {{ width, height }} = {flip}.getBoundingClientRect(); return Math.min(width, height)")
    await ada.tab.evaluate("window.actions.hangup()")
    await ada.until("document.body.dataset.view === 'lobby' && window.locks.at(-1).isReleased")
    after = await ada.until("window.session.playbackState === 'none' && [window.session.metadata, window.locks.length]")
    complaints = await ada.tab.evaluate("return window.complaints")
    await ada.leave()
    holds = report.row(f"page, {browser.name}: the screen's lock", "held in the call, again when one is back, let go after it",
                       f"{after[1]} locks", after == [None, 2])
    holds &= report.row(f"page, {browser.name}: the system's controls", "mute, turn the camera off and on, hang up; they know the room",
                        f"{title}, {playing}, complaints: {complaints or 'none'}",
                        title == f"held-{browser.name}" and playing == "playing" and not complaints)
    holds &= report.row(f"page, {browser.name}: the other camera doesn't open", "the one before is back, only why is said, the button keeps the focus",
                        turned, "responding" in turned[0] and turned[1:] == ["", "flip", "true"])
    return holds & report.row(f"page, {browser.name}: the other camera", "by pointer and by key; as a mirror only where it looks at oneself",
                              f"a button of {size:.0f} pixels", size >= 43.9)


async def _broken(ada, outward):
    """The camera at the back is in use: the notice, what screen readers hear, where the focus is, and whether one's own is on."""
    await ada.until("document.getElementById('announcement').textContent === 'The camera looks at you'")
    await ada.tab.evaluate("""
      window.broken = "back";
      document.getElementById("announcement").textContent = "";
      window.turns = window.opened.length;
      document.getElementById("flip").focus();""")
    await ada.tab.press("Enter")
    # It is let go for the other one, and opened once more.
    await ada.until("window.opened.length > window.turns && document.getElementById('flip').ariaDisabled === null")
    await ada.sees("Ada (you)", f"tile.classList.contains('has-picture') && !({outward})")
    found = await ada.tab.evaluate("""return [document.getElementById("notice-text").textContent, document.getElementById("announcement").textContent,
      document.activeElement.id, document.getElementById("camera").ariaPressed]""")
    await ada.tab.evaluate("window.broken = null; document.getElementById('notice-close').click()")
    return found


async def _route(report, browser, ada):
    """Where the sound comes out, from the menu, and by the browser's own question."""
    sinks = []
    for name, wanted in (("The loud one", "loud"), ("Choose…", "car"), ("The ear one", "ear")):
        await _take(ada, "microphone", name)
        sinks.append(await ada.until(f"((sink) => sink === {json.dumps(wanted)} && sink)({ada.tile('Ben')}.querySelector('video').sinkId)"))
    return report.row(f"page, {browser.name}: the speaker, from the menu and by the browser's question", "each plays the others", ", ".join(sinks),
                      sinks == ["loud", "car", "ear"])


# What lies over the call is on the screen, and wide enough for what is in it.
SHEET = """const { left, top, right, bottom } = document.getElementById("side").getBoundingClientRect();
const isIn = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && right - left >= 300 && bottom - top >= 150;
return isIn ? [] : [`side: ${left}–${right}, ${top}–${bottom}`];
"""


async def _words(report, server, browser):
    """Lobby, call and the list of people in it, also beneath a banner and with a line in passing, upright and on the side, in the shortest and the longest words."""
    cut = {}
    for language in ("en", "de"):
        ada = await Person.arrive(browser, server, f"turned-{browser.name}", "Ada", PHONE, lang=language)
        await ada.until("document.getElementById('preview').videoWidth > 0")
        for view in ("lobby", "call", "people"):
            if view == "call":
                await ada.click("join-button")
                await ada.until(f"{IN_CALL} && document.body.hasAttribute('data-complete') && !document.getElementById('invite-card').hidden")
            if view == "people":
                await ada.click("people-toggle")
                await ada.until("document.querySelector('#side .people li')?.checkVisibility()")
            for width, height in SIZES:
                await ada.tab.resize(width, height)
                await asyncio.sleep(0.1)  # Tiles and bars take their places.
                await ada.tab.evaluate("document.getAnimations().forEach((each) => each.finish())")
                found = await ada.tab.evaluate(QUIET + CLIPPED)
                if view == "people":
                    found += await ada.tab.evaluate(SHEET)
                    for before in (QUIET, AGAIN):
                        await ada.tab.evaluate(before)
                        for trouble in TROUBLES:
                            shown = TROUBLE % json.dumps(trouble)
                            for look in (CLIPPED, SHEET, NOTICE):
                                found += await ada.tab.evaluate(shown + look) or []
                if found:
                    cut[f"{view} in {language}, {width} × {height}"] = found
        await ada.leave()
    return report.row(f"page, {browser.name}: words in both orientations of two phones, in English and German", "none is cut off",
                      cut or "so", not cut)


async def _passing(report, server, browser):
    """What is said in passing, in a call of two with one's own picture at either corner, beside a panel, and among many."""
    covered = {}
    room = f"passing-{browser.name}"
    ada = await Person.join(browser, server, room, "Ada", PHONE)

    async def look(view):
        for width, height in SIZES:
            await ada.tab.resize(width, height)
            await ada.tab.evaluate(COVERED)  # Until all has its place.
            await ada.tab.evaluate(SAID)
            found = await ada.tab.evaluate(COVERED)
            if found:
                covered[f"{view}, {width} × {height}"] = found
        # And as it is turned while they are there.
        await ada.tab.resize(390, 844)
        found = await ada.tab.evaluate(COVERED)
        if found:
            covered[f"{view}, turned"] = found

    await look("alone")
    async with guests(server, room, ["Ben"]):
        await ada.until("document.querySelector('.tile.floating') !== null")
        await look("two")
        await ada.tab.evaluate("document.querySelector('.tile.floating').focus()")
        await ada.tab.press("ArrowUp")
        await look("one's own picture above")
        await ada.click("chat-toggle")
        await ada.until("document.getElementById('side').checkVisibility()")
        await look("chat")
        await ada.click("chat-toggle")
        async with guests(server, room, [f"Person {number}" for number in range(24)], first=1):
            await ada.until("document.querySelectorAll('.tile').length === 26")
            await look("many")
    await ada.tab.evaluate("(await import('/notices.js')).hush()")
    left = await ada.until("!document.getElementById('status').hasAttribute('style') && "
                           "[document.getElementById('call').style.getPropertyValue('--passing') + document.querySelector('.place').style.opacity]")
    await ada.leave()
    return report.row(f"page, {browser.name}: what is said in passing, in both orientations of two phones",
                      "over no name and nothing to press; then the tiles have all the room", covered or f"so; room left: “{left[0]}”",
                      not covered and left == [""])


async def _saver(report, server, browser, other):
    """With the data saver on, of pictures the one comes of who speaks."""
    room = f"saver-{browser.name}"
    ann = await Person.join(other, server, room, "Ann", VOICE)
    ben = await Person.join(other, server, room, "Ben", VOICE)
    ada = await Person.join(browser, server, room, "Ada", PHONE)
    await ada.tab.resize(390, 844)
    for name in ("Ann", "Ben"):
        await ada.sees_picture(name)
    await ada.until(f"({ASKED}) === 'Ann shown, Ben shown'")
    holds = await _route(report, browser, ada)
    await ann.tab.evaluate("window.voice.gain.value = 0.5")
    await ada.sees("Ann", "tile.hasAttribute('data-speaking')")
    await _take(ada, "view", "Data saver")
    await ada.until(f"({ASKED}) === 'Ann shown, Ben off'")
    await ada.until("document.getElementById('camera').ariaPressed === 'false'")
    await ann.sees("Ada", "!tile.classList.contains('has-picture')")
    note = await ada.sees("Ben", "tile.querySelector('.tile-note').textContent")
    await ann.tab.evaluate("window.voice.gain.value = 0")
    await ben.tab.evaluate("window.voice.gain.value = 0.5")
    await ada.until(f"({ASKED}) === 'Ann off, Ben shown'")
    pinned = f"{ada.tile('Ann')}.querySelector('.pin')"
    await ada.tab.evaluate(f"{pinned}.click()")
    await ada.until(f"({ASKED}) === 'Ann shown, Ben shown'")
    await ada.tab.evaluate(f"{pinned}.click()")
    await ada.until(f"({ASKED}) === 'Ann off, Ben shown'")
    # By key, and off.
    await ada.tab_to("view")
    await ada.tab.press("Enter")
    saver = MENU % ("view", '"Data saver"')
    for _ in range(12):
        if await ada.tab.evaluate(f"return document.activeElement === {saver}"):
            break
        await ada.tab.press("ArrowDown")
    state = await ada.tab.evaluate(f"return {saver}.ariaChecked")
    await ada.tab.press("Enter")
    await ada.until(f"({ASKED}) === 'Ann shown, Ben shown'")
    for person in (ada, ann, ben):
        await person.leave()
    return holds & report.row(f"page, {browser.name}: the data saver", "who speaks is asked for, and who is pinned; one's own camera goes off",
                      f"the other says “{note}”, its item was checked: {state}", "save data" in note and state == "true")


async def _alone(report, server, browser):
    """What needs no other browser."""
    return await _held(report, server, browser) & await _words(report, server, browser) & await _passing(report, server, browser)


async def meet(report, options, server, chromium, firefox):
    holds = all(await asyncio.gather(*(_alone(report, server, browser) for browser in (chromium, firefox))))
    return holds & all(await asyncio.gather(_saver(report, server, chromium, firefox), _saver(report, server, firefox, chromium)))
