"""A WebSocket that is cut off again and again under traffic, at the server's own page: no one notices.

Between the browsers and the server's HTTP stands a proxy that resets connections at random moments and, where it lets
them begin, after random numbers of bytes; media goes its own way. Meanwhile both people mute and unmute and speak to each
other by `data`.
"""

import asyncio
import random

from harness.calls import token
from harness.chromium import Chromium
from harness.cutter import Cutter
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.guests import shown
from harness.rest import participants
from harness.server import Server

# Of each of both sockets, at least.
CUTS = {True: 50, False: 6}
CONNECTED = "window.roostPage?.peerConnection?.connectionState === 'connected'"
# What comes in the page, from the moment of joining; the longest time without another picture.
WATCH = """
window.seen = { events: [], data: [], joins: 0, states: [], closed: null, complaints: [] };
window.addEventListener("unhandledrejection", ({ reason }) => seen.complaints.push(String(reason)));
const follow = (room) => {
  seen.joins += 1;
  room.addEventListener("joined", () => (seen.joins += 1));
  room.addEventListener("event", ({ detail }) => seen.events.push(detail.id));
  room.addEventListener("data", ({ detail }) => seen.data.push(Number(atob(detail.payload))));
  room.addEventListener("state", ({ detail }) => seen.states.push(detail));
  room.addEventListener("closed", ({ detail }) => (seen.closed = detail.reason));
  room.addEventListener("error", ({ detail }) => seen.complaints.push(String(detail)));
};
follow(roostPage.room);
window.pictures = { count: 0, at: performance.now(), pause: 0 };
setInterval(async () => {
  const stats = [...(await roostPage.peerConnection.getStats()).values()];
  const count = Math.max(0, ...stats.filter(({ type, kind }) => type === "inbound-rtp" && kind === "video")
    .map(({ framesDecoded }) => framesDecoded ?? 0));
  const now = performance.now();
  if (count > pictures.count) Object.assign(pictures, { count, at: now });
  pictures.pause = Math.max(pictures.pause, now - pictures.at);
}, 100);
"""
# One after the other: who is cut off waits for the answer, and goes on.
TRAFFIC = """
window.traffic = { isOn: true, done: 0, sent: 0 };
traffic.end = (async () => {
  const room = roostPage.room;
  while (traffic.isOn) {
    for (const publication of room.publications.filter(({ source }) => source === "microphone")) {
      await room.mute(publication, !publication.muted);
      traffic.done += 1;
    }
    await room.sendData(btoa(++traffic.sent));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
})();
"""
STATE = """
const plain = (participant) => ({ ...participant, tracks: [...participant.tracks].sort((a, b) => a.id < b.id ? -1 : 1) });
const room = roostPage.room;
return [room.me, ...room.participants.values()].map(plain).sort((a, b) => a.id < b.id ? -1 : 1);
"""
# Whose track plays in which section, for as long as it does.
PLAYING = """
return roostPage.peerConnection.getTransceivers()
  .map(({ mid }) => [roostPage.room.trackAt(mid)?.track.id, mid]).filter(([track]) => track).sort();
"""
# What only administrators hear.
ADMINISTRATION = ("joinedAt", "hidden", "quality", "bitrates", "subscriptions")


def rest_state(everybody):
    """What REST says of those in the room, as far as everybody may see it."""
    for participant in everybody:
        participant["tracks"].sort(key=lambda track: track["id"])
    public = [{key: value for key, value in each.items() if key not in ADMINISTRATION} for each in everybody]
    return sorted(public, key=lambda participant: participant["id"])


async def room_state(server, room):
    """What the server says to a guest that comes in now, hidden from no one but alone in asking."""
    joined = await shown(server, room, token(server, room, "observer"))
    for participant in joined["participants"]:
        participant["tracks"].sort(key=lambda track: track["id"])
    return sorted(joined["participants"], key=lambda participant: participant["id"]), joined["lastEvent"]


async def cut_for(cutter, count, chance, browsers):
    """Cuts all connections at random moments, and lets some of those that follow live for some bytes only."""
    connected = "seen.states.filter((each) => each === 'connected').length"
    for _ in range(count):
        before = [await browser.evaluate(f"return {connected}") for browser in browsers]
        await asyncio.sleep(0.6 * chance.random())
        doomed = [chance.choice((0, 0, 1, 2))]

        def budget():
            doomed[0] -= 1
            return int(200 * 2 ** (5 * chance.random())) if doomed[0] >= 0 else float("inf")

        cutter.budget = budget
        cutter.cut()
        for browser, count_before in zip(browsers, before):
            await browser.wait_until(f"{connected} > {count_before}")
    cutter.budget = None
    cutter.cut()


async def _run(report, options, server, browsers, cutter):
    room = "cut"
    for browser in browsers:
        address = server.page(room, browser.name, True) + "&source=noise"
        await browser.open(address.replace(":7880", f":{cutter.port}"))
        await browser.wait_until(CONNECTED)
    for browser in browsers:
        await browser.wait_until("[...document.querySelectorAll('#stage video')].length === 2")
        await browser.evaluate(WATCH)
    await asyncio.sleep(1)
    for browser in browsers:
        await browser.wait_until("pictures.count > 5")
        await browser.evaluate("pictures.pause = 0; pictures.at = performance.now()")
        await browser.evaluate(TRAFFIC)
    wanted = CUTS[options.full]
    await cut_for(cutter, wanted, random.Random(5), browsers)
    holds = True
    for browser in browsers:
        await browser.evaluate("traffic.isOn = false; await traffic.end")
    expected, last = await room_state(server, room)
    for browser in browsers:
        # The observer came and went.
        await browser.wait_until(f"seen.events.at(-1) >= {last + 1}")
        seen = await browser.evaluate("return { ...seen, pause: pictures.pause, done: traffic.done, sent: traffic.sent }")
        other = next(each for each in browsers if each is not browser)
        sent = await other.evaluate("return traffic.sent")
        events = seen["events"]
        whole = events == list(range(events[0], events[0] + len(events)))
        resumed = seen["states"].count("connected")
        stays = (seen["joins"], seen["closed"], seen["complaints"]) == (1, None, [])
        holds &= report.row(
            f"{browser.name}: its WebSocket cut off at random, under traffic", "one session, no event lost or twice",
            f"{cutter.cuts} connections cut, resumed {resumed} times, {len(events)} events"
            + ("" if whole else f", not in order: {events}")
            + ("" if stays else f", joined {seen['joins']} times, closed {seen['closed']}, {seen['complaints'][:3]}"),
            whole and stays and resumed >= wanted)
        twice = len(seen["data"]) - len(set(seen["data"]))
        holds &= report.row(f"{browser.name}: messages from the other", "none twice, none late",
                            f"{len(seen['data'])} of {sent}, {twice} twice",
                            seen["data"] == sorted(set(seen["data"])) and seen["data"] != [])
        holds &= report.row(f"{browser.name}: longest time without a new picture meanwhile", "at most 1 s",
                            f"{seen['pause'] / 1000:.2f} s", seen["pause"] <= 1000)
        state = await browser.evaluate(STATE)
        holds &= report.row(f"{browser.name}: roost.js has the state that the server has", "the same, field by field",
                            "the same" if state == expected else f"{state} and not {expected}"[:600], state == expected)
        everybody = participants(server, options.roost, room)
        me = next(each for each in everybody if each["identity"] == browser.name)
        slots = sorted([each["track"], each["mid"]] for each in me["subscriptions"] if each.get("mid"))
        seen = [state, await browser.evaluate(PLAYING)]
        wanted_seen = [rest_state(everybody), slots]
        holds &= report.row(f"{browser.name}: roost.js shows the same state as REST", "people, tracks, what plays where",
                            f"the same, {len(slots)} play" if seen == wanted_seen else f"{seen} and not {wanted_seen}"[:900],
                            seen == wanted_seen and len(slots) == 2)
    return holds


async def run(report, options):
    async with Server(options.roost) as server, Chromium() as chromium, Firefox() as firefox:
        browsers = (chromium, firefox)
        async with Cutter("127.0.0.1", 7880) as cutter:
            async with kept_on_failure(report, options.evidence, browsers, (server.process,)):
                holds = await _run(report, options, server, browsers, cutter)
        server.process.require_running()
        return holds
