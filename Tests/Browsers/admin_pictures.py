"""/admin: pictures of tracks in each codec of which there are some, decoded by the browser; and none of tracks that are encrypted."""

import asyncio
import json

from harness.administration import NOTICE, administer, track_of
from harness.pages import source
from harness.person import TABS, new_tab

CODECS = ("VP8", "VP9", "H264")
# Somebody who sends one moving picture, in one codec alone; encrypted it says that it is.
PUBLISH = """
window.client = new window.RoostTestClient();
await client.join(%s, %s);
client.add('video', 'sendonly', { only: [%s] });
await client.connection.setLocalDescription();
const answer = await client.signaller.offer(client.connection, [{ mid: '0', source: 'camera', encrypted: %s }]);
await client.connection.setRemoteDescription({ type: 'answer', sdp: answer.sdp });
"""
LOOK = "(%s)?.querySelector('.look')"
ABOUT = "((%s)?.querySelector('.about').textContent ?? '')"
SHOWN = "document.querySelector('.picture:not([hidden]) canvas')"
# Size, how light the lightest pixel is, how many different colours there are, and how many pixels nothing was drawn on.
PICTURE = """
const canvas = document.querySelector('.picture:not([hidden]) canvas');
const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
const colours = new Set();
let [light, bare] = [0, 0];
for (let place = 0; place < data.length; place += 4) {
  light = Math.max(light, data[place] + data[place + 1] + data[place + 2]);
  colours.add((data[place] >> 5 << 6) | (data[place + 1] >> 5 << 3) | (data[place + 2] >> 5));
  if (data[place + 3] < 255) bare += 1;
}
return [canvas.width, canvas.height, light, colours.size, bare];
"""
# Whether pictures of that kind are decoded here, as the browser itself says.
DECODES = """return 'VideoDecoder' in window
  && (await VideoDecoder.isConfigSupported({ codec: %s }).catch(() => ({ supported: false }))).supported"""
NAMES = {"VP8": "vp8", "VP9": "vp09.00.10.08", "H264": "avc1.42e01f"}


async def _publisher(browser, server, room, name, codec, encrypted=False):
    tab = await new_tab(browser)
    await tab.open(server.bare())
    await tab.evaluate(source("signaller.js") + source("client.js"))
    await tab.evaluate(PUBLISH % (json.dumps(room), json.dumps(name), json.dumps(codec.lower()), json.dumps(encrypted)))
    return tab


async def _end(tab):
    TABS.remove(tab)
    await tab.close()


async def _shown(report, admin, browser, codec):
    """Asked for by pointer: a browser that decodes it has to show it, another one has to say why not. Chromium decodes each."""
    track = track_of(codec, "Camera")
    about = await admin.until(f"{ABOUT % track}.includes({json.dumps(codec)}) && !({LOOK % track}).hidden && {ABOUT % track}", 30)
    decodes = await admin.tab.evaluate(DECODES % json.dumps(NAMES[codec]))
    wanted = "decoded here" if decodes else "this browser doesn't decode it, and that is said"
    # Of one track there is a picture every two seconds; another browser may have had the last.
    for _ in range(4):
        await admin.tab.evaluate("document.getElementById('notice').hidden = true")
        await admin.click_on(LOOK % track)
        await admin.until(f"!!{SHOWN} || {NOTICE}", 10)
        said = await admin.tab.evaluate(f"return !{SHOWN} && {NOTICE}")
        if "two seconds" not in str(said):
            break
        await asyncio.sleep(2.2)
    if not decodes:
        return report.row(f"/admin, {browser.name}: a picture in {codec}", wanted, f"“{said}”", "decode" in str(said) and browser.name != "chromium")
    if said:
        return report.row(f"/admin, {browser.name}: a picture in {codec}", wanted, f"“{said}”", False)
    width, height, light, colours, bare = await admin.tab.evaluate(PICTURE)
    await admin.click_on("document.querySelector('.picture:not([hidden]) button')")
    await admin.until(f"!{SHOWN}")
    return report.row(f"/admin, {browser.name}: a picture in {codec}", wanted, f"{about}: {width}×{height}, {light}, {colours} colours, {bare} bare",
                      width * 9 == height * 16 and light > 400 and colours > 10 and bare == 0)


async def _encrypted(report, admin, browser):
    """Its line says so, and has no button; that of the same codec that isn't encrypted has one."""
    about = await admin.until(f"{ABOUT % track_of('Encrypted', 'Camera')}.includes('bit/s') && {ABOUT % track_of('Encrypted', 'Camera')}", 30)
    hidden = [await admin.tab.evaluate(f"return ({LOOK % track_of(name, 'Camera')}).hidden") for name in ("Encrypted", "VP8")]
    return report.row(f"/admin, {browser.name}: a track that is encrypted", "said, and no picture offered, unlike that of another", f"{about}, {hidden}",
                      "encrypted" in about and hidden == [True, False])


async def meet(report, options, server, chromium, firefox):
    room = "decoded"
    publishers = [await _publisher(chromium, server, room, codec, codec) for codec in CODECS]
    publishers.append(await _publisher(chromium, server, room, "Encrypted", "VP8", encrypted=True))
    holds = True
    for browser in (chromium, firefox):
        admin = await administer(options, server, browser, room)
        for codec in CODECS:
            holds &= await _shown(report, admin, browser, codec)
        holds &= await _encrypted(report, admin, browser)
        complaints = await admin.tab.evaluate("return window.complaints")
        holds &= report.row(f"/admin, {browser.name}: pictures of all codecs, policy and scripts", "no complaint", complaints or "none", complaints == [])
        await admin.leave()
    for each in publishers:
        await _end(each)
    return holds
