"""Which codec roost.js sends a camera in: the better one while everyone takes it, VP8 as long as somebody doesn't."""

import asyncio
import json

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.person import TABS, new_tab
from harness.rest import token
from harness.server import Server

ROOM = "codecs"
# A browser that knows nothing but VP8.
ONLY_VP8 = """
const add = RTCPeerConnection.prototype.addTransceiver;
RTCPeerConnection.prototype.addTransceiver = function (...words) {
  const transceiver = add.apply(this, words);
  if (transceiver.receiver.track.kind === "video") transceiver.setCodecPreferences(
    RTCRtpReceiver.getCapabilities("video").codecs.filter(({ mimeType }) => /VP8|rtx/.test(mimeType)));
  return transceiver;
};
"""
JOIN = """
const { Room } = await import("/roost.js");
const room = window.room = new Room({ url: location.origin, room: %s, token: %s, codecs: ["VP9"] });
window.shown = [];
room.addEventListener("media", ({ detail: { stream, tracks } }) => {
  const video = window.video ??= document.body.appendChild(document.createElement("video"));
  [video.muted, video.autoplay, video.srcObject] = [true, true, stream];
  const note = () => { window.shown.push(performance.now()); video.requestVideoFrameCallback(note); };
  if (!window.follows) { window.follows = true; video.requestVideoFrameCallback(note); }
});
await room.connect();
"""
PUBLISH = """
window.stream = await navigator.mediaDevices.getUserMedia({ video: { width: 640, height: 360 } });
await room.publish(stream);
"""
# Codecs of what is sent or received now, by their names; and how many encodings are sent.
CODECS = """
const stats = await room.connection.getStats();
const flows = [...stats.values()].filter((each) => each.type === %s && each.kind === "video" && each.codecId);
return [[...new Set(flows.filter((each) => each.active !== false).map((each) => stats.get(each.codecId).mimeType.split("/")[1]))], flows.length];
"""
GAP = """
const shown = window.shown.filter((time) => time >= %f);
return Math.max(...shown.slice(1).map((time, index) => time - shown[index]));
"""


async def _join(options, browser, server, name, stand_in=""):
    tab = await new_tab(browser, stand_in)
    await tab.open(f"{server.ORIGIN}/")
    permission = token(options.roost, "--room", ROOM, "--identity", name)
    await tab.evaluate(JOIN % (json.dumps(ROOM), json.dumps(permission)))
    return tab


async def _becomes(tab, kind, codec, seconds):
    """Seconds until that alone flows; None: it never did."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    while loop.time() - start < seconds:
        found, _ = await tab.evaluate(CODECS % json.dumps(kind))
        if found == [codec]:
            return loop.time() - start
        await asyncio.sleep(0.1)
    return None


def _seconds(time):
    return "never" if time is None else f"{time:.1f} s"


async def _measure(report, options, browser, server):
    ada = await _join(options, browser, server, "ada")
    await ada.evaluate(PUBLISH)
    bob = await _join(options, browser, server, "bob")
    better = await _becomes(bob, "inbound-rtp", "VP9", 10)
    holds = report.row("everyone takes VP9: until it is received", "at most 5 s", _seconds(better), better is not None and better <= 5)
    await asyncio.sleep(3)
    sent, encodings = await ada.evaluate(CODECS % '"outbound-rtp"')
    holds &= report.row("everyone takes VP9: what is sent", "VP9 in two encodings or three, as they are watched", f"{', '.join(sent)} in {encodings}",
                        sent == ["VP9"] and encodings >= 2)
    since = await bob.evaluate("return performance.now()")
    eve = await _join(options, browser, server, "eve", ONLY_VP8)
    await eve.wait_until("window.shown.length > 5", 10)
    first = await eve.evaluate("return window.shown[0]")
    joined = await eve.evaluate("return performance.getEntriesByType('resource').at(-1).startTime")
    back = await _becomes(bob, "inbound-rtp", "VP8", 10)
    await asyncio.sleep(2)
    gap = await bob.evaluate(GAP % since)
    holds &= report.row("somebody comes who takes VP8 alone: from joining to a picture", "at most 3 s", f"{(first - joined) / 1000:.1f} s",
                        first - joined <= 3_000)
    holds &= report.row("somebody comes who takes VP8 alone: others get it, and see no stop", "VP8, no second without a picture",
                        f"after {_seconds(back)}, {gap:.0f} ms", back is not None and gap <= 1_000)
    since = await bob.evaluate("return performance.now()")
    TABS.remove(eve)
    await eve.evaluate("room.leave()")
    await eve.close()
    again = await _becomes(bob, "inbound-rtp", "VP9", 15)
    await asyncio.sleep(1)
    gap = await bob.evaluate(GAP % since)
    holds &= report.row("who took VP8 alone has gone: back in VP9", "between 4 and 12 s later, no second without a picture",
                        f"after {_seconds(again)}, {gap:.0f} ms", again is not None and 4 <= again <= 12 and gap <= 1_000)
    for tab in (ada, bob):
        TABS.remove(tab)
        await tab.close()
    return holds


async def run(report, options):
    async with Server(options.roost) as server, Chromium(flags=[Chromium.ALL_LAYERS]) as browser:
        async with kept_on_failure(report, options.evidence, TABS, (server.process,)):
            holds = await _measure(report, options, browser, server)
        server.process.require_running()
        return holds
