"""Layers that are switched by command, in every codec that Chromium sends in layers, and with frames encrypted end to end."""

import asyncio
from dataclasses import dataclass

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.figures import Figures
from harness.link import settings
from harness.quality import total
from harness.stage import PUBLISHER, Stage

HIGH = 360  # lines
SPARE_GAP = 150  # milliseconds beside the longest gap without a switch
STILL_GAP = 1_000  # milliseconds; what a switch may take means nothing beside a standstill
PAUSE = 2.0  # seconds from a switch to the next
SHORT_PAUSE = 1.0
REPETITIONS = 2  # of a run in which the publisher's processor was short


@dataclass
class Way:
    """One that Chromium publishes in: simulcast, or with a mode of scalability."""

    codec: str
    mode: str | None = None
    encrypted: bool = False

    def __str__(self):
        return f"{self.codec} {self.mode or 'simulcast'}{', encrypted' if self.encrypted else ''}"


SHORT = [Way("VP8"), Way("VP9", "L3T3_KEY")]
FULL = [Way("VP8"), Way("H264"), Way("VP9", "L3T3_KEY"), Way("VP9", "L3T3"), Way("AV1", "L3T3_KEY"), Way("AV1", "L1T3"),
        Way("VP8", encrypted=True), Way("VP9", "L3T3_KEY", encrypted=True)]


@dataclass
class Switches:
    follows: list  # milliseconds from each command to the first picture of the other size
    stalls: int  # pauses in which no frame was decoded
    requests: int  # PLI and FIR that the publisher got
    gap: float  # milliseconds
    still_gap: float | None  # the same without a switch, where that was looked at
    keyed_gap: float | None  # the same without a switch, with as many key frames of the publisher's own
    heights: tuple
    limited: bool

    def __str__(self):
        each = ", ".join(f"{time:.0f}" for time in self.follows)
        return (f"{self.heights[0]} and {self.heights[1]} lines, followed after {each} ms, {self.stalls} stalls, {self.requests} key-frame "
                f"requests, longest gap {self.gap:.0f} ms"
                + (f" beside {self.still_gap:.0f} ms without" if self.still_gap else "")
                + (f", {self.keyed_gap:.0f} ms with as many key frames and no switch" if self.keyed_gap else ""))


async def _requests(near):
    stats = await near.stats()
    return sum(total(stats, "video", "outbound-rtp", field) for field in ("pliCount", "firCount"))


async def _decoded(far):
    return total(await far.stats(), "video", "inbound-rtp", "framesDecoded")


async def _shown(far, since, condition, seconds):
    """When the first picture of a height was shown at or after a moment; None where there is none."""
    try:
        return await far.until(
            f"call.watch.heights.findLast(({{ height }}) => height)?.height {condition} && Math.max({since}, "
            f"call.watch.heights.at(-1).time)", seconds)
    except TimeoutError:
        return None


async def _want(far, quality):
    return await far.run(f"return call.want('{PUBLISHER}', '{quality}')")


async def _gap(far, since):
    return await far.run(f"return longestGap(call.watch, {since}, clock())")


async def _longest_without(far, seconds):
    since = await far.run("return clock()")
    await asyncio.sleep(seconds)
    return await _gap(far, since)


async def _longest_keyed(near, far, count, pause):
    """The longest gap while the publisher makes key frames of its own accord: what its encoder takes for them, whatever the server does."""
    since = await far.run("return clock()")
    for _ in range(count):
        await near.run("await call.makeKeyFrame()")
        await asyncio.sleep(pause)
    return await _gap(far, since)


async def _switch(near, far, switches, still, pause):
    """Up and down in turn, beginning at the high layer."""
    asked = await _want(far, "low")
    if await _shown(far, asked, f"< {HIGH}", 10) is None:
        raise TimeoutError(f"the low layer isn't shown within 10 s: {await far.run('return call.watch.heights')}")
    await asyncio.sleep(pause)
    low = await far.run("return call.watch.heights.at(-1).height")
    asked = await _want(far, "high")
    if await _shown(far, asked, f"=== {HIGH}", 10) is None:
        raise TimeoutError(f"the high layer isn't shown within 10 s: {await far.run('return call.watch.heights')}")
    await asyncio.sleep(pause)

    still_gap = await _longest_without(far, still) if still else None
    keyed_gap = await _longest_keyed(near, far, switches, pause) if still else None
    requests, since, follows, stalls = await _requests(near), await far.run("return clock()"), [], 0
    for number in range(switches):
        quality, height = ("low", low) if number % 2 == 0 else ("high", HIGH)
        before = await _decoded(far)
        asked = await _want(far, quality)
        time = await _shown(far, asked, f"=== {height}", 5)
        follows.append(time - asked if time else float("inf"))
        await asyncio.sleep(pause)
        stalls += await _decoded(far) <= before
    stats = await near.stats()
    limited = any(each.get("qualityLimitationReason") == "cpu" for each in stats if each["type"] == "outbound-rtp")
    return Switches(follows, stalls, await _requests(near) - requests, await _gap(far, since), still_gap, keyed_gap, (low, HIGH), limited)


async def _run(stage, browser, way, number, switches, still, pause):
    room = f"switch-{way.codec}-{way.mode}-{way.encrypted}-{number}"
    near = await stage.publish(room, codec=way.codec, mode=way.mode, encrypted=way.encrypted)
    far = await stage.view(browser, room, codec=way.codec, encrypted=way.encrypted)
    try:
        await far.first_frame(PUBLISHER)
        if way.mode and way.mode.startswith("L1"):
            return await _steady(near, far, still)
        if await _shown(far, 0, f"=== {HIGH}", 15) is None:
            raise TimeoutError(f"the high layer isn't shown: {await far.run('return call.watch.heights')}")
        return await _switch(near, far, switches, still, pause)
    finally:
        await far.leave()
        await near.leave()


async def _steady(near, far, still):
    """One picture size: there is nothing to switch, but it has to go on."""
    requests, before, since = await _requests(near), await _decoded(far), await far.run("return clock()")
    gap = await _longest_without(far, still or PAUSE)
    height = await far.run("return call.watch.heights.at(-1).height")
    return Switches([0], int(await _decoded(far) <= before), await _requests(near) - requests, gap, gap, None, (height, height), False)


async def _unless_short_of_processor(report, measure):
    for attempt in range(REPETITIONS + 1):
        found = await measure(attempt)
        report.say(f"  {found}{', short of processor' if found.limited else ''}")
        if not found.limited:
            break
    return found


def _judge(report, options, way, runs, switches):
    follow, stalls, requests, gaps, still = Figures(" ms"), Figures(), Figures(), Figures(" ms"), Figures(" ms")
    keyed = Figures(" ms")
    for each in runs:
        follow.add(max(each.follows))
        stalls.add(each.stalls)
        requests.add(each.requests)
        gaps.add(each.gap)
        if each.still_gap:
            still.add(each.still_gap)
        if each.keyed_gap:
            keyed.add(each.keyed_gap)
    bound, spare = (1_000, SPARE_GAP) if options.full else (2_000, 500)
    holds = report.row(f"{way}: from the command to the picture, at most", f"{bound} ms", follow, follow.median <= bound)
    holds &= report.row(f"{way}: pauses without a decoded frame", "none", stalls, stalls.worst == 0)
    holds &= report.row(f"{way}: key-frame requests to the publisher in {switches} switches", f"at most {switches}", requests,
                        requests.median <= switches)
    holds &= report.row(f"{way}: longest time between shown pictures without a switch", f"at most {STILL_GAP} ms", still,
                        still.worst <= STILL_GAP)
    # A switch has a key frame, for which some encoders take longer than for a whole pause: they take that without a switch, too.
    without = max([still.median, *([keyed.median] if keyed.values else [])])
    seen = f"{gaps} beside {still}" + (f", {keyed} with as many key frames and no switch" if keyed.values else "")
    return holds & report.row(f"{way}: longest time between shown pictures", f"at most {spare} ms more than without", seen,
                              gaps.median <= without + spare)


async def run(report, options):
    switches, still, pause = (10, 60, PAUSE) if options.full else (4, 3, SHORT_PAUSE)
    holds = True
    async with Stage(options, settings(rate=20_000_000)) as stage, stage.viewer(Chromium) as browser:
        async with kept_on_failure(report, options.evidence, (stage.publisher, browser), (stage.server.process,)):
            for way in FULL if options.full else SHORT:
                runs = []
                report.say(f" {way}")
                try:
                    for number in range(min(options.runs, 3)):
                        runs.append(await _unless_short_of_processor(report, lambda attempt: _run(
                            stage, browser, way, f"{number}-{attempt}", switches, 0 if number else still, pause)))
                except Exception as error:
                    holds &= report.row(f"{way}", "is switched", f"{type(error).__name__}: {error}"[:300], False)
                    continue
                holds &= _judge(report, options, way, runs, switches)
        stage.server.process.require_running()
    return holds
