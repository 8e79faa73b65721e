"""Two hundred people who come, see and are seen, and go: what the server holds is the same after each hundred."""

import asyncio
import re
import urllib.request

from harness.calls import Participant, open_page
from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.pages import Pages
from harness.server import Server

HALF = {True: 100, False: 10}
# Everything that grows with people; once they have gone, it is what it was.
TABLES = ("roost_participants", "roost_peers", "roost_connected_peers", "roost_forwarded_tracks", "roost_paths",
          "roost_timers", "roost_home_records", "roost_ice_fragments", "roost_pending_checks",
          "roost_http_websockets", "process_open_fds")
MEMORY = "process_resident_memory_bytes"
# They stay for an hour, that they can be read again: the one thing that is meant to grow.
EVENTS = "roost_kept_event_bytes"


def metrics():
    """{name: sum over all workers}"""
    with urllib.request.urlopen("http://127.0.0.1:7889/metrics", timeout=5) as answer:
        text = answer.read().decode()
    found = {}
    for name, value in re.findall(r"^([a-z_]+)(?:\{[^}]*\})? (\S+)$", text, re.MULTILINE):
        found[name] = found.get(name, 0) + float(value)
    return found


async def settled():
    """The metrics once no one but the witness is there, and nothing is on its way out."""
    last, same = None, 0
    for _ in range(300):
        now = await asyncio.to_thread(metrics)
        tables = tuple(now[name] for name in TABLES)
        same = same + 1 if tables == last and now["roost_peers"] == 1 else 0
        if same == 10:
            return now
        last = tables
        await asyncio.sleep(0.1)
    raise TimeoutError(f"not at rest: {dict(zip(TABLES, last))}")


async def _run(report, options, server, pages, browser):
    await open_page(browser, pages, "noise")
    witness = Participant(browser, "witness")
    await witness.join(server, "cycles", pairs=1)
    half = HALF[options.full]
    seen = []
    for cycle in range(2 * half):
        guest = Participant(browser, f"guest {cycle}")
        await guest.join(server, "cycles", pairs=1)
        await asyncio.gather(guest.first_frame("witness"), witness.first_frame(guest.name))
        await guest.leave()
        if (cycle + 1) % half == 0:
            seen.append(await settled())
    first, second = seen
    equal = all(first[name] == second[name] for name in TABLES)
    holds = report.row(
        f"tables after {half} and after {2 * half} joined with media and left", "the same",
        ", ".join(f"{name.removeprefix('roost_')} {first[name]:g}"
                  + ("" if first[name] == second[name] else f" then {second[name]:g}") for name in TABLES), equal)
    if not options.full:
        return holds  # Ten cycles are still warming up.
    growth, events = ((second[name] - first[name]) / 2**20 for name in (MEMORY, EVENTS))
    return holds & report.row(
        f"memory that cycles {half + 1} to {2 * half} add, beside the events that are kept for an hour", "at most 1 MB",
        f"{growth - events:+.2f} MB, beside {events:.2f} MB of events; {first[MEMORY] / 2**20:.1f} MB after {half}",
        growth - events <= 1)


async def run(report, options):
    with Pages() as pages:
        async with Server(options.roost) as server, Chromium() as chromium:
            async with kept_on_failure(report, options.evidence, (chromium,), (server.process,)):
                holds = await _run(report, options, server, pages, chromium)
            server.process.require_running()
            return holds
