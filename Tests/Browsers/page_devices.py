"""The page's devices: chosen in mid-call without an offer, unplugged, refused; and screens, from either browser to the other."""

import asyncio
import json

from harness.person import IN_CALL, Person

# Two cameras that see nothing but red and nothing but blue, and two microphones, any of which can be pulled out; and a
# count of the offers that are sent.
DEVICES = """
window.plugged = [["red", "videoinput"], ["blue", "videoinput"], ["low", "audioinput"], ["high", "audioinput"]]
  .map(([deviceId, kind]) => ({ deviceId, kind, label: `The ${deviceId} one`, groupId: "" }));
window.inUse = [];
const make = {
  videoinput: (id) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 320, height: 180 });
    const context = canvas.getContext("2d");
    let shade = 0;
    setInterval(() => {
      context.fillStyle = id;
      context.fillRect(0, 0, 320, 180);
      context.fillStyle = (shade ^= 1) ? "black" : id;
      context.fillRect(0, 0, 4, 4);
    }, 50);
    return canvas.captureStream(20).getTracks()[0];
  },
  audioinput: (id) => {
    const context = new AudioContext();
    const oscillator = new OscillatorNode(context, { frequency: id === "low" ? 200 : 800 });
    const destination = context.createMediaStreamDestination();
    oscillator.connect(destination);
    oscillator.start();
    return destination.stream.getTracks()[0];
  },
};
const pick = (kind, { deviceId } = {}) => {
  const there = window.plugged.filter((each) => each.kind === kind);
  const wanted = deviceId?.exact ?? deviceId?.ideal;
  const device = there.find((each) => each.deviceId === wanted) ?? (deviceId?.exact ? null : there[0]);
  if (!device) throw new DOMException("there is none", deviceId?.exact ? "OverconstrainedError" : "NotFoundError");
  const track = make[kind](device.deviceId);
  track.getSettings = () => ({ deviceId: device.deviceId });
  window.inUse.push([device.deviceId, track]);
  return track;
};
navigator.mediaDevices.enumerateDevices = async () => window.plugged;
navigator.mediaDevices.getUserMedia = async ({ audio, video }) =>
  new MediaStream([...(audio ? [pick("audioinput", audio)] : []), ...(video ? [pick("videoinput", video)] : [])]);
window.unplug = (id) => {
  window.plugged = window.plugged.filter(({ deviceId }) => deviceId !== id);
  for (const [, track] of window.inUse.filter(([used, track]) => used === id && track.readyState === "live")) {
    window.endTrack(track);
  }
  navigator.mediaDevices.dispatchEvent(new Event("devicechange"));
};
window.offers = 0;
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
  if (JSON.parse(data).type === "offer") window.offers += 1;
  return send.call(this, data);
};
"""
# The colour in the middle of a tile's picture.
SEES = """((tile) => {
  const video = tile?.querySelector("video");
  if (!tile?.classList.contains("has-picture") || !video.videoWidth) return null;
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  context.drawImage(video, video.videoWidth / 2, video.videoHeight / 2, 1, 1, 0, 0, 1, 1);
  const [red, , blue] = context.getImageData(0, 0, 1, 1).data;
  return red > 150 && blue < 100 ? "red" : blue > 150 && red < 100 ? "blue" : "neither";
})(%s)"""
ITEMS = "[...document.querySelectorAll('#%s-menu [role=menuitemradio]')]"
OPEN = "!document.getElementById('%s-menu').hidden"
# Without a sound card no speaker can be opened: what is asked of the browser counts.
SINK = """
HTMLMediaElement.prototype.setSinkId = async function (id) {
  Object.defineProperty(this, "sinkId", { value: id, configurable: true });
};
"""
REFUSE = "navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', 'NotAllowedError'); };"


async def _choose(person, kind, name):
    """Opens the menu and takes what is called so."""
    await person.click(f"{kind}-more")
    item = f"{ITEMS % kind}.find((item) => item.innerText.trim() === {json.dumps(name)})"
    await person.until(f"!!{item}")
    await person.tab.evaluate(f"{item}.click()")


async def _shows(watching, name, colour):
    await watching.until(f"{SEES % watching.tile(name)} === {json.dumps(colour)}")


async def _change(report, name, ada, bob):
    """From the blue camera to another one, and another microphone; then the camera is pulled out, and the first one taken."""
    line = f"page, {name}: "
    await _shows(bob, "Ada", "blue")
    await ada.until("window.roostPage.room.publications.length === 2")
    offers = await ada.tab.evaluate("return window.offers")
    await _choose(ada, "camera", "The red one")
    await _shows(bob, "Ada", "red")
    await _choose(ada, "microphone", "The high one")
    sent = await ada.until("window.roostPage.room.publications.map(({ track }) => track?.getSettings().deviceId).sort()"
                           ".join() === 'high,red' && 'red and high'")
    more = await ada.tab.evaluate("return window.offers") - offers
    left = await ada.tab.evaluate(
        "return window.inUse.filter(([, track]) => track.readyState === 'live').map(([id]) => id).sort()")
    holds = report.row(f"{line}another camera and microphone in mid-call", "seen there, no offer, the old ones let go",
                       f"{sent}, {more} offers, open: {', '.join(left)}", more == 0 and left == ["high", "red"])

    await ada.tab.evaluate("window.unplug('red')")
    said = await ada.text("notice-text")
    await bob.sees("Ada", "!tile.classList.contains('has-picture')")
    is_off = await ada.tab.evaluate("return document.getElementById('camera').getAttribute('aria-pressed') === 'false'")
    await ada.click("notice-action")
    await ada.until(f"{OPEN % 'camera'} && {ITEMS % 'camera'}.length === 1 && document.activeElement === {ITEMS % 'camera'}[0]")
    await ada.tab.press("Enter")
    await _shows(bob, "Ada", "blue")
    more = await ada.tab.evaluate("return window.offers") - offers
    holds &= report.row(f"{line}its camera is pulled out", "said, off for others, another chosen and seen, no offer",
                        f"“{said}”, {more} offers", is_off and "disconnected" in said and more == 0)

    # Nothing of the kind is left; then the microphone.
    await ada.tab.evaluate("window.unplug('low'); window.unplug('high')")
    await ada.until("document.getElementById('notice-text').textContent.includes('microphone')")
    await bob.sees("Ada", "!tile.querySelector('.microphone-mark').hidden")
    complaints = await ada.tab.evaluate("return window.complaints")
    return holds & report.row(f"{line}its only microphones are pulled out", "others see it muted", complaints or "so",
                              complaints == [])


async def _menu(report, name, ada):
    """The menu of devices by keyboard alone: from the red camera to the blue one."""
    await ada.until("document.activeElement.id === 'call'")
    await ada.tab_to("camera-more")
    await ada.tab.press("Enter")
    focused = "document.activeElement.innerText.trim()"
    await ada.until(f"{OPEN % 'camera'} && {focused} === 'The red one'")
    await ada.tab.press("ArrowDown")
    await ada.until(f"{focused} === 'The blue one'")
    await ada.tab.press("ArrowDown")  # round to the first
    await ada.until(f"{focused} === 'The red one'")
    await ada.tab.press("v")  # no key of the call's in here
    await ada.tab.press("Escape")
    await ada.until(f"!({OPEN % 'camera'}) && document.activeElement.id === 'camera-more'")
    is_on = await ada.tab.evaluate("return document.getElementById('camera').getAttribute('aria-pressed')")
    await ada.tab.press("ArrowUp")
    await ada.until(OPEN % "camera")
    await ada.tab.press("ArrowUp")
    await ada.tab.press("Enter")
    await ada.until("window.roostPage.room.publications.some(({ track }) => track?.getSettings().deviceId === 'blue')")
    await ada.until("document.activeElement.id === 'camera-more'")
    return report.row(f"page, {name}: menu of cameras by keyboard", "arrows, Enter, Escape; letters do nothing",
                      "so" if is_on == "true" else "the camera was switched", is_on == "true")


async def _speaker(report, server, chromium):
    """Chromium's own pretended devices: which speaker plays the others, and which microphone is sent."""
    ada, bob = await asyncio.gather(Person.join(chromium, server, "speaker", "Ada", SINK),
                                    Person.join(chromium, server, "speaker", "Bob"))
    await ada.sees_picture("Bob")
    await _choose(ada, "microphone", "Fake Audio Output 1")
    sink = await ada.until(f"{ada.tile('Bob')}.querySelector('video').sinkId")
    await _choose(ada, "microphone", "Fake Audio Input 1")
    label = await ada.until("window.roostPage.room.publications.find(({ track }) => track?.kind === 'audio'"
                            " && track.label === 'Fake Audio Input 1')?.track.label")
    # Who comes later is heard by it too.
    eve = await Person.join(chromium, server, "speaker", "Eve")
    await ada.sees("Eve", f"tile.querySelector('video').sinkId === {json.dumps(sink)}")
    for person in (ada, bob, eve):
        await person.leave()
    return report.row("page, chromium: its second speaker and microphone", "in use", f"{label}, {bool(sink)}", True)


async def _refused(report, server, room, browser, bob):
    """A guest that refuses camera and microphone reads so and joins to listen."""
    eve = await Person.arrive(browser, server, room, "Eve", REFUSE)
    said = await eve.text("notice-text")
    hint = await eve.text("join-hint")
    await eve.click("join-button")
    await eve.until(IN_CALL)
    await eve.sees_picture("Bob")
    await bob.sees("Eve", "!tile.querySelector('.microphone-mark').hidden")
    sent = await eve.tab.evaluate("return window.roostPage.room.publications.length")
    await eve.leave()
    return report.row(f"page, {browser.name}: camera and microphone refused", "said, then joins to watch and listen",
                      f"“{said}” “{hint}”, sends {sent}",
                      "allow camera and microphone" in said and "watch and listen" in hint and sent == 0)


async def _screen(report, names, ada, bob):
    """A shared screen is a large tile at the other's, until the page or the browser's own sign ends it."""
    await bob.sees_picture("Ada")
    await ada.click("screen")
    await bob.sees_picture("Ada: screen")
    sizes = await bob.tab.evaluate(
        f"return [{bob.tile('Ada: screen')}, {bob.tile('Ada')}].map((tile) => tile.clientWidth * tile.clientHeight)")
    await ada.click("screen")
    await bob.sees_no("Ada: screen")
    await bob.sees_picture("Ada")
    # And once more, in sections that were used before.
    await ada.click("screen")
    await bob.sees_picture("Ada: screen")
    # As the browser's "stop sharing" does.
    await ada.tab.evaluate("window.endTrack(roostPage.room.publications.find(({ source }) => source === 'screen_share').track)")
    await bob.sees_no("Ada: screen")
    await ada.sees_no("Your screen")
    pressed = await ada.tab.evaluate("return document.getElementById('screen').getAttribute('aria-pressed')")
    complaints = [await person.tab.evaluate("return window.complaints") for person in (ada, bob)]
    return report.row(f"page, {names[0]} shares a screen with {names[1]}, stops, shares, the browser stops it",
                      "a tile 4 times as large, twice; then gone", f"{sizes[0] / sizes[1]:.1f} times",
                      sizes[0] > 4 * sizes[1] and pressed == "false" and complaints == [[], []])


async def _call(report, server, browser, other):
    """Ada in one browser does what Bob in the other one watches."""
    room = f"devices-{browser.name}"
    bob, ada = await asyncio.gather(Person.join(other, server, room, "Bob"),
                                    Person.join(browser, server, room, "Ada", DEVICES + browser.SCREEN))
    await _shows(bob, "Ada", "red")
    holds = await _menu(report, browser.name, ada)
    holds &= await _change(report, browser.name, ada, bob)
    holds &= await _screen(report, (browser.name, other.name), ada, bob)
    await ada.leave()
    holds &= await _refused(report, server, room, browser, bob)
    await bob.leave()
    return holds


async def meet(report, options, server, chromium, firefox):
    holds = True
    for one, other in ((chromium, firefox), (firefox, chromium)):
        holds &= await _call(report, server, one, other)
    holds &= await _speaker(report, server, chromium)
    return holds
