"""The way in: how loud one is, which devices, a speaker that is tried out, what is done to sound and picture, a name for the room; and rooms
in which a host has to let one in. By pointer and by keyboard."""

import asyncio
import json

from harness import rest
from harness.person import IN_CALL, SETTLED, Person, new_tab
from page_talk import VOICE

# Two of each kind, as a browser names them, and what is asked of them; a camera that can blur what is behind one.
DEVICES = VOICE + """
window.plugged = [["desk", "videoinput"], ["front", "videoinput"], ["low", "audioinput"], ["high", "audioinput"],
  ["near", "audiooutput"], ["far", "audiooutput"]]
  .map(([deviceId, kind]) => ({ deviceId, kind, label: `The ${deviceId} one`, groupId: "" }));
window.asked = [];
window.applied = [];
window.canBlur = CAN_BLUR;
navigator.mediaDevices.enumerateDevices = async () => window.plugged;
const ask = navigator.mediaDevices.getUserMedia;
navigator.mediaDevices.getUserMedia = async (wanted) => {
  window.asked.push(wanted);
  const stream = await ask(wanted);
  for (const track of stream.getTracks()) {
    const chosen = wanted[track.kind].deviceId;
    const settings = { deviceId: chosen?.exact ?? chosen?.ideal ?? (track.kind === "video" ? "desk" : "low") };
    track.getSettings = () => settings;
    track.getConstraints = () => wanted[track.kind];
    track.getCapabilities = () => (track.kind === "video" && window.canBlur ? { backgroundBlur: [true, false] } : {});
    track.applyConstraints = async (constraints) => window.applied.push([track.kind, constraints]);
  }
  return stream;
};
// Without a sound card no speaker can be opened: what is asked of the browser counts, and what would be heard.
window.heard = [];
HTMLMediaElement.prototype.setSinkId = async function (id) {
  Object.defineProperty(this, "sinkId", { value: id, configurable: true });
};
const play = HTMLMediaElement.prototype.play;
HTMLMediaElement.prototype.play = function () {
  if (this.localName === "audio") {
    const context = new AudioContext();
    const analyser = new AnalyserNode(context);
    context.createMediaStreamSource(this.srcObject).connect(analyser);
    const entry = { by: this.sinkId ?? "", loudest: 0 };
    window.heard.push(entry);
    const samples = new Float32Array(analyser.fftSize);
    setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      entry.loudest = Math.max(entry.loudest, ...samples);
    }, 20);
  }
  return play.call(this);
};
"""
LEVEL = "document.getElementById('level')"
NOW = f"Number({LEVEL}.ariaValueNow)"
ROOM = "document.getElementById('room').value"
VIEW = "document.body.dataset.view"

# Where Join is, from the first picture of it on.
STEADY = """
window.places = [];
const look = () => {
  const { x, y, width, height } = document.getElementById("join-button")?.getBoundingClientRect() ?? {};
  const place = [x, y, width, height].map(Math.round).join();
  if (width > 0 && window.places.at(-1) !== place) window.places.push(place);
  requestAnimationFrame(look);
};
look();
"""


async def _arrive(browser, server, room, can_blur=False):
    person = await Person.arrive(browser, server, room, "Ada", DEVICES.replace("CAN_BLUR", json.dumps(can_blur)))
    await person.until("document.getElementById('preview').videoWidth > 0")
    return person


async def _meter(report, browser, ada):
    """As high as the picture, as loud as the voice, and empty with a sign while muted."""
    heights = await ada.tab.evaluate(f"""return [document.querySelector(".preview .screen"), {LEVEL}, {LEVEL}.querySelector(".track")]
      .map((each) => each.getBoundingClientRect().height)""")
    await ada.tab.evaluate("window.voice.gain.value = 0.5")
    loud = await ada.until(f"{NOW} > 40 && {NOW}")
    await ada.click("preview-microphone")
    await ada.until(f"{LEVEL}.hasAttribute('data-muted') && {NOW} === 0")
    sign, said = await ada.tab.evaluate(f"return [{LEVEL}.querySelector('use').getAttribute('href'), {LEVEL}.ariaValueText]")
    await ada.tab_to("preview-microphone")
    await ada.tab.press("Enter")
    again = await ada.until(f"!{LEVEL}.hasAttribute('data-muted') && {NOW} > 40 && {NOW}")
    screen, level, track = heights
    holds = report.row(f"page, {browser.name}: the level meter", "as high as the picture", f"{level:.0f} of {screen:.0f}, its track {track:.0f}",
                       abs(level - screen) <= 2 and track > 0.8 * screen)
    return holds & report.row(f"page, {browser.name}: a voice, muted by pointer, unmuted by key", "seen, empty with a sign, seen",
                              f"{loud} %, {sign} “{said}”, {again} %", sign == "#icon-microphone-off" and said == "Muted")


async def _steady(report, server, browser):
    """Nothing moves under a finger while the devices are asked for."""
    places = []
    for size in ((1280, 800), (390, 844)):
        tab = await new_tab(browser, DEVICES.replace("CAN_BLUR", "false") + STEADY)
        ada = Person(tab, "Ada")
        await tab.resize(*size)
        await tab.open(f"{server.ORIGIN}/?room=steady&name=Ada")
        await ada.until(SETTLED)
        await ada.until("document.getElementById('camera-choice').value === 'desk' && document.getElementById('speaker-choice').options.length > 0")
        places.append(await tab.evaluate("return window.places"))
        await ada.leave()
    return report.row(f"page, {browser.name}: where Join is, from the first picture until all devices are known", "in one place, at 1280 and 390 pixels",
                      " / ".join(" then ".join(each) for each in places), [len(each) for each in places] == [1, 1])


async def _devices(report, browser, ada):
    """All three in one row, wide and narrow, chosen by pointer and by key; the speaker plays three tones."""
    rows = []
    for width, height in ((1280, 800), (390, 844), (844, 390)):
        await ada.tab.resize(width, height)
        rows.append(await ada.tab.evaluate("""return ["camera", "microphone", "speaker"]
          .map((kind) => document.getElementById(`${kind}-choice`).getBoundingClientRect()).map(({ top, left, right }) => [top, left, right])"""))
    await ada.tab.resize(1280, 800)
    in_row = all(len({round(top) for top, _, _ in row}) == 1 and row[0][2] < row[1][1] and row[1][2] < row[2][1] for row in rows)
    holds = report.row(f"page, {browser.name}: camera, microphone and speaker", "one row at 1280, 390 and 844 pixels", "so" if in_row else rows,
                       in_row)

    await ada.tab_to("speaker-choice")
    await ada.tab.press("ArrowDown")
    await ada.until("document.getElementById('speaker-choice').value === 'far'")
    await ada.tab_to("speaker-test")
    await ada.tab.press("Enter")
    await ada.until("document.getElementById('speaker-test').textContent === 'Playing…'")
    await ada.until("document.getElementById('speaker-test').textContent === 'Test speaker' && window.heard.length === 1")
    await ada.tab.evaluate("""
      const select = document.getElementById("speaker-choice");
      select.value = "near";
      select.dispatchEvent(new Event("change"));""")
    await ada.click("speaker-test")
    heard = await ada.until("document.getElementById('speaker-test').textContent === 'Test speaker' && window.heard.length === 2 && window.heard")
    complaints = await ada.tab.evaluate("return window.complaints")
    return holds & report.row(f"page, {browser.name}: the far speaker by key, the near one by pointer, each tried out",
                              "tones by the one, then the other",
                              f"{[(each['by'], round(each['loudest'], 2)) for each in heard]}, complaints: {complaints or 'none'}",
                              [each["by"] for each in heard] == ["far", "near"] and min(each["loudest"] for each in heard) > 0.1 and not complaints)


async def _effects(report, server, browser, hidden):
    """Noise is taken out unless one says no, which is remembered; the background is blurred where the camera can."""
    ada = await _arrive(browser, server, f"effects-{browser.name}", can_blur=True)
    noise = "window.asked.at(-1).audio?.noiseSuppression"
    first = await ada.tab.evaluate("return window.asked[0].audio.noiseSuppression")
    await ada.tab_to("noise")
    await ada.tab.press(" ")
    await ada.until(f"{noise} === false && window.asked.at(-1).audio.deviceId.exact === 'low'")
    await ada.click("blur")
    await ada.until("window.applied.some(([kind, { backgroundBlur }]) => kind === 'video' && backgroundBlur?.exact === true)")
    await ada.click("join-button")
    await ada.until(IN_CALL)
    items = "[...document.querySelectorAll('#%s-menu [role=menuitemcheckbox]')]"
    states = []
    for kind in ("microphone", "camera"):
        await ada.tab_to(f"{kind}-more")
        await ada.tab.press("Enter")
        await ada.until(f"!document.getElementById('{kind}-menu').hidden && {items % kind}.length === 1")
        states.append(await ada.tab.evaluate(f"return [{items % kind}[0].innerText.trim(), {items % kind}[0].ariaChecked]"))
        await ada.tab.evaluate(f"{items % kind}[0].click()")
    await ada.until(f"{noise} === true")
    await ada.until("window.applied.some(([kind, { backgroundBlur }]) => kind === 'video' && backgroundBlur?.exact === false)")
    await ada.tab.open(server.ORIGIN)
    await ada.until("window.asked.length > 0")
    later = await ada.tab.evaluate("const [{ audio, video }] = window.asked; return [audio.noiseSuppression, video.backgroundBlur ?? null]")
    await ada.leave()
    holds = report.row(f"page, {browser.name}: a camera that can't blur", "offers nothing of it", f"hidden: {hidden}", hidden)
    return holds & report.row(f"page, {browser.name}: noise and background in the lobby, in the menus, when one comes again", "as one has said last",
                              f"{first}, {states}, {later}", first is True and states == [["Suppress noise", "false"], ["Blur background", "true"]]
                              and later == [True, None])


async def _names(report, server, browser):
    """Who brings no room gets the name of one."""
    names = []
    tab = await new_tab(browser)
    ada = Person(tab, "Ada")
    for _ in range(2):
        await tab.open(server.ORIGIN)
        names.append(await ada.until(ROOM))
    await tab.open(f"{server.ORIGIN}/?room=given")
    given = await ada.until(ROOM)
    await ada.leave()
    words = [name.split("-") for name in names]
    return report.row(f"page, {browser.name}: the name of a room", "three words and a number, another each time; the link's where it has one",
                      f"{', '.join(names)}; {given}", names[0] != names[1] and given == "given"
                      and all(len(each) == 4 and each[3].isdigit() and all(part.isalpha() for part in each[:3]) for each in words))


async def _waiting(report, options, server, browser, other):
    """A host lets one in and refuses another, and a third has waited long enough."""
    room = f"wait-{browser.name}"
    token = rest.token(options.roost, "--admin", "--room", room, "--identity", "host", "--name", "Hella")
    host = Person(await new_tab(other), "Hella")
    await host.tab.open(f"{server.ORIGIN}/?room={room}&publish=0#token={token}")
    await host.until("document.getElementById('name').readOnly")
    await host.click("join-button")
    await host.until(IN_CALL)
    rest.change(server, options.roost, room, admission=True)
    answer = "const [{ id }] = roostPage.room.waiting; await roostPage.room.admit(id, %s)"

    ada = await Person.arrive(browser, server, room, "Ada", publish=0)
    await ada.click("join-button")
    await ada.until(f"{VIEW} === 'waiting' && document.activeElement.id === 'waiting'")
    said = await ada.text("waiting")
    name = await host.until("roostPage.room.waiting[0]?.name")
    await host.tab.evaluate(answer % "true")
    await ada.until(IN_CALL)
    await host.sees("Ada")
    holds = report.row(f"page, {browser.name}: who has to be let in", "reads so, and is in once a host has opened",
                       f"“{' '.join(said.split())}”, the host sees {name}", "let in" in said and room in said and name == "Ada")

    eve = await Person.arrive(browser, server, room, "Eve", publish=0)
    await eve.click("join-button")
    await eve.until(f"{VIEW} === 'waiting'")
    await host.until("roostPage.room.waiting.length === 1")
    await host.tab.evaluate(answer % "false")
    await eve.until(f"{VIEW} === 'lobby'")
    refused = await eve.text("notice-text")
    tom = await Person.arrive(browser, server, room, "Tom", publish=0)
    await tom.click("join-button")
    await tom.until(f"{VIEW} === 'waiting'")
    await host.until("roostPage.room.waiting.length === 1")
    await tom.tab_to("waiting-leave")
    await tom.tab.press("Enter")
    await tom.until(f"{VIEW} === 'lobby' && document.activeElement.id === 'join-button'")
    await host.until("roostPage.room.waiting.length === 0")
    is_quiet = await tom.tab.evaluate("return document.getElementById('notice').hidden && !document.getElementById('join-button').disabled")
    for person in (host, ada, eve, tom):
        await person.leave()
    return holds & report.row(f"page, {browser.name}: one is refused, one waits no longer", "the first reads so; the second is back without a word",
                              f"“{refused}”, {is_quiet}", "didn't let you in" in refused and is_quiet)


async def _led(report, server, browser, other):
    """A link that joins at once, where devices are allowed and were wanted the last time: nothing is opened before one turns it on."""
    room = f"led-{browser.name}"
    eve = await Person.join(other, server, room, "Eve", publish=0)
    wanted = "localStorage.setItem('roost', JSON.stringify({ wantsCamera: true, wantsMicrophone: true }));"
    ada = await Person.arrive(browser, server, room, "Ada", DEVICES.replace("CAN_BLUR", "false") + wanted, autojoin=1)
    await ada.until(IN_CALL)
    await eve.sees("Ada", "!tile.classList.contains('has-picture')")
    asked, sent, *pressed = await ada.tab.evaluate("""return [window.asked.length, roostPage.room.publications.length,
      ...["camera", "microphone"].map((kind) => document.getElementById(kind).ariaPressed)]""")
    await ada.click("camera")
    await eve.sees_picture("Ada")
    opened = await ada.tab.evaluate("return window.asked.map((each) => Object.keys(each).join())")
    for person in (ada, eve):
        await person.leave()
    return report.row(f"page, {browser.name}: a link that joins at once", "in, and nothing opened or sent; then the camera, by pointer",
                      f"{asked} asked for, {sent} sent, {pressed}; {opened}", (asked, sent) == (0, 0) and pressed == ["false", "false"]
                      and opened == ["video"])


async def _alone(report, server, browser):
    """What needs no other browser."""
    ada = await _arrive(browser, server, f"lobby-{browser.name}")
    hidden = await ada.tab.evaluate("return document.getElementById('blur-field').hidden")
    holds = await _meter(report, browser, ada)
    holds &= await _devices(report, browser, ada)
    await ada.leave()
    holds &= await _steady(report, server, browser)
    holds &= await _effects(report, server, browser, hidden)
    return holds & await _names(report, server, browser)


async def meet(report, options, server, chromium, firefox):
    holds = all(await asyncio.gather(*(_alone(report, server, browser) for browser in (chromium, firefox))))
    pairs = ((chromium, firefox), (firefox, chromium))
    holds &= all(await asyncio.gather(*(_waiting(report, options, server, *pair) for pair in pairs)))
    return holds & all(await asyncio.gather(*(_led(report, server, *pair) for pair in pairs)))
