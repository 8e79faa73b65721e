"""Rooms that are full: fifty who join within a second, and two hundred of whom one has hardly any connection."""

import asyncio
import json
import os

from harness.evidence import kept_on_failure
from harness.link import Link, settings
from harness.process import Process
from harness.server import Server

SLOW = {"rate": 50_000}  # bits a second
JOINING = 50
ROOM = 200


async def _load(binary, name, words, network=None):
    """Runs roost-load to its end; answers its report."""
    command = [binary, "--json", "--quiet", *words]
    process = Process(name, network.inside(command) if network else command)
    process.start()
    try:
        return await process.wait_for("report", lambda: _report(process), 180)
    finally:
        await process.end()


def _report(process):
    for line in process.log().splitlines():
        if line.startswith("{"):
            try:
                return json.loads(line)
            except json.JSONDecodeError:
                return None
    return None


async def _joining(report, load):
    seen = await _load(load, "joining", ["--room", "joining", "--publishers", "1", "--subscribers", str(JOINING), "--join-rate",
                                         str(JOINING), "--video", "500k", "--duration", "3"])
    first = seen["firstMedia"]
    return report.row(f"{JOINING} subscribers join within a second: click on join to the first packet of the picture",
                      "at most 1 s, all of them",
                      f"{first['maximum']:.0f} ms at most, p50 {first['p50']:.0f} ms, {seen['joined']} of {seen['participants']} in",
                      first["maximum"] <= 1_000 and seen["joined"] == seen["participants"] and seen["tracksNeverSeen"] == 0)


async def _first_pictures(report, load):
    seen = await _load(load, "pictures", ["--room", "pictures", "--publishers", "1", "--subscribers", str(JOINING), "--join-rate",
                                          str(JOINING // 2), "--video", "1.5M", "--layers", "3", "--feedback", "on", "--duration", "3"])
    first = seen["firstPicture"]
    return report.row(f"{JOINING} subscribers join within two seconds: click on join to the first whole picture of a simulcast",
                      "99 of 100 within 1 s",
                      f"p50 {first['p50']:.0f} ms, p99 {first['p99']:.0f} ms, {seen['joined']} of {seen['participants']} in",
                      first["p99"] <= 1_000 and seen["joined"] == seen["participants"] and seen["tracksNeverSeen"] == 0)


async def _room(load, room, seconds):
    """The publisher and all but one of the subscribers."""
    return await _load(load, "room", ["--room", room, "--publishers", "1", "--subscribers", str(ROOM - 1), "--join-rate", "50",
                                      "--video", "300k", "--audio", "--feedback", "on", "--duration", str(seconds)])


async def _slow_one(load, room, link, seconds):
    # Behind the publisher, which begins the room.
    await asyncio.sleep(2)
    return await _load(load, "slow", ["--room", room, "--identity", "slow", "--publishers", "0", "--subscribers", "1", "--others", "1", "--feedback", "on",
                                      "--duration", str(seconds)], link.network)


def _loss(seen):
    return 100 * seen["never"] / max(seen["expected"], 1)


async def _one_slow(report, load, link, seconds):
    """Three pairs of rooms at most: the machine has a say in the slowest hundredth."""
    slowest, holds = [], True
    for number in range(3):
        without = await _room(load, f"without-{number}", seconds)
        before = (await link.counts())["down"]
        ours, slow = await asyncio.gather(_room(load, f"with-{number}", seconds), _slow_one(load, f"with-{number}", link, seconds))
        after = (await link.counts())["down"]
        came, lost = (after[what] - before[what] for what in ("packets", "overflowed"))
        holds &= report.row("the one on 50 kbit/s: is in, and gets what its path carries", "1 in, some packets",
                            f"{slow['joined']} in; its link passed {came - lost:.0f} and dropped {lost:.0f}",
                            slow["joined"] == 1 and came - lost > 0)
        holds &= report.row(f"{ROOM - 1} beside one on 50 kbit/s: what never arrived", "at most 0.1 points more than without it",
                            f"{_loss(ours):.3f} %, without {_loss(without):.3f} %", _loss(ours) - _loss(without) <= 0.1)
        slowest.append((ours["latency"]["p99"], without["latency"]["p99"]))
        if slowest[-1][0] <= 1.1 * slowest[-1][1]:
            break
    seen = ", ".join(f"{p99:.2f} ms beside {alone:.2f}" for p99, alone in slowest)
    return holds & report.row(f"{ROOM - 1} beside one on 50 kbit/s: latency, p99, best of three", "at most 10 % more than without it", seen,
                              any(p99 <= 1.1 * alone for p99, alone in slowest))


async def run(report, options):
    load = os.path.join(os.path.dirname(options.roost), "roost-load")
    if not os.access(load, os.X_OK):
        raise FileNotFoundError(f"no load at {load}: swift build -c release --product roost-load")
    async with Link(options.link, settings(**SLOW)) as link, Server(options.roost) as server:
        await link.network.pass_on(7880)
        async with kept_on_failure(report, options.evidence, (), (server.process,)):
            holds = await _joining(report, load)
            holds &= await _first_pictures(report, load)
            if options.full:
                holds &= await _one_slow(report, load, link, 30)
        server.process.require_running()
        return holds
