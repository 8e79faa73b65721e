"""A room that is recorded, at the page: a mark beside its name for as long as it is, also for who comes meanwhile, and a word of it. And a word
for one of whom an administrator has looked at a picture."""

import asyncio
import tempfile

from harness import rest
from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.person import TABS, Person
from harness.server import Server

# What stands beside the room's name, as far as it can be seen.
MARK = "((each) => (each.checkVisibility() ? each.innerText : ''))(document.getElementById('recorded'))"
SAID = "document.getElementById('status').textContent"
# How many pictures were taken, and what was said of it.
LOOKS = """
window.taken = 0;
window.lines = [];
roostPage.room.addEventListener("event", ({ detail }) => { if (detail.type === "thumbnail.taken") window.taken += 1; });
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) for (const { textContent } of addedNodes) if (/looked/.test(textContent)) window.lines.push(textContent);
}).observe(document.getElementById("status"), { childList: true });
"""


async def _recorded(report, options, server, browser, other):
    room = f"recorded-{browser.name}"

    async def ask(request, *more):
        return await asyncio.to_thread(request, server, options.roost, room, *more)

    ada = await Person.join(browser, server, room, "Ada")
    before = await ada.tab.evaluate(f"return {MARK}")
    recordings = [await ask(rest.record)]
    mark = await ada.until(MARK)
    said = await ada.until(f"{SAID}.includes('record') && {SAID}")
    holds = report.row(f"page, {browser.name}: a recording begins", "a mark that wasn't there, and a word", f"“{before}”, “{mark}”, “{said}”",
                       before == "" and mark == "Recording" and said == "This call is being recorded")
    bob = await Person.join(other, server, room, "Bob")
    seen = await bob.until(MARK)
    recordings.append(await ask(rest.record))
    await ask(rest.stop_recording, recordings[0])
    # Another recording goes on: whatever is said of the first has come once the room knows of a third.
    recordings.append(await ask(rest.record))
    await asyncio.sleep(1)
    still = await ada.tab.evaluate(f"return {MARK}")
    holds &= report.row(f"page, {browser.name}: who comes meanwhile, and one of two recordings ends", "the mark stays",
                        f"“{seen}”, “{still}”", seen == still == "Recording")
    for each in recordings[1:]:
        await ask(rest.stop_recording, each)
    for person in (ada, bob):
        await person.until(f"{MARK} === ''")
    said = await ada.until(f"{SAID}.includes('ended') && {SAID}")
    complaints = await ada.tab.evaluate("return window.complaints")
    for person in (ada, bob):
        await person.leave()
    return holds & report.row(f"page, {browser.name}: no recording is left", "no mark, and a word, without a complaint", f"“{said}” {complaints}",
                              said.endswith("The recording has ended") and complaints == [])


async def _looked_at(report, options, server, browser, other):
    """Said to the one who is seen, once for several pictures within a minute, and to no other."""
    room = f"looked-at-{browser.name}"
    ada = await Person.join(browser, server, room, "Ada", identity="ada")
    bob = await Person.join(other, server, room, "Bob", publish=0)
    await bob.sees_picture("Ada")
    for person in (ada, bob):
        await person.tab.evaluate(LOOKS)
    sizes = []
    for by in ("desk", "another"):
        # Nothing has come yet, or it is too soon for another picture.
        for _ in range(40):
            size = await asyncio.to_thread(rest.look, server, options.roost, room, "ada", "camera", by)
            if size:
                break
            await asyncio.sleep(0.5)
        sizes.append(size)
        await ada.until(f"window.taken === {len(sizes)}")
    said = await ada.until("window.lines.length > 0 && window.lines")
    heard = [await bob.tab.evaluate("return window.lines"), await bob.tab.evaluate("return window.taken")]
    complaints = await ada.tab.evaluate("return window.complaints")
    for person in (ada, bob):
        await person.leave()
    return report.row(f"page, {browser.name}: an administrator looks at two pictures of somebody's camera",
                      "said to the one who is seen, once; to no other", f"{sizes} bytes, {said}; {heard}; {complaints}",
                      said == ["Someone who runs this room looked at a picture of yours"] and all(sizes) and heard[0] == [] and complaints == [])


async def run(report, options):
    with tempfile.TemporaryDirectory(prefix="roost-recorded-") as folder:
        async with (Server(options.roost, options=("--storage.directory", folder)) as server, Chromium() as chromium,
                    Firefox() as firefox):
            async with kept_on_failure(report, options.evidence, TABS, (server.process,)):
                holds = await _recorded(report, options, server, chromium, firefox)
                holds &= await _recorded(report, options, server, firefox, chromium)
                holds &= await _looked_at(report, options, server, chromium, firefox)
                holds &= await _looked_at(report, options, server, firefox, chromium)
                server.process.require_running()
                return holds
