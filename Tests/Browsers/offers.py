"""Every offer in Tests/Fixtures/sdp made again by the live browser, answered by the server, the answer set there."""

import glob
import json
import os
import re

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.pages import source
from harness.server import Server

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Fixtures/sdp")
WANTED = "an offer like the recorded one, its answer set, everything but data accepted"


def sections(sdp):
    """Of each section: kind, port, direction, codecs in their order, simulcast."""
    head, *parts = re.split(r"^m=", sdp, flags=re.MULTILINE)
    inherited = direction(head)
    found = []
    for part in parts:
        kind, port, _, *formats = part.splitlines()[0].split()
        names = dict(re.findall(r"^a=rtpmap:(\d+) ([\w-]+)/", part, re.MULTILINE))
        simulcast = re.search(r"^a=simulcast:(\w+) (\S+)", part, re.MULTILINE)
        found.append({
            "kind": kind, "port": int(port), "direction": direction(part) or inherited or "sendrecv",
            "codecs": [names[number] for number in formats if number in names],
            "simulcast": simulcast and simulcast.groups(),
        })
    return found


def direction(text):
    found = re.search(r"^a=(sendrecv|sendonly|recvonly|inactive)\s*$", text, re.MULTILINE)
    return found and found[1]


REVERSED = {"sendrecv": "sendrecv", "sendonly": "recvonly", "recvonly": "sendonly", "inactive": "inactive"}


def shape(sdp):
    return [(each["kind"], each["direction"], each["codecs"], each["simulcast"]) for each in sections(sdp)]


def faults(recorded, result):
    """What is wrong with an offer, its answer, or what the browser made of it."""
    if shape(recorded) != shape(result["offer"]):
        yield f"the offer differs: {shape(result['offer'])}, not {shape(recorded)}"
    if result["state"] != "stable":
        yield f"signalling is {result['state']}"
    offered, answered = sections(result["offer"]), sections(result["answer"])
    if len(offered) != len(answered):
        yield f"{len(answered)} sections answer {len(offered)}"
    for number, (ours, theirs) in enumerate(zip(offered, answered)):
        if ours["kind"] == "application":
            if theirs["port"] != 0:
                yield f"section {number} is accepted"
            continue
        if theirs["port"] == 0:
            yield f"section {number} is declined"
        if theirs["direction"] != REVERSED[ours["direction"]]:
            yield f"section {number} is {theirs['direction']} to {ours['direction']}"
        if not set(theirs["codecs"]) <= set(ours["codecs"]):
            yield f"section {number} has codecs of its own"
        wanted = ours["simulcast"] and ("recv", ours["simulcast"][1])
        if theirs["simulcast"] != wanted:
            yield f"section {number} takes {theirs['simulcast']}, not {wanted}"


async def _all_of(report, server, browser):
    await browser.open(server.bare())
    await browser.evaluate(source("signaller.js") + source("client.js") + source("offers.js"))
    holds = True
    for path in sorted(glob.glob(os.path.join(FIXTURES, f"{browser.name}-*-offer.sdp"))):
        name = re.match(r"\w+-\d+-(.*)-offer\.sdp", os.path.basename(path))[1]
        with open(path, newline="") as file:
            recorded = file.read()
        try:
            found = list(faults(recorded, await browser.evaluate(f"return window.offers.run({json.dumps(name)})")))
        except Exception as error:  # one that fails says nothing about the others
            found = [f"{type(error).__name__}: {error}"]
        holds &= report.row(f"{browser.name} offers {name}", WANTED, "; ".join(found)[:600] or "so", not found)
    return holds


async def run(report, options):
    if not os.access(options.roost, os.X_OK):
        raise FileNotFoundError(f"no server at {options.roost}: swift build -c release --product roost")
    async with Server(options.roost) as server, Chromium() as chromium, Firefox() as firefox:
        async with kept_on_failure(report, options.evidence, (chromium, firefox), (server.process,)):
            holds = await _all_of(report, server, chromium)
            holds &= await _all_of(report, server, firefox)
        server.process.require_running()
        return holds
