"""What is chosen in the lobby and in the call's menus, each by pointer and by keyboard alone: camera and microphone, of which it is then that one is
sent; what is done to sound and picture; the language; and the invitation's ways."""

import asyncio
import json

from harness import rest
from harness.menus import pick_by_keys, pick_by_pointer
from harness.person import IN_CALL, SETTLED, Person, new_tab
from page_devices import DEVICES, SEES
from page_invite import CARD, DEVICE, LINK, OPEN
from page_lobby import DEVICES as EFFECTS

WAYS = ("pointer", "keyboard")
SENT = "roostPage.room.publications.map(({ track }) => track?.getSettings().deviceId).sort().join()"
# What is as loud there as here says nothing of which microphone it is; of the two one is low and one is high.
PITCH = """((tile) => {
  const stream = tile.querySelector("video").srcObject;
  if (!stream?.getAudioTracks().length) return 0;
  if (window.analysed !== stream.getAudioTracks()[0]) {
    window.analysed = stream.getAudioTracks()[0];
    const context = new AudioContext();
    window.analyser = new AnalyserNode(context, { fftSize: 8192 });
    context.createMediaStreamSource(new MediaStream([window.analysed])).connect(window.analyser);
    window.step = context.sampleRate / 8192;
  }
  const heights = new Float32Array(window.analyser.frequencyBinCount);
  window.analyser.getFloatFrequencyData(heights);
  const top = heights.indexOf(Math.max(...heights));
  return heights[top] > -70 ? Math.round(top * window.step) : 0;
})(%s)"""


async def choose(person, id_, value, way):
    """In a list of the browser's own, opened by the pointer or come to by Tab. What hangs from it is no part of the page, so arrows go through it; in
    Firefox, where nothing that a test does reaches it, once the pointer has closed it again."""
    field = f"document.getElementById('{id_}')"
    wanted = await person.tab.evaluate(f"""const values = [...{field}.options].map(({{ value }}) => value);
      return values.indexOf({json.dumps(value)}) - {field}.selectedIndex""")
    if way == "pointer":
        await person.point(field)
        await person.until(f"document.activeElement === {field} && {field}.matches(':open')")
        if person.tab.name.startswith("firefox"):
            await person.point(field)
            await person.until(f"!{field}.matches(':open')")
    else:
        await person.tab_to(id_)
    for _ in range(abs(wanted)):
        await person.tab.press("ArrowDown" if wanted > 0 else "ArrowUp")
    if await person.tab.evaluate(f"return {field}.matches(':open')"):
        await person.tab.press("Enter")
    await person.until(f"{field}.value === {json.dumps(value)}")


async def _devices(report, server, browser, other, way):
    """The second camera and the second microphone, seen and heard by the other."""
    room = f"chosen-{way}-{browser.name}"
    bob = await Person.join(other, server, room, "Bob", publish=0)
    ada = await Person.arrive(browser, server, room, "Ada", DEVICES)
    await ada.until(f"{SETTLED} && document.getElementById('camera-choice').value === 'red'")
    await choose(ada, "camera-choice", "blue", way)
    await ada.until("document.getElementById('preview').srcObject?.getTracks()[0].getSettings().deviceId === 'blue'")
    await choose(ada, "microphone-choice", "high", way)
    await ada.until("window.inUse.filter(([, track]) => track.readyState === 'live').map(([id]) => id).sort().join() === 'blue,high'")
    if way == "pointer":
        await ada.point("document.getElementById('join-button')")
    else:
        await ada.tab_to("join-button")
        await ada.tab.press("Enter")
    await ada.until(IN_CALL)
    sent = await ada.until(f"{SENT} === 'blue,high' && {SENT}")
    colour = await bob.until(f"((colour) => colour !== 'neither' && colour)({SEES % bob.tile('Ada')})")
    pitch = await bob.until(f"((pitch) => pitch > 600 && pitch)({PITCH % bob.tile('Ada')})")
    kept = await ada.tab.evaluate("const { camera, microphone } = JSON.parse(localStorage.getItem('roost')); return [camera, microphone].join()")
    for person in (ada, bob):
        await person.leave()
    return report.row(f"page, {browser.name}: a camera and a microphone chosen in the lobby by {way}",
                      "those are sent, seen and heard, and remembered",
                      f"{sent}, {colour}, {pitch} Hz, {kept}", colour == "blue" and abs(pitch - 800) < 60 and kept == "blue,high")


async def _effects(report, server, browser, way):
    """Noise and blur in the lobby, and both back by the menus of the call."""
    ada = await Person.arrive(browser, server, f"effects-{way}-{browser.name}", "Ada", EFFECTS.replace("CAN_BLUR", "true"))
    await ada.until(f"{SETTLED} && document.getElementById('preview').videoWidth > 0")
    for id_ in ("noise", "blur"):
        if way == "pointer":
            await ada.point(f"document.getElementById('{id_}')")
        else:
            await ada.tab_to(id_)
            await ada.tab.press(" ")
    noise = "window.asked.at(-1).audio?.noiseSuppression"
    blur = "window.applied.filter(([kind]) => kind === 'video').at(-1)?.[1].backgroundBlur.exact"
    boxes = "['noise', 'blur'].map((id) => document.getElementById(id).checked).join()"
    lobby = await ada.until(f"{noise} === false && {blur} === true && {boxes}")
    await ada.click("join-button")
    await ada.until(IN_CALL)
    pick = pick_by_pointer if way == "pointer" else pick_by_keys
    await pick(ada, "microphone-more", "microphone-menu", "Suppress noise")
    await ada.until(f"{noise} === true")
    await pick(ada, "camera-more", "camera-menu", "Blur background")
    call = await ada.until(f"{noise} === true && {blur} === false && {boxes}")
    complaints = await ada.tab.evaluate("return window.complaints")
    await ada.leave()
    return report.row(f"page, {browser.name}: noise and blur in the lobby and in the menus, by {way}", "asked of the devices, there and back",
                      f"{lobby}; {call}; complaints: {complaints or 'none'}", lobby == "false,true" and call == "true,false" and complaints == [])


async def _language(report, server, browser, way):
    ada = await Person.arrive(browser, server, "language", "Ada", publish=0)
    await ada.until(SETTLED)
    await choose(ada, "language", "de", way)
    german = await ada.until("document.documentElement.lang === 'de' && document.getElementById('join-button').textContent")
    await choose(ada, "language", "en", way)
    english = await ada.until("document.documentElement.lang === 'en' && document.getElementById('join-button').textContent")
    await ada.leave()
    return report.row(f"page, {browser.name}: the language of the lobby, by {way}", "German, and English again", f"{german}, {english}",
                      german == "Beitreten" and english == "Join")


async def _use(person, id_, way):
    """A button of the card."""
    button = f"document.getElementById('{id_}')"
    if way == "pointer":
        await person.point(button)
        return
    await person.until(f"{button}?.checkVisibility()")
    await person.tab.evaluate("document.getElementById('call').focus()")
    await person.tab_to(id_)
    await person.tab.press("Enter")


async def _invited(report, options, server, browser, way):
    """A host's link is made, copied, passed on, and stopped."""
    room = f"invited-{way}-{browser.name}"
    token = await asyncio.to_thread(rest.token, options.roost, "--admin", "--room", room, "--identity", "host", "--name", "Hella")
    host = Person(await new_tab(browser, DEVICE), "Hella")
    await host.tab.resize(1280, 800)
    await host.tab.open(f"{server.ORIGIN}/?room={room}#token={token}")
    await host.until(f"document.getElementById('name').readOnly && {SETTLED}")
    await host.click("join-button")
    await host.until(f"{IN_CALL} && {OPEN}")
    await _use(host, "invite-make", way)
    link = await host.until(LINK)
    await _use(host, "invite-copy", way)
    await _use(host, "invite-share", way)
    passed = await host.until("window.copied && window.shared && [window.copied, window.shared.url]")
    held = len(await asyncio.to_thread(rest.invitations, server, options.roost, room))
    await _use(host, "invite-stop", way)
    await host.until("!document.getElementById('invite-stop').checkVisibility()")
    left = len(await asyncio.to_thread(rest.invitations, server, options.roost, room))
    await _use(host, "invite-close", way)
    await host.until(f"{CARD}.hidden && document.activeElement.id === 'invite'")
    await host.leave()
    return report.row(f"page, {browser.name}: a link for many is made, copied, shared and stopped, by {way}", "the same link; one holds, then none",
                      f"{'the same' if passed == [link] * 2 else (link, passed)}, {held}, {left}",
                      passed == [link] * 2 and "#invitation=" in link and (held, left) == (1, 0))


async def _plain(report, options, server, browser):
    """Who has come by an invitation and runs nothing passes on the room's address alone, which is said."""
    room = f"plain-{browser.name}"
    token = await asyncio.to_thread(rest.token, options.roost, "--room", room, "--identity", "guest", "--name", "Gus")
    guest = Person(await new_tab(browser, DEVICE), "Gus")
    await guest.tab.resize(1280, 800)
    await guest.tab.open(f"{server.ORIGIN}/?room={room}#token={token}")
    await guest.until(f"document.getElementById('name').readOnly && {SETTLED}")
    await guest.click("join-button")
    await guest.until(f"{IN_CALL} && {OPEN}")
    link, hint, offered = await guest.tab.evaluate(f"""return [{LINK}, document.querySelector("#invite-card .hint").textContent,
      ["make", "stop"].filter((each) => document.getElementById(`invite-${{each}}`).checkVisibility())]""")
    await guest.leave()
    return report.row(f"page, {browser.name}: the card of a guest", "the room's address without a token; that an invitation is needed; no link is made",
                      f"{link}, “{hint}”, {offered or 'neither'}",
                      link == f"{server.ORIGIN}/?room={room}" and "invitation" in hint and offered == [])


async def _alone(report, options, server, browser, other):
    holds = True
    for way in WAYS:
        holds &= await _devices(report, server, browser, other, way)
        holds &= await _effects(report, server, browser, way)
        holds &= await _language(report, server, browser, way)
        holds &= await _invited(report, options, server, browser, way)
    return holds & await _plain(report, options, server, browser)


async def meet(report, options, server, chromium, firefox):
    # One behind the other: while a list of the browser's own hangs open, it has all that is pressed.
    return await _alone(report, options, server, chromium, firefox) & await _alone(report, options, server, firefox, chromium)
