"""roost.js from the server in pages of another origin: the example of docs/roost-js.md as it stands, in both browsers in one room; and a page
of an origin that isn't allowed, which gets neither the script nor a socket."""

import asyncio
import json
import pathlib
import re
import subprocess

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.pages import Pages
from harness.server import Server

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/roost-js.md"
KEYS = "ourkey:a secret of at least thirty-two bytes"
PLAYS = """[...document.querySelectorAll("video")]
  .filter((each) => each.srcObject && each.videoWidth > 0 && each.currentTime > 1).map((each) => each.srcObject.getTracks().length)"""
# How a WebSocket of a page ends: "open", or the code of its close.
SOCKET = """new Promise((done) => {
  const socket = new WebSocket(%s, "roost.v1");
  socket.onopen = () => { done("open"); socket.close(); };
  socket.onclose = ({ code }) => done(code);
})"""


def _example():
    """The twenty lines, without the indentation that makes a block of them."""
    text = DOCUMENT.read_text(encoding="utf-8").split("\n## A call in twenty lines\n", 1)[1]
    block = re.search(r"^    import .*?(?=^\S)", text, re.MULTILINE | re.DOTALL)[0]
    return "\n".join(line.removeprefix("    ") for line in block.rstrip().splitlines())


def _token(options, identity):
    done = subprocess.run([options.roost, "token", "--room", "demo", "--identity", identity], capture_output=True, text=True, timeout=20,
                          check=True, env={"ROOST_KEYS": KEYS})
    return done.stdout.strip()


async def _runs(page, options, server, pages, identity):
    """Has the example run in a page of another origin, by a script element."""
    program = f"const token = {json.dumps(_token(options, identity))};\n" + _example().replace("https://relay.example", server.ORIGIN)
    await page.open(pages.url("direct.html"))
    await page.evaluate(f"""
      window.complaints = [];
      window.addEventListener("error", (event) => window.complaints.push(event.message));
      window.addEventListener("unhandledrejection", (event) => window.complaints.push(String(event.reason)));
      document.body.append(Object.assign(document.createElement("script"), {{ type: "module", textContent: {json.dumps(program)} }}));""")


async def _meet(report, options, server, pages, browsers):
    lines = len([line for line in _example().splitlines() if line.strip()])
    await asyncio.gather(*(_runs(each, options, server, pages, each.name) for each in browsers))
    seen = [await each.wait_until(f"((plays) => plays.length === 1 && plays)({PLAYS})", 30) for each in browsers]
    complaints = [await each.evaluate("return window.complaints") for each in browsers]
    holds = report.row("the example of docs/roost-js.md in pages of another origin", "each browser plays the other's picture and sound",
                       f"{seen}, complaints: {sum(complaints, []) or 'none'}", seen == [[2], [2]] and complaints == [[], []])
    return holds & report.row("lines of the example", "20", lines, lines == 20)


async def _stays_out(report, server, other, browser):
    tab = await browser.tab()
    try:
        await tab.open(other.url("direct.html"))
        url = json.dumps(server.ORIGIN.replace("http", "ws", 1) + "/v1/rooms/demo/connect")
        seen = await tab.evaluate(f"""
          const imported = await import("{server.ORIGIN}/roost.js").then(() => "imported", (error) => error.name);
          return [imported, await {SOCKET % url}];""")
    finally:
        await tab.close()
    return report.row(f"{browser.name}: a page of an origin that isn't allowed", "no script, no socket", seen, seen == ["TypeError", 1006])


# Three sessions: one whose connection can't be made, one that is left while the server's answer is on its way, and one that looks who is there.
FAILS = """
const { Room } = await import("%(origin)s/roost.js");
const room = (token, more) => new Room({ url: "%(origin)s", room: "demo", token, ...more });
const began = performance.now();
const failed = await room("%(broken)s", { configuration: { iceServers: [{ urls: "none" }] } }).connect().then(() => "in", (error) => error.name);
const time = performance.now() - began;
const early = room("%(early)s");
const { send } = WebSocket.prototype;
WebSocket.prototype.send = function (text) {
  send.call(this, text);
  if (JSON.parse(text).type !== "auth") return;
  WebSocket.prototype.send = send;
  early.leave();
};
const left = await early.connect().then(() => "in", (error) => error.code);
const looks = room("%(looks)s");
await looks.connect();
const ghosts = () => [...looks.participants.values()].map(({ identity }) => identity).filter((each) => /broken|early/.test(each));
const end = performance.now() + 5000;
while (ghosts().length > 0 && performance.now() < end) await new Promise((done) => setTimeout(done, 50));
const found = ghosts();
looks.leave();
return [failed, time < 5000, left, found];
"""


async def _fails(report, options, server, pages, browser):
    """What fails while one joins leaves nothing of it in the room, not even for the while in which the server waits for one that comes back."""
    tab = await browser.tab()
    try:
        await tab.open(pages.url("direct.html"))
        tokens = {each: _token(options, f"{each}-{browser.name}") for each in ("broken", "early", "looks")}
        seen = await tab.evaluate(FAILS % {"origin": server.ORIGIN, **tokens})
    finally:
        await tab.close()
    return report.row(f"{browser.name}: joining fails, and is left half way", "SyntaxError, in no long time; closed; neither is in the room", seen,
                      seen == ["SyntaxError", True, "closed", []])


async def run(report, options):
    with Pages() as pages, Pages() as other:
        origin = pages.url("").rstrip("/")
        async with Server(options.roost, keys=KEYS, options=[f"--http.origins={origin}"]) as server:
            async with Chromium() as chromium, Firefox() as firefox:
                async with kept_on_failure(report, options.evidence, (chromium, firefox), (server.process,)):
                    holds = await _meet(report, options, server, pages, (chromium, firefox))
                    for browser in (chromium, firefox):
                        holds &= await _fails(report, options, server, pages, browser)
                        holds &= await _stays_out(report, server, other, browser)
                    server.process.require_running()
                    return holds
