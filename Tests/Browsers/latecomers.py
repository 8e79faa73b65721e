"""A third and a fourth person: how soon they see the others, and what that costs the publishers in key frames."""

import asyncio

from harness.calls import Participant, open_page
from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.figures import Figures
from harness.firefox import Firefox
from harness.pages import Pages
from harness.quality import total
from harness.server import Server

APART = 1.5  # seconds between two who join


class _KeyFrameRequests:
    """What a publisher was asked for, looked at several times a second."""

    def __init__(self, call):
        self._call = call
        self._samples = []
        self._task = asyncio.create_task(self._watch())

    async def _watch(self):
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            stats = await self._call.stats()
            asked = sum(total(stats, "video", "outbound-rtp", field) for field in ("pliCount", "firCount"))
            self._samples.append((began, loop.time(), asked))
            await asyncio.sleep(0.2)

    async def end(self):
        """How many came, and whether at most two a second."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if not self._samples:
            raise RuntimeError(f"{self._call.name}: nothing was seen")
        bounded = all(after - before <= int(2 * (end - start + 0.05)) + 1
                      for index, (start, _, before) in enumerate(self._samples)
                      for _, end, after in self._samples[index + 1:])
        return self._samples[-1][2] - self._samples[0][2], bounded


async def _come(server, room, browser, name, present):
    """Joins; answers the participant and the seconds from the click to each one's first picture."""
    comer = Participant(browser, name)
    await comer.join(server, room)
    shown = await asyncio.gather(*(comer.first_frame(each.name) for each in present))
    click = (await comer.times())["click"]
    return comer, [(each - click) / 1000 for each in shown]


async def _one_room(report, server, number, chromium, firefox, waits):
    room = f"late-{number}"
    names = ("ann", "bob")
    present = [Participant(browser, name) for browser, name in zip((chromium, firefox), names)]
    for each in present:
        await each.join(server, room)
    await asyncio.gather(present[0].first_frame("bob"), present[1].first_frame("ann"))
    await asyncio.sleep(APART)
    requests = [_KeyFrameRequests(each) for each in present]
    holds = True
    try:
        for which, browser, name in (("third", chromium, "cem"), ("fourth", firefox, "dee")):
            comer, seconds = await _come(server, room, browser, name, present)
            waits[f"{which} person, in {browser.name}"].add(max(seconds))
            present.append(comer)
            await asyncio.sleep(APART)
        # Who comes and goes in quick succession asks for no more.
        for turn in range(4):
            passer = Participant(chromium, f"passer-{turn}")
            await passer.join(server, room, publish=False, pairs=4)
            await asyncio.sleep(0.4)
            await passer.leave()
    finally:
        for request, publisher in zip(requests, present):
            asked, bounded = await request.end()
            holds &= report.row(f"{publisher.name} in {publisher.browser.name} while four come late: key frames asked for",
                                "at least one, at most two a second", f"{asked} in all", bounded and asked > 0)
    for each in present:
        await each.leave()
    return holds


async def run(report, options):
    waits = {}
    # One room may meet a machine that is busy just then: the best of three counts, in full the median of five.
    limit = 1 if options.full else 2.5
    with Pages() as pages:
        async with Server(options.roost) as server, Chromium() as chromium, Firefox() as firefox:
            async with kept_on_failure(report, options.evidence, (chromium, firefox), (server.process,)):
                for browser in (chromium, firefox):
                    await open_page(browser, pages, "noise")
                waits = {f"{which} person, in {browser.name}": Figures(" s", 2)
                         for which, browser in (("third", chromium), ("fourth", firefox))}
                holds = True
                for number in range(options.runs if options.full else 3):
                    holds &= await _one_room(report, server, number, chromium, firefox, waits)
                    if not options.full and all(min(figures.values) <= limit for figures in waits.values()):
                        break
            server.process.require_running()
    for who, figures in waits.items():
        holds &= report.row(f"{who}: joining to the first picture of everybody", f"at most {limit} s", figures,
                            (figures.median if options.full else min(figures.values)) <= limit)
    return holds
