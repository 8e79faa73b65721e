"""Chromium and Firefox in one room, each reaching Roost through a TURN server's relay and by no other way."""

import asyncio
import json
import time
import urllib.request

from harness import turn
from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.media import FLOW_WANTED, measure_best, until_flowing
from harness.pages import Pages
from harness.server import Server

CONNECTION = "window.peerConnection"


def _token(identity, room):
    body = json.dumps({"room": room, "identity": identity}).encode()
    request = urllib.request.Request(f"{Server.ORIGIN}/dev/token", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=5) as answer:
        return json.load(answer)["token"]


async def _join(browser, pages, transport):
    await browser.open(pages.url("relayed.html"))
    room = f"relayed-{transport}"
    terms = {"url": Server.ORIGIN.replace("http", "ws"), "room": room, "token": _token(browser.name, room),
             "transport": transport}
    await browser.evaluate(f"await window.relayed.join({json.dumps(terms)})")
    await browser.wait_until(f"{CONNECTION}.connectionState === 'connected'")


async def _way(browser):
    """The kind of the browser's own candidate in the pair that is in use, and what it speaks with the relay."""
    stats = {entry["id"]: entry for entry in await browser.stats(CONNECTION)}
    pairs = [entry for entry in stats.values() if entry["type"] == "candidate-pair" and entry.get("nominated")
             and entry.get("state") == "succeeded" and entry.get("bytesSent", 0) > 0]
    kinds = {(stats[pair["localCandidateId"]]["candidateType"], stats[pair["localCandidateId"]].get("relayProtocol"))
             for pair in pairs}
    return kinds.pop() if len(kinds) == 1 else kinds


async def _both_ways(report, pages, browsers, transport, seconds):
    for browser in browsers:
        await _join(browser, pages, transport)
    ways = [browsers, browsers[::-1]]
    await asyncio.gather(*(until_flowing(*way, CONNECTION) for way in ways))
    flows = await asyncio.gather(*(measure_best(*way, CONNECTION, seconds) for way in ways))
    holds = True
    for (publisher, subscriber), flow in zip(ways, flows):
        holds &= report.row(f"{publisher.name} to {subscriber.name}, both by TURN over {transport}", FLOW_WANTED,
                            flow, flow.holds)
    for browser in browsers:
        way = await _way(browser)
        holds &= report.row(f"{browser.name}: its way to the server", f"relay by {transport}", way,
                            way == ("relay", transport))
    return holds


async def _names(report, browser):
    """User names that were changed or have expired open no relay."""
    server = (await browser.evaluate("return window.relayed.iceServers"))[0]
    expiry, user = server["username"].split(":")
    good = server | {"urls": turn.url("udp")}
    cases = [
        ("as it was given", good, True),
        ("with another session's id", good | {"username": f"{expiry}:PA_other"}, False),
        ("with a later end", good | {"username": f"{int(expiry) + 9999}:{user}"}, False),
        ("that has expired", turn.signed(f"{int(time.time()) - 10}:{user}"), False),
    ]
    holds = True
    for what, case, wanted in cases:
        found = await browser.evaluate(f"return await window.relayed.candidates({json.dumps(case)})", 40)
        holds &= report.row(f"{browser.name}: a user name {what}", "a relay" if wanted else "no relay",
                            f"{len(found)} candidates", bool(found) == wanted)
    return holds


async def run(report, options):
    arguments = ["--turn.urls", f"{turn.url('udp')},{turn.url('tcp')}"]
    secret = {"ROOST_TURN_SECRET": turn.SECRET}
    with Pages() as pages:
        async with (turn.Turn() as relay, Server(options.roost, options=arguments, environment=secret) as server,
                    Chromium() as chromium, Firefox() as firefox):
            browsers = (chromium, firefox)
            async with kept_on_failure(report, options.evidence, browsers, (server.process, relay.process)):
                holds = True
                for transport in ("udp", "tcp"):
                    holds &= await _both_ways(report, pages, browsers, transport, options.seconds)
                holds &= await _names(report, chromium)
            server.process.require_running()
            relay.process.require_running()
            return holds
