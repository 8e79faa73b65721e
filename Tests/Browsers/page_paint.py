"""How soon the page shows something on a slow machine, and how much it fetches until a call shows: nothing of it from anywhere else."""

import statistics

from harness.person import IN_CALL, Person, new_tab

SLOWER, LOADS, TRIES = 4, 5, 3
MOST_MILLISECONDS = 500
MOST_BYTES = 200_000
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
# When the call shows.
WATCH = """
new MutationObserver(() => {
  if (document.body?.dataset.view === "call") window.shownAt ??= performance.now();
}).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-view"] });
"""
# What had come by then: its address and its bytes, uncompressed.
FETCHED = """
return [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter(({ responseEnd }) => responseEnd > 0 && responseEnd <= window.shownAt)
  .map(({ name, decodedBodySize }) => [name, decodedBodySize]);
"""


async def _loads(server, browser, count):
    """When each load showed something, in milliseconds."""
    times = []
    for _ in range(count):
        tab = await new_tab(browser)
        await tab.resize(1280, 800)
        await tab.slow_down(SLOWER)
        person = Person(tab, "Ada")
        await tab.open(f"{server.ORIGIN}/?room=paint")
        times.append(await person.until(PAINTED))
        await person.until("document.getElementById('join-button').innerText === 'Join'")
        await person.leave()
    return times


async def _paint(report, server, browser):
    """The best of three medians: what else the machine does just then says nothing of the page. The first load of all is the browser's own,
    which has to start parts of itself."""
    [first] = await _loads(server, browser, 1)
    tries = []
    while len(tries) < TRIES and (not tries or min(map(statistics.median, tries)) >= MOST_MILLISECONDS):
        tries.append(await _loads(server, browser, LOADS))
    seen = "; ".join(f"{statistics.median(each):.0f} ms of {', '.join(f'{time:.0f}' for time in each)}" for each in tries)
    return report.row(f"page: first contentful paint, {SLOWER} times slower, median of {LOADS}, the best of at most {TRIES}",
                      f"less than {MOST_MILLISECONDS} ms", f"{seen}; the browser's first {first:.0f}",
                      min(map(statistics.median, tries)) < MOST_MILLISECONDS)


async def _weight(report, server, browser):
    person = Person(await new_tab(browser, WATCH), "Ada")
    await person.tab.resize(1280, 800)
    await person.tab.open(f"{server.ORIGIN}/?room=weight&name=Ada")
    await person.until("document.getElementById('preview').videoWidth > 0")
    await person.click("join-button")
    await person.until(f"{IN_CALL} && window.shownAt")
    fetched = await person.tab.evaluate(FETCHED)
    await person.until("document.body.hasAttribute('data-complete')")
    everything = await person.tab.evaluate("""
      return [...performance.getEntriesByType("resource").map(({ name }) => name), ...[...document.scripts].map(({ src }) => src)];""")
    await person.leave()
    for name, size in sorted(fetched, key=lambda each: -each[1])[:12]:
        report.say(f"  {size:6d} {name.removeprefix(server.ORIGIN)}")
    size = sum(each for _, each in fetched)
    words = [name for name, _ in fetched if "/words-" in name]
    holds = report.row("page: what is fetched until the call shows, uncompressed, with one language", f"less than {MOST_BYTES // 1000} kB",
                       f"{size / 1000:.1f} kB in {len(fetched)} files, words: {len(words)}", 100_000 < size < MOST_BYTES and len(words) == 1)
    foreign = [name for name in everything if not name.startswith((server.ORIGIN + "/", "blob:"))]
    return holds & report.row("page: scripts and files from elsewhere", "none", foreign or f"none of {len(everything)}", not foreign)


async def meet(report, options, server, chromium, _):
    holds = await _paint(report, server, chromium)
    return holds & await _weight(report, server, chromium)
