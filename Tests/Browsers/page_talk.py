"""Muting as it is heard and felt: announced, reminded of, lifted while Space is held; and what the page says before it may use anything."""

import asyncio

from harness.person import IN_CALL, Person

# A camera that shows grey, and a microphone whose voice is as loud as the test says.
VOICE = """
navigator.mediaDevices.getUserMedia = async ({ audio, video }) => {
  const tracks = [];
  if (video) {
    const canvas = Object.assign(document.createElement("canvas"), { width: 320, height: 180 });
    const context = canvas.getContext("2d");
    setInterval(() => { context.fillStyle = `rgb(${120 + Math.random() * 9} 120 120)`; context.fillRect(0, 0, 320, 180); }, 50);
    tracks.push(...canvas.captureStream(20).getTracks());
  }
  if (audio) {
    const context = new AudioContext();
    const destination = context.createMediaStreamDestination();
    const oscillator = new OscillatorNode(context, { frequency: 220 });
    window.voice = new GainNode(context, { gain: 0 });
    oscillator.connect(window.voice).connect(destination);
    oscillator.start();
    tracks.push(...destination.stream.getTracks());
  }
  return new MediaStream(tracks);
};
"""
# A user who has not answered yet, and what the browser says of devices until then.
ASKING = """
navigator.mediaDevices.enumerateDevices = async () => ["videoinput", "audioinput", "audiooutput"]
  .map((kind) => ({ kind, deviceId: "", groupId: "", label: "" }));
navigator.mediaDevices.getUserMedia = () => new Promise((_, reject) =>
  (window.refuse = () => reject(new DOMException("no", "NotAllowedError"))));
"""
ANNOUNCED = "(({ role, textContent }) => role === 'status' && textContent)(document.getElementById('announcement'))"
SAID = "document.getElementById('status').textContent"
PRESSED = "document.getElementById('microphone').ariaPressed"
MUTED = "!tile.querySelector('.microphone-mark').hidden"
SENT = "roostPage.room.publications.find(({ kind }) => kind === 'audio').track.enabled"


async def _announced(report, ada, name):
    heard = []
    for act, words in (("m", "Microphone muted"), ("m", "Microphone on"), ("v", "Camera off"), ("v", "Camera on")):
        await ada.tab.press(act)
        heard.append(await ada.until(f"{ANNOUNCED} === '{words}' && {ANNOUNCED}"))
    await ada.click("microphone")
    heard.append(await ada.until(f"{ANNOUNCED} === 'Microphone muted' && {ANNOUNCED}"))
    return report.row(f"page, {name}: muted, unmuted by key and by button", "announced to screen readers", ", ".join(heard), True)


async def _reminded(report, ada, name):
    """Muted as Ada is: silence says nothing, a voice is answered, and nothing of it is sent."""
    await ada.tab.evaluate("document.getElementById('status').replaceChildren(); return new Promise((done) => setTimeout(done, 1500))")
    before = await ada.tab.evaluate(f"return {SAID}")
    await ada.tab.evaluate("window.voice.gain.value = 0.5")
    said = await ada.until(f"{SAID}.includes('muted') && {SAID}", 5)
    is_sent = await ada.tab.evaluate(f"return {SENT}")
    await ada.tab.evaluate("window.voice.gain.value = 0")
    return report.row(f"page, {name}: talking while muted", "reminded of it, once there is a voice", f"“{said}”",
                      before == "" and said.startswith("You're muted") and not is_sent)


async def _space(report, ada, bob, name):
    await ada.tab.evaluate("document.activeElement.blur()")
    await bob.sees("Ada", MUTED)
    await ada.tab.hold(" ")
    await bob.sees("Ada", f"!({MUTED})")
    pressed = [await ada.tab.evaluate(f"return {PRESSED}")]
    await ada.tab.release(" ")
    await bob.sees("Ada", MUTED)
    # The window goes to the back with Space held.
    await ada.tab.hold(" ")
    await ada.until(f"{PRESSED} === 'true'")
    await ada.tab.evaluate("window.dispatchEvent(new Event('blur'))")
    pressed.append(await ada.until(f"{PRESSED} === 'false' && {PRESSED}"))
    await ada.tab.release(" ")
    # On a control it is that control's.
    await ada.tab.evaluate("document.getElementById('statistics-toggle').focus()")
    await ada.tab.hold(" ")
    pressed.append(await ada.tab.evaluate(f"return {PRESSED}"))
    await ada.tab.release(" ")
    await ada.until("!document.getElementById('statistics').hidden")
    await ada.click("statistics-close")
    # In a field it is a space.
    await ada.tab.evaluate("""
      document.getElementById("call").append(Object.assign(document.createElement("input"), { id: "field" }));
      document.getElementById("field").focus();""")
    await ada.tab.hold(" ")
    typed = await ada.until("document.getElementById('field').value")
    pressed.append(await ada.tab.evaluate(f"return {PRESSED}"))
    await ada.tab.release(" ")
    await ada.tab.evaluate("document.getElementById('field').remove()")
    # A tile is read, not operated.
    await ada.tab.evaluate("document.querySelector('.tile').focus()")
    await ada.tab.hold(" ")
    await ada.until(f"{PRESSED} === 'true'")
    await ada.tab.release(" ")
    await ada.until(f"{PRESSED} === 'false'")
    # Who speaks anyway goes on.
    await ada.tab.press("m")
    await ada.until(f"{PRESSED} === 'true'")
    await ada.tab.press(" ")
    pressed.append(await ada.tab.evaluate(f"return {PRESSED}"))
    remembered = await ada.tab.evaluate("return JSON.parse(localStorage.getItem('roost')).wantsMicrophone")
    return report.row(f"page, {name}: Space held, let go, lost with the window, on a control, in a field, while unmuted",
                      "heard as long as it is held, and no control touched", " ".join(pressed),
                      pressed == ["true", "false", "false", "false", "true"] and typed == " " and remembered is True)


async def _asking(report, server, browser):
    """While the browser asks, nothing is off and nothing is missing; once it is refused, both are said as they are."""
    eve = await Person.arrive(browser, server, f"asking-{browser.name}", "Eve", ASKING)
    look = """return [["microphone", "camera"].map((kind) => document.getElementById(`preview-${kind}`))
        .map((each) => [getComputedStyle(each).backgroundColor === danger, each.ariaLabel].join()),
      ["camera", "microphone"].map((kind) => document.getElementById(`${kind}-choice`).textContent)].flat()"""
    danger = """const probe = document.body.appendChild(document.createElement("i"));
      probe.style.background = "var(--danger)";
      const danger = getComputedStyle(probe).backgroundColor;
      probe.remove();"""
    await eve.until("typeof window.refuse === 'function'")
    await eve.until("document.getElementById('preview-camera').ariaLabel.includes('waiting')")
    asking = await eve.tab.evaluate(danger + look)
    await eve.tab.evaluate("window.refuse()")
    await eve.text("notice-text")
    await eve.until("document.getElementById('camera-choice').textContent.includes('Turn')")
    refused = await eve.tab.evaluate(danger + look)
    await eve.leave()
    waiting = "Waiting for permission…"
    return report.row(f"page, {browser.name}: while permission is asked for, and refused", "neither red nor “None found”, then off",
                      f"{asking}, {refused}",
                      asking == ["false,Microphone, waiting for permission", "false,Camera, waiting for permission", waiting, waiting]
                      and refused == ["true,Microphone", "true,Camera", "Turn it on to choose", "Turn it on to choose"])


async def _talk(report, server, browser, other):
    room = f"talk-{browser.name}"
    bob, ada = await asyncio.gather(Person.join(other, server, room, "Bob"), Person.arrive(browser, server, room, "Ada", VOICE))
    await ada.until("document.getElementById('preview').videoWidth > 0")
    await ada.click("join-button")
    await ada.until(IN_CALL)
    await bob.sees_picture("Ada")
    holds = await _announced(report, ada, browser.name)
    holds &= await _reminded(report, ada, browser.name)
    holds &= await _space(report, ada, bob, browser.name)
    complaints = await ada.tab.evaluate("return window.complaints")
    for person in (ada, bob):
        await person.leave()
    holds &= await _asking(report, server, browser)
    return holds & report.row(f"page, {browser.name}: policy and scripts meanwhile", "no complaint", complaints or "none", complaints == [])


async def meet(report, options, server, chromium, firefox):
    holds = all(await asyncio.gather(_talk(report, server, chromium, firefox), _talk(report, server, firefox, chromium)))
    return holds
