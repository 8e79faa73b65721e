"""WHIP from a page and WHEP in a page, by fetch from another origin: between browsers in every codec that both have, beside the native
protocol and aiortc, with a simulcast and over ICE restarts."""

import asyncio
import json
import os
import pathlib
import re

from harness.calls import token
from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.media import measure, until_flowing
from harness.pages import Pages, source
from harness.process import Process
from harness.server import Server

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONNECTION = "window.client.connection"
SHARE, PITCH = 0.95, 440
WANTED = f"at least {SHARE:.0%} of the pictures decoded, a tone of {PITCH} Hz"


async def open_page(browser, pages):
    await browser.open(pages.url("direct.html"))
    await browser.evaluate("".join(source(name) for name in ("signaller.js", "client.js", "whip.js")))


async def open_session(browser, server, door, room, identity, sections, query=""):
    """`sections`: JavaScript that adds them to `client`."""
    await browser.evaluate(f"""
        window.client?.close();
        const client = window.client = new window.RoostTestEncoder();
        {sections}
        return client.open({json.dumps(f"{server.ORIGIN}/{door}/{room}{query}")}, {json.dumps(token(server, room, identity))});
    """)
    await browser.wait_until(f"{CONNECTION}.connectionState === 'connected'")


async def publish(browser, server, room, codec, identity=None, encodings="null"):
    await open_session(browser, server, "whip", room, identity or browser.name, f"""
        client.add('audio', 'sendonly');
        client.add('video', 'sendonly', {{ only: [{json.dumps(codec.lower())}], encodings: {encodings} }});
    """)


async def play(browser, server, room, identity="viewer", query=""):
    await open_session(browser, server, "whep", room, identity, "client.add('audio', 'recvonly'); client.add('video', 'recvonly');", query)


async def join(browser, server, room, direction, codec):
    """Natively, as the page does."""
    kinds = "".join(f"client.add('{kind}', '{direction}', {only});" for kind, only in (
        ("audio", "{}"), ("video", "{ only: [" + json.dumps(codec.lower()) + "] }" if direction == "sendonly" else "{}")))
    await browser.evaluate(f"""
        window.client?.close();
        const client = window.client = new window.RoostTestEncoder();
        {kinds}
        await client.signaller.join({json.dumps(server.ORIGIN)}, {json.dumps(room)}, {json.dumps(token(server, room, browser.name + "-native"))});
        await client.connection.setLocalDescription();
        const answer = await client.signaller.offer(client.connection);
        await client.connection.setRemoteDescription({{ type: "answer", sdp: answer.sdp }});
    """)
    await browser.wait_until(f"{CONNECTION}.connectionState === 'connected'")


async def judge(report, line, publisher, subscriber, seconds):
    await until_flowing(publisher, subscriber, CONNECTION)
    flow = await measure(publisher, subscriber, CONNECTION, seconds)
    heard = await subscriber.evaluate("return window.client.pitch()")
    holds = flow.share >= SHARE and flow.sent > 10 * seconds and flow.energy > 0 and abs(heard - PITCH) < 25
    return report.row(line, WANTED, f"{flow.decoded} of {flow.sent} pictures ({flow.share:.1%}), {heard:.0f} Hz", holds)


async def between_browsers(report, server, publisher, subscriber, codec, seconds):
    room = f"{publisher.name}-{subscriber.name}-{codec}"
    await play(subscriber, server, room)
    await publish(publisher, server, room, codec)
    line = f"WHIP in {publisher.name} to WHEP in {subscriber.name} in {codec}"
    holds = await judge(report, line, publisher, subscriber, seconds)
    for browser in (publisher, subscriber):
        status = await browser.evaluate("return window.client.end()")
        holds &= report.row(f"{line}: DELETE at {browser.name}", "200", status, status == 200)
        await browser.evaluate("window.client = null")
    return holds


async def beside_the_page(report, server, publisher, subscriber, codec, seconds):
    """One by its session, the other by the native protocol."""
    room = f"native-{publisher.name}-{codec}"
    await join(subscriber, server, room, "recvonly", codec)
    await publish(publisher, server, room, codec)
    holds = await judge(report, f"WHIP in {publisher.name} to the native protocol in {subscriber.name} in {codec}", publisher, subscriber, seconds)
    room = f"native-back-{publisher.name}-{codec}"
    await play(subscriber, server, room)
    await join(publisher, server, room, "sendonly", codec)
    holds &= await judge(report, f"the native protocol in {publisher.name} to WHEP in {subscriber.name} in {codec}", publisher, subscriber, seconds)
    return holds


def aiortc(what, server, door, room, *more):
    return Process("aiortc", [str(ROOT / ".build-python/bin/python"), str(ROOT / "Tests/Clients/whip_peer.py"), what,
                              f"{server.ORIGIN}/{door}/{room}", token(server, room, f"aiortc-{what}"), *map(str, more)])


async def beside_aiortc(report, server, browser, codec, seconds):
    room = f"aiortc-{browser.name}-{codec}"
    player = aiortc("play", server, "whep", room, seconds + 40)
    player.start()
    try:
        await player.wait_for("connection", lambda: "connected" in player.log())
        await publish(browser, server, room, codec)
        await browser.wait_until("window.client.connection.connectionState === 'connected'")
        await asyncio.sleep(seconds)
        stats = await browser.stats(CONNECTION)
        await browser.evaluate("return window.client.end()")
        await browser.evaluate("window.client = null")
        sent = max(entry.get("framesSent", 0) for entry in stats if entry["type"] == "outbound-rtp" and entry.get("kind") == "video")
        said = json.loads((await player.wait_for("result", lambda: re.search(r"^\{.*\}$", player.log(), re.M)))[0])
    finally:
        await player.end()
    share = said["pictures"] / max(sent, 1)
    holds = report.row(f"WHIP in {browser.name} to WHEP in aiortc in {codec}", WANTED,
                       f"{said['pictures']} of {sent} pictures ({share:.1%}), {said['pitch']} Hz",
                       share >= SHARE and sent > 10 * seconds and abs(said["pitch"] - PITCH) < 25)
    room = f"from-aiortc-{browser.name}-{codec}"
    await play(browser, server, room)
    publisher = aiortc("publish", server, "whip", room, seconds, codec)
    publisher.start()
    try:
        said = json.loads((await publisher.wait_for("result", lambda: re.search(r"^\{.*\}$", publisher.log(), re.M), seconds + 30))[0])
    finally:
        await publisher.end()
    stats = await browser.stats(CONNECTION)
    decoded = sum(entry.get("framesDecoded", 0) for entry in stats if entry["type"] == "inbound-rtp" and entry.get("kind") == "video")
    energy = sum(entry.get("totalAudioEnergy", 0) for entry in stats if entry["type"] == "inbound-rtp" and entry.get("kind") == "audio")
    share = decoded / max(said["sent"], 1)
    return holds & report.row(f"WHIP in aiortc to WHEP in {browser.name} in {codec}", f"at least {SHARE:.0%} of the pictures decoded, sound",
                              f"{decoded} of {said['sent']} pictures ({share:.1%}), audio energy {energy:.4f}",
                              share >= SHARE and said["sent"] > 10 * seconds and energy > 0)


async def simulcast(report, server, publisher, subscriber, seconds):
    room = "simulcast"
    await play(subscriber, server, room)
    encodings = "[{ rid: 'q', scaleResolutionDownBy: 4 }, { rid: 'h', scaleResolutionDownBy: 2 }, { rid: 'f' }]"
    # Of small pictures Chromium sends one encoding alone.
    await publisher.evaluate("testCanvas.width = 1280; testCanvas.height = 720;")
    await publish(publisher, server, room, "VP8", encodings=encodings)
    await until_flowing(publisher, subscriber, CONNECTION)
    # What a path carries has to be found first.
    for _ in range(20):
        await asyncio.sleep(1)
        sent = {entry.get("rid") for entry in await publisher.stats(CONNECTION)
                if entry["type"] == "outbound-rtp" and entry.get("framesSent", 0) > 0}
        heights = {entry.get("frameHeight") for entry in await subscriber.stats(CONNECTION) if entry["type"] == "inbound-rtp"} - {None}
        if len(sent) == 3 and heights == {720}:
            break
    await publisher.evaluate("testCanvas.width = 320; testCanvas.height = 180;")
    return report.row("WHIP with a simulcast by RID", "three encodings sent, the largest shown", f"{sorted(sent)}, {heights} lines",
                      len(sent) == 3 and heights == {720})


async def restarts(report, server, publisher, subscriber, seconds):
    """ICE restarted at both ends, while what flows goes on."""
    room = f"restarts-{publisher.name}"
    await play(subscriber, server, room)
    await publish(publisher, server, room, "VP8")
    await until_flowing(publisher, subscriber, CONNECTION)
    statuses = [await browser.evaluate("return window.client.trickle()") for browser in (publisher, subscriber)]
    holds = report.row(f"candidates by PATCH, {publisher.name} publishing", "204", statuses, statuses == [204, 204])
    renewed = [await browser.evaluate("return window.client.restart()") for browser in (publisher, subscriber)]
    for browser in (publisher, subscriber):
        await browser.wait_until(f"['connected', 'completed'].includes({CONNECTION}.iceConnectionState)")
    holds &= report.row(f"ICE restarts by PATCH, {publisher.name} publishing", "another tag each", renewed, renewed == [True, True])
    return holds & await judge(report, f"after ICE restarts, {publisher.name} publishing", publisher, subscriber, seconds)


async def run(report, options):
    if not os.access(options.roost, os.X_OK):
        raise FileNotFoundError(f"no server at {options.roost}: swift build -c release --product roost")
    # There are many windows, and each shows what it is to show soon.
    seconds, holds = min(options.seconds, 6), True
    async with Server(options.roost) as server:
        with Pages() as pages:
            async with Chromium() as chromium, Firefox() as firefox:
                async with kept_on_failure(report, options.evidence, (chromium, firefox), (server.process,)):
                    for browser in (chromium, firefox):
                        await open_page(browser, pages)
                    for codec in ("VP8", "VP9"):
                        holds &= await between_browsers(report, server, chromium, firefox, codec, seconds)
                        holds &= await between_browsers(report, server, firefox, chromium, codec, seconds)
                    holds &= await beside_the_page(report, server, chromium, firefox, "VP8", seconds)
                    holds &= await beside_the_page(report, server, firefox, chromium, "VP9", seconds)
                    holds &= await beside_aiortc(report, server, firefox, "VP8", seconds)
                    holds &= await beside_aiortc(report, server, chromium, "H264", seconds)
                    holds &= await simulcast(report, server, chromium, firefox, seconds)
                    holds &= await restarts(report, server, chromium, firefox, seconds)
                    holds &= await restarts(report, server, firefox, chromium, seconds)
            async with Chromium() as one, Chromium() as other:
                async with kept_on_failure(report, options.evidence, (one, other), (server.process,)):
                    for browser in (one, other):
                        await open_page(browser, pages)
                    holds &= await between_browsers(report, server, one, other, "H264", seconds)
        server.process.require_running()
    return holds
