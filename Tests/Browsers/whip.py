"""WHIP and WHEP in a page, by fetch from another origin, and at the server's own page: between browsers, beside the native protocol, with
aiortc and Pion, in every codec that both have; with a simulcast and over ICE restarts."""

import asyncio
import contextlib
import json
import os
import pathlib
import re
import sys
import tempfile

from harness.calls import token
from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.media import Counters, measure, until_flowing
from harness.pages import Pages, source
from harness.person import Person
from harness.process import Process
from harness.server import Server

CLIENTS = pathlib.Path(__file__).resolve().parents[1] / "Clients"
sys.path.append(str(CLIENTS))

from client_parts import PITCH, PYTHON, go_build, picture_file, pictures, pitch, tone_file  # noqa: E402

CONNECTION, PAGE_CONNECTION = "window.client.connection", "window.roostPage.peerConnection"
SHARE = 0.95
WANTED = f"at least {SHARE:.0%} of the pictures decoded, a tone of {PITCH} Hz"
# A camera and a microphone that show and sound as in the other pages, on a machine that is asked for no better codec than VP8.
DEVICES = source("client.js") + """
navigator.mediaDevices.getUserMedia = async ({ audio, video }) => new MediaStream([
  ...(audio ? [window.RoostTestSources.tone()] : []), ...(video ? [window.RoostTestSources.picture()] : [])]);
navigator.mediaCapabilities.encodingInfo = async () => ({ supported: false });
"""
# The picture of somebody else.
TILE = "document.querySelector('.tile.has-picture:not(.own) video')"


async def open_page(browser, pages):
    await browser.open(pages.url("direct.html"))
    await browser.evaluate("".join(source(name) for name in ("signaller.js", "pitch.js", "client.js", "whip.js")))


async def open_session(browser, server, door, room, identity, sections, query=""):
    """`sections`: JavaScript that adds them to `client`."""
    await browser.evaluate(f"""
        window.client?.close();
        const client = window.client = new window.RoostTestEncoder();
        {sections}
        return client.open({json.dumps(f"{server.ORIGIN}/{door}/{room}{query}")}, {json.dumps(token(server, room, identity))});
    """)
    await browser.wait_until(f"{CONNECTION}.connectionState === 'connected'")


async def publish(browser, server, room, codec, identity=None, encodings="null"):
    await open_session(browser, server, "whip", room, identity or browser.name, f"""
        client.add('audio', 'sendonly');
        client.add('video', 'sendonly', {{ only: [{json.dumps(codec.lower())}], encodings: {encodings} }});
    """)


async def play(browser, server, room, identity="viewer", query=""):
    await open_session(browser, server, "whep", room, identity, "client.add('audio', 'recvonly'); client.add('video', 'recvonly');", query)


async def join(browser, server, room, direction, codec):
    """Natively, as the page does."""
    kinds = "".join(f"client.add('{kind}', '{direction}', {only});" for kind, only in (
        ("audio", "{}"), ("video", "{ only: [" + json.dumps(codec.lower()) + "] }" if direction == "sendonly" else "{}")))
    await browser.evaluate(f"""
        window.client?.close();
        const client = window.client = new window.RoostTestEncoder();
        {kinds}
        await client.signaller.join({json.dumps(server.ORIGIN)}, {json.dumps(room)}, {json.dumps(token(server, room, browser.name + "-native"))});
        await client.connection.setLocalDescription();
        const answer = await client.signaller.offer(client.connection);
        await client.connection.setRemoteDescription({{ type: "answer", sdp: answer.sdp }});
    """)
    await browser.wait_until(f"{CONNECTION}.connectionState === 'connected'")


async def judge(report, line, publisher, subscriber, seconds):
    await until_flowing(publisher, subscriber, CONNECTION)
    flow = await measure(publisher, subscriber, CONNECTION, seconds)
    heard = await subscriber.evaluate("return window.client.pitch()")
    holds = flow.share >= SHARE and flow.sent > 10 * seconds and flow.energy > 0 and abs(heard - PITCH) < 25
    return report.row(line, WANTED, f"{flow.decoded} of {flow.sent} pictures ({flow.share:.1%}), {heard:.0f} Hz", holds)


async def between_browsers(report, server, publisher, subscriber, codec, seconds):
    room = f"{publisher.name}-{subscriber.name}-{codec}"
    await play(subscriber, server, room)
    await publish(publisher, server, room, codec)
    line = f"WHIP in {publisher.name} to WHEP in {subscriber.name} in {codec}"
    holds = await judge(report, line, publisher, subscriber, seconds)
    for browser in (publisher, subscriber):
        status = await browser.evaluate("return window.client.end()")
        holds &= report.row(f"{line}: DELETE at {browser.name}", "200", status, status == 200)
        await browser.evaluate("window.client = null")
    return holds


async def beside_the_page(report, server, publisher, subscriber, codec, seconds):
    """One by its session, the other by the native protocol."""
    room = f"native-{publisher.name}-{codec}"
    await join(subscriber, server, room, "recvonly", codec)
    await publish(publisher, server, room, codec)
    holds = await judge(report, f"WHIP in {publisher.name} to the native protocol in {subscriber.name} in {codec}", publisher, subscriber, seconds)
    room = f"native-back-{publisher.name}-{codec}"
    await play(subscriber, server, room)
    await join(publisher, server, room, "sendonly", codec)
    holds &= await judge(report, f"the native protocol in {publisher.name} to WHEP in {subscriber.name} in {codec}", publisher, subscriber, seconds)
    return holds


class Client(Process):
    """aiortc or Pion by one of the doors; `async with` it, it is connected."""

    def __init__(self, folder, name, what, server, room, *more):
        door = "whip" if what == "publish" else "whep"
        program = [str(PYTHON), str(CLIENTS / "whip_peer.py")] if name == "aiortc" else [f"{folder}/client"]
        super().__init__(name, [*program, what, f"{server.ORIGIN}/{door}/{room}", token(server, room, f"{name}-{what}"), *map(str, more)])

    @classmethod
    def player(cls, folder, name, server, room):
        """One that ends when nothing comes any more."""
        what, more = ("play", []) if name == "aiortc" else ("listen", ["{folder}"])
        return cls(folder, name, what, server, room, *more, 60)

    @classmethod
    def publisher(cls, folder, name, server, room, codec, seconds):
        more = [seconds, codec] if name == "aiortc" else [picture_file(folder, codec, seconds), folder / "tone.ogg"]
        return cls(folder, name, "publish", server, room, *more)

    async def __aenter__(self):
        self.start()
        try:
            await self.wait_for("connection", lambda: "connected" in self.log())
        except BaseException:
            await self.end()
            raise
        return self

    async def __aexit__(self, *_):
        await self.end()

    async def sent(self):
        """How many pictures, at its end."""
        await self.ended()
        return int(re.search(r'sent"?:? (\d+)', self.log())[1])

    async def seen(self):
        """How many pictures were decoded, and the pitch of the tone, at its end."""
        await self.ended()
        if self.name == "aiortc":
            said = json.loads(re.search(r"^\{.*\}$", self.log(), re.MULTILINE)[0])
            return said["pictures"], said["pitch"]
        folder = pathlib.Path(self.folder)
        kept = [*folder.glob("pictures.*"), *folder.glob("sound.ogg")]
        if len(kept) != 2:
            raise RuntimeError(f"Pion has kept {[each.name for each in kept]}")
        return (await asyncio.to_thread(pictures, kept[0]))[0], await asyncio.to_thread(pitch, kept[1])


def judge_client(report, line, sent, decoded, hertz, seconds, more="", holds=True):
    share = decoded / max(sent, 1)
    return report.row(line, WANTED + more, f"{decoded} of {sent} pictures ({share:.1%}), {hertz:.0f} Hz{more if holds else ''}",
                      holds and share >= SHARE and sent > 10 * seconds and abs(hertz - PITCH) < 25)


class ByWHIP:
    """What publishes in a page, at a player's other end, `more` seconds than others."""

    connection, more = CONNECTION, 0

    def __init__(self, tab, codec):
        self.tab, self.codec = tab, codec

    def __str__(self):
        return f"WHIP in {self.tab.name}"

    async def begin(self, server, room):
        await publish(self.tab, server, room, self.codec)

    async def end(self):
        await self.tab.evaluate("await window.client.end(); window.client = null")


class Natively(ByWHIP):
    def __str__(self):
        return f"the native protocol in {self.tab.name}"

    async def begin(self, server, room):
        await join(self.tab, server, room, "sendonly", self.codec)

    async def end(self):
        await self.tab.evaluate("window.client.close(); window.client = null")


class FromThePage(ByWHIP):
    """The server's own page, in a tab of its own."""

    connection = PAGE_CONNECTION
    # Until the server knows the path of who plays, it may leave out layers of frames.
    more = 3

    def __init__(self, browser):
        super().__init__(browser, "VP8")
        self.browser = browser

    def __str__(self):
        return f"the page in {self.browser.name}"

    async def begin(self, server, room):
        self.person = await Person.join(self.browser, server, room, "Ada", DEVICES)
        self.tab = self.person.tab
        await self.person.until(f"{PAGE_CONNECTION}?.connectionState === 'connected'")

    async def end(self):
        await self.person.leave()


async def to_clients(report, folder, server, names, publisher, seconds):
    """What a page publishes is decoded by players."""
    room = f"{publisher}-{publisher.codec}".replace(" ", "-")
    async with contextlib.AsyncExitStack() as stack:
        players = [await stack.enter_async_context(Client.player(folder, name, server, room)) for name in names]
        await publisher.begin(server, room)
        await asyncio.sleep(seconds + publisher.more)
        sent = max(frames for _, frames in Counters.read(await publisher.tab.stats(publisher.connection)).frames_sent.values())
        line = f"{publisher} to WHEP in {{}} in {publisher.codec}"
        await publisher.end()
        seen = await asyncio.gather(*(each.seen() for each in players))
    return all([judge_client(report, line.format(name), sent, *each, seconds) for name, each in zip(names, seen)])


class ByWHEP:
    """What plays in a page, at a publisher's other end."""

    connection, stream, more = CONNECTION, "window.client.element.srcObject", ""

    def __init__(self, browser):
        self.tab = self.browser = browser

    def __str__(self):
        return f"WHEP in {self.browser.name}"

    async def begin(self, server, room):
        await play(self.tab, server, room)

    async def listen(self, publisher):
        """Hertz, and whether it is shown as it is to be."""
        await until_flowing(publisher, self.tab, self.connection)
        return await self.tab.evaluate(f"return window.pitchOf({self.stream})"), True

    async def end(self):
        await self.tab.evaluate("window.client.close(); window.client = null")


class NativeViewer(ByWHEP):
    def __str__(self):
        return f"the native protocol in {self.browser.name}"

    async def begin(self, server, room):
        await join(self.tab, server, room, "recvonly", None)


class AtThePage(ByWHEP):
    connection, stream, more = PAGE_CONNECTION, f"{TILE}.srcObject", ", shown and played"

    def __str__(self):
        return f"the page in {self.browser.name}"

    async def begin(self, server, room):
        self.person = await Person.join(self.browser, server, room, "Ada", publish=0)
        self.tab = self.person.tab
        await self.tab.evaluate(source("pitch.js"))

    async def listen(self, publisher):
        await self.tab.wait_until(f"{TILE} !== null")
        hertz, _ = await super().listen(publisher)
        return hertz, await self.tab.evaluate(
            f"const {{ paused, muted, volume, videoWidth }} = {TILE}; return !paused && !muted && volume > 0 && videoWidth > 0")

    async def end(self):
        await self.person.leave()


async def from_client(report, folder, server, name, codec, viewers, seconds):
    """What a publisher sends is decoded and heard in pages, by all of them at once."""
    room, holds = f"from-{name}-{codec}", True
    for each in viewers:
        await each.begin(server, room)
    async with Client.publisher(folder, name, server, room, codec, seconds) as publisher:
        heard = await asyncio.gather(*(each.listen(publisher) for each in viewers))
        sent = await publisher.sent()
    for each, (hertz, is_shown) in zip(viewers, heard):
        decoded = Counters.read(await each.tab.stats(each.connection)).frames_decoded
        holds &= judge_client(report, f"WHIP in {name} to {each} in {codec}", sent, decoded, hertz, seconds, each.more, is_shown)
        await each.end()
    return holds


async def simulcast(report, server, publisher, subscriber, seconds):
    room = "simulcast"
    await play(subscriber, server, room)
    encodings = "[{ rid: 'q', scaleResolutionDownBy: 4 }, { rid: 'h', scaleResolutionDownBy: 2 }, { rid: 'f' }]"
    # Of small pictures Chromium sends one encoding alone.
    await publisher.evaluate("testCanvas.width = 1280; testCanvas.height = 720;")
    await publish(publisher, server, room, "VP8", encodings=encodings)
    await until_flowing(publisher, subscriber, CONNECTION)
    # What a path carries has to be found first.
    for _ in range(20):
        await asyncio.sleep(1)
        sent = {entry.get("rid") for entry in await publisher.stats(CONNECTION)
                if entry["type"] == "outbound-rtp" and entry.get("framesSent", 0) > 0}
        heights = {entry.get("frameHeight") for entry in await subscriber.stats(CONNECTION) if entry["type"] == "inbound-rtp"} - {None}
        if len(sent) == 3 and heights == {720}:
            break
    await publisher.evaluate("testCanvas.width = 320; testCanvas.height = 180;")
    return report.row("WHIP with a simulcast by RID", "three encodings sent, the largest shown", f"{sorted(sent)}, {heights} lines",
                      len(sent) == 3 and heights == {720})


async def restarts(report, server, publisher, subscriber, seconds):
    """ICE restarted at both ends, while what flows goes on."""
    room = f"restarts-{publisher.name}"
    await play(subscriber, server, room)
    await publish(publisher, server, room, "VP8")
    await until_flowing(publisher, subscriber, CONNECTION)
    statuses = [await browser.evaluate("return window.client.trickle()") for browser in (publisher, subscriber)]
    holds = report.row(f"candidates by PATCH, {publisher.name} publishing", "204", statuses, statuses == [204, 204])
    renewed = []
    # Twice: Chromium may go on under the server's fragment of before the first.
    for _ in range(2):
        renewed += [await browser.evaluate("return window.client.restart()") for browser in (publisher, subscriber)]
        for browser in (publisher, subscriber):
            await browser.wait_until(f"['connected', 'completed'].includes({CONNECTION}.iceConnectionState)")
    holds &= report.row(f"ICE restarts by PATCH, {publisher.name} publishing", "another tag each", renewed, renewed == [True] * 4)
    return holds & await judge(report, f"after ICE restarts, {publisher.name} publishing", publisher, subscriber, seconds)


async def run(report, options):
    if not os.access(options.roost, os.X_OK):
        raise FileNotFoundError(f"no server at {options.roost}: swift build -c release --product roost")
    with tempfile.TemporaryDirectory(prefix="roost-whip-") as folder:
        folder = pathlib.Path(folder)
        # There are many windows, and each shows what it is to show soon.
        seconds = min(options.seconds, 5)
        await asyncio.to_thread(go_build, folder, (CLIENTS / "whip.go").read_text())
        await asyncio.to_thread(tone_file, folder, seconds + 4)
        await asyncio.to_thread(picture_file, folder, "VP9", seconds)
        async with Server(options.roost) as server:
            with Pages() as pages:
                holds = await in_both(report, options, server, pages, folder, seconds)
                async with Chromium() as one, Chromium() as other:
                    async with kept_on_failure(report, options.evidence, (one, other), (server.process,)):
                        for browser in (one, other):
                            await open_page(browser, pages)
                        holds &= await between_browsers(report, server, one, other, "H264", seconds)
                        holds &= await beside_the_page(report, server, one, other, "H264", seconds)
            server.process.require_running()
    return holds


async def in_both(report, options, server, pages, folder, seconds):
    holds = True
    async with Chromium() as chromium, Firefox() as firefox:
        async with kept_on_failure(report, options.evidence, (chromium, firefox), (server.process,)):
            for browser in (chromium, firefox):
                await open_page(browser, pages)
            for codec in ("VP8", "VP9"):
                holds &= await between_browsers(report, server, chromium, firefox, codec, seconds)
                holds &= await between_browsers(report, server, firefox, chromium, codec, seconds)
            holds &= await beside_the_page(report, server, chromium, firefox, "VP8", seconds)
            holds &= await beside_the_page(report, server, firefox, chromium, "VP9", seconds)
            both = ("aiortc", "Pion")
            # One of each browser at a time. The page sends layers of frames too, so aiortc, whose estimates are low, gets fewer of them.
            for cases in [[(both, ByWHIP(firefox, "VP8")), (both, ByWHIP(chromium, "H264"))],
                          [(both[1:], Natively(firefox, "VP9")), (both[1:], ByWHIP(chromium, "VP9"))],
                          [(both, Natively(chromium, "H264"))], [(both[1:], FromThePage(chromium))]]:
                holds &= all(await asyncio.gather(*(to_clients(report, folder, server, *each, seconds) for each in cases)))
            for name, codec, viewers in [("aiortc", "VP8", [ByWHEP(firefox), NativeViewer(chromium)]), ("aiortc", "H264", [ByWHEP(chromium)]),
                                         ("Pion", "VP9", [ByWHEP(chromium), NativeViewer(firefox), AtThePage(chromium)])]:
                holds &= await from_client(report, folder, server, name, codec, viewers, seconds)
            holds &= await simulcast(report, server, chromium, firefox, seconds)
            holds &= await restarts(report, server, chromium, firefox, seconds)
            holds &= await restarts(report, server, firefox, chromium, seconds)
    return holds
