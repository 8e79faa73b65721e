"""A room's events in a page of another origin, by fetch with a token: the reader of docs/events.md as it stands, which goes on by
`Last-Event-ID` where its stream is cut; and pages that may not read."""

import json
import pathlib
import re
import subprocess

from harness.chromium import Chromium
from harness.cutter import Cutter
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.pages import Pages
from harness.server import Server

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/events.md"
KEYS = "ourkey:a secret of at least thirty-two bytes"
# What each request said of where it goes on, and its answer; a way to give up the one that is under way.
WATCH = """
window.asked = [];
window.seen = [];
window.over = null;
const plain = window.fetch.bind(window);
window.fetch = async (url, options) => {
  window.current = new AbortController();
  const answer = await plain(url, { ...options, signal: window.current.signal });
  window.asked.push([options.headers["Last-Event-ID"] ?? "", answer.status]);
  return answer;
};
"""


def _reader():
    """The function `watch` of the document."""
    return re.search(r"^async function watch\(.*?^}$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[0]


class Room:
    """A room in which something happens when the test wants it."""

    def __init__(self, options, server, name):
        self._options, self._server, self.name = options, server, name
        self.token = self._run("token", "--admin", "--room", name, "--identity", "desk").strip()
        self._run("rooms", "create", name, "--url", server.ORIGIN)
        self.events = [["room.started", None]]

    def _run(self, *words):
        done = subprocess.run([self._options.roost, *words], capture_output=True, text=True, timeout=20, check=True, env={"ROOST_KEYS": KEYS})
        return done.stdout

    def change(self, times=1):
        for _ in range(times):
            text = f"change {len(self.events)}"
            self._run("rooms", "update", self.name, "--metadata", text, "--url", self._server.ORIGIN)
            self.events.append(["room.updated", text])

    def close(self):
        self._run("rooms", "close", self.name, "--url", self._server.ORIGIN)
        self.events.append(["room.finished", None])


async def _reads(report, options, server, browser, pages, other):
    room = Room(options, server, f"events-{browser.name}")
    room.change(2)
    async with Cutter("127.0.0.1", 7880) as cutter:
        url = f"http://127.0.0.1:{cutter.port}/v1/rooms/{room.name}/events"
        await browser.open(pages.url("direct.html"))
        await browser.evaluate(f"""{WATCH}
            window.watch = {_reader()};
            window.watch({json.dumps(url)}, {json.dumps(room.token)}, (type, event) => window.seen.push([event.id, type, event.metadata ?? null]))
              .then((reason) => {{ window.over = reason; }}, (error) => {{ window.over = String(error); }});""")

        async def until_all():
            await browser.wait_until(f"window.seen.length >= {len(room.events)}")

        await until_all()
        room.change()
        await until_all()
        seen = await browser.evaluate("return window.seen.map(([id]) => id)")
        holds = report.row(f"{browser.name}: a page of another origin reads a room's events by its token", "1 to 4, the last as it happens",
                           seen, seen == [1, 2, 3, 4])
        holds &= await _gets_nothing(report, browser, other, url, room)

        # What happens before it comes again isn't missed.
        cutter.cut()
        room.change(2)
        await until_all()
        await browser.evaluate("window.current.abort()")
        room.change(2)
        await until_all()
        room.close()
        over = await browser.wait_until("window.over")
        cuts = cutter.cuts
    seen, asked = await browser.evaluate("return [window.seen, window.asked]")
    wanted = [[number, *event] for number, event in enumerate(room.events, 1)]
    went_on = [last.rpartition(":")[2] for last, _ in asked]
    statuses = {status for _, status in asked}
    return holds & report.row(
        f"{browser.name}: its stream is cut on the way, then given up by itself", "each event once, on behind 4 and 6, to the end of the room",
        f"{cuts} cut, events {[number for number, _, _ in seen]}, on behind {went_on[1:]}, {over}",
        seen == wanted and went_on == ["", "4", "6"] and statuses == {200} and over == "roomFinished" and cuts > 0)


async def _gets_nothing(report, browser, other, url, room):
    """In a page of an origin that isn't allowed, with what an allowed one asks by."""
    tab = await browser.tab()
    try:
        await tab.open(other.url("direct.html"))
        seen = await tab.evaluate(f"""
            const bearer = {{ Authorization: "Bearer " + {json.dumps(room.token)} }};
            const all = [];
            for (const headers of [bearer, {{ ...bearer, "Last-Event-ID": "" }}, {{}}])
              all.push(await fetch({json.dumps(url)}, {{ headers: {{ Accept: "text/event-stream", ...headers }} }})
                .then((answer) => `status ${{answer.status}}`, (error) => error.name));
            return all;""")
    finally:
        await tab.close()
    return report.row(f"{browser.name}: a page of an origin that isn't allowed", "nothing to read, with a token and without", ", ".join(seen),
                      seen == ["TypeError"] * 3)


async def run(report, options):
    with Pages() as pages, Pages() as other:
        origin = pages.url("").rstrip("/")
        async with Server(options.roost, keys=KEYS, options=[f"--http.origins={origin}"]) as server:
            async with Chromium() as chromium, Firefox() as firefox:
                async with kept_on_failure(report, options.evidence, (chromium, firefox), (server.process,)):
                    holds = True
                    for browser in (chromium, firefox):
                        holds &= await _reads(report, options, server, browser, pages, other)
                    server.process.require_running()
                    return holds
