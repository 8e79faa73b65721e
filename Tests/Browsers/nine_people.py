"""Nine people, each with two pairs of slots: everybody sees and hears the same, also after somebody else speaks.

Each person's picture spells a number, so that what is seen is compared with what was announced.
"""

import asyncio

from harness.calls import Participant, open_page
from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.pages import Pages
from harness.server import Server

PEOPLE = 9
PAIRS = 2


class _Person(Participant):
    def __init__(self, browser, number):
        super().__init__(browser, f"person-{number}")
        self.number = number
        self.stream = f"window.badges[{number}]"

    async def come(self, server):
        await self.browser.evaluate(
            f"(window.badges ??= {{}})[{self.number}] = await sources.badge({self.number})")
        await self.join(server, "nine", pairs=PAIRS, stream=self.stream)

    async def speak(self, aloud):
        await self.browser.evaluate(f"{self.stream}.speak({str(aloud).lower()})")

    async def fault(self, spoken=None):
        """What is wrong with what this person hears and sees; None if nothing is."""
        pairs = await self.run("return call.pairs")
        people = [pair["camera"] for pair in pairs]
        if len(pairs) != PAIRS or None in people or len(set(people)) != PAIRS or self.name in people:
            return f"{self.name} is to see {people}"
        for pair in pairs:
            if pair["microphone"] != pair["camera"]:
                return f"{self.name} hears {pair['microphone']} beside {pair['camera']}"
            if pair["camera"] != f"person-{pair['badge']}":
                return f"{self.name} is to see {pair['camera']} and sees person-{pair['badge']}"
        if spoken and spoken.name not in people and spoken is not self:
            return f"{self.name} doesn't see {spoken.name}, who speaks, but {people}"
        return None


async def _until_right(people, seconds, spoken=None):
    """[fault], empty once everybody hears and sees the same; also a while later."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        faults = [fault for fault in [await person.fault(spoken) for person in people] if fault]
        if not faults:
            await asyncio.sleep(1)
            faults = [fault for fault in [await person.fault(spoken) for person in people] if fault]
        if not faults or loop.time() > deadline:
            return faults
        await asyncio.sleep(0.3)


async def _conference(report, server, chromium, firefox):
    people = [_Person((chromium, firefox)[number % 2], number) for number in range(1, PEOPLE + 1)]
    for person in people:
        await person.come(server)
    line = f"{PEOPLE} people on {PAIRS} pairs of slots"
    faults = await _until_right(people, 20)
    holds = report.row(f"{line}: each sees what was announced", "every picture and its sound",
                       "; ".join(faults) or f"{PEOPLE * PAIRS} of {PEOPLE * PAIRS}", not faults)
    last = people[-1]
    await last.speak(True)
    faults = await _until_right(people, 20, last)
    holds &= report.row(f"{line}: the one who speaks is seen by all", "without a new offer",
                        "; ".join(faults) or f"by {PEOPLE - 1} of {PEOPLE - 1}", not faults)
    errors = sum([await person.run("return call.errors") for person in people], [])
    holds &= report.row(f"{line}: errors in signalling", "none", len(errors), not errors)
    for person in people:
        await person.leave()
    return holds


async def run(report, options):
    with Pages() as pages:
        async with Server(options.roost) as server, Chromium() as chromium, Firefox() as firefox:
            async with kept_on_failure(report, options.evidence, (chromium, firefox), (server.process,)):
                for browser in (chromium, firefox):
                    await open_page(browser, pages)
                holds = await _conference(report, server, chromium, firefox)
            server.process.require_running()
            return holds
