"""A flash and a beep of one instant: how far apart they come out, directly, through Roost, and after a slot's source
has changed. A page shows when the picture turned bright and when its sound began.
"""

import asyncio
import statistics

from harness.calls import Call, Participant, connect_directly, open_page
from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.pages import Pages
from harness.server import Server

ADDED = 40  # milliseconds that the server may add
ADDED_IN_SHORT = 150  # a few beeps scatter more than their median over a long window
SETTLING = 3.0  # seconds in which a browser finds the two streams' common time
SCATTER = 50  # milliseconds by which half of the pairs may be off their median
PATIENCE = 5  # windows of which one has to be steady


def _pairs(flashes, beeps):
    """What lies between each flash and the beep nearest to it, in milliseconds, where they are of one instant."""
    apart = []
    for flash in flashes:
        nearest = min(beeps, key=lambda beep: abs(beep - flash), default=None)
        if nearest is not None and abs(nearest - flash) < 500:
            apart.append(nearest - flash)
    return apart


async def _apart(report, call, what, seconds):
    """Median of (beep − flash) in milliseconds over a window. Where the browsers were short of the machine's time, some
    are missed or scatter widely, which says nothing of the streams' common time: then over the next window.
    Answers the median, and the farthest of all pairs in all windows.
    """
    farthest = 0
    await call.run("await call.watch.listen()")
    await asyncio.sleep(SETTLING)
    for is_last in (*(PATIENCE - 1) * (False,), True):
        start = await call.run("return clock()")
        await asyncio.sleep(seconds)
        watch = await call.run("return { flashes: call.watch.flashes, beeps: call.watch.beeps }")
        flashes, beeps = ([time for time in watch[each] if time >= start - 500] for each in ("flashes", "beeps"))
        apart = _pairs(flashes, beeps)
        report.say(f"  {what}: the beep comes after the flash by {', '.join(f'{each:.0f}' for each in apart)} ms")
        farthest = max([farthest, *map(abs, apart)])
        if len(apart) < seconds / 2:
            if is_last:
                raise RuntimeError(f"{what}: {len(flashes)} flashes and {len(beeps)} beeps in {seconds:g} s")
            continue
        median = statistics.median(apart)
        if is_last or statistics.median(abs(each - median) for each in apart) <= SCATTER:
            return median, farthest


async def _directly(report, source, viewer, seconds):
    sending, watching = Call(source, "direct"), Call(viewer, "direct")
    await connect_directly(sending, watching)
    try:
        return await _apart(report, watching, f"{source.name} to {viewer.name} directly", seconds)
    finally:
        await sending.close()
        await watching.close()


async def _through_roost(report, server, source, viewer, seconds):
    """The first publisher's, and, when it has left, the second's in the same slot."""
    way = f"{source.name} to {viewer.name} through Roost"
    room = f"{source.name}-to-{viewer.name}"
    first, second, watching = Participant(source, "first"), Participant(source, "second"), Participant(viewer, "viewer")
    await first.join(server, room, pairs=0)
    await watching.join(server, room, publish=False, pairs=1)
    await watching.first_frame("first")
    before, _ = await _apart(report, watching, way, seconds)
    slot = await watching.run("return Object.keys(call.watches).sort()")
    await second.join(server, room, pairs=0)
    await second.until("call.connection.connectionState === 'connected'")
    left = await watching.run("return clock()")
    await first.leave()
    await watching.first_frame("second", left)
    assert slot == await watching.run("return Object.keys(call.watches).sort()"), "the slot is another one"
    after, _ = await _apart(report, watching, f"{way}, source changed", seconds)
    await second.leave()
    await watching.leave()
    return before, after


async def _ways(report, options, pages, server, chromium, firefox):
    holds = True
    seconds, added = (options.seconds, ADDED) if options.full else (options.seconds / 2, ADDED_IN_SHORT)
    for browser in (chromium, firefox):
        await open_page(browser, pages, "flash")
    ways = ((chromium, firefox), (firefox, chromium))
    for source, viewer in ways if options.full else ways[:1]:
        direct, farthest = await _directly(report, source, viewer, seconds)
        # In a short window the direct pair's own walk is in either figure: what it shows at worst is the machine's.
        direct = abs(direct) if options.full else farthest
        figures = await _through_roost(report, server, source, viewer, seconds)
        for what, figure in zip(("", ", the slot's source changed"), figures):
            holds &= report.row(
                f"{source.name} to {viewer.name} through Roost{what}: flash and beep apart",
                f"at most {added} ms more than directly{'' if options.full else ' at worst'}: {direct:.0f} ms", f"{figure:.0f} ms",
                abs(figure) <= direct + added)
    return holds


async def run(report, options):
    with Pages() as pages:
        async with Server(options.roost) as server, Chromium() as chromium, Firefox() as firefox:
            async with kept_on_failure(report, options.evidence, (chromium, firefox), (server.process,)):
                holds = await _ways(report, options, pages, server, chromium, firefox)
            server.process.require_running()
            return holds
