"""Makes the pictures of the pages, all of them in out/pictures, and those that the documentation shows in docs/images too. No test: `make
pictures` calls it, when the pages have changed, and somebody looks at what comes of it."""

import asyncio
import contextlib
import os
import shutil

from call_picture import PAINT, PEOPLE
from harness.chromium import Chromium
from harness.guests import guests
from harness.person import WATCH, Person
from harness.server import Server

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "../../out/pictures")
IMAGES = os.path.join(HERE, "../../docs/images")
# Those that the documentation shows.
SHOWN = {"lobby", "alone", "four-dark", "chat", "phone-call"}
# All that are made: light and dark, a phone both ways, twice as large, forced colours; of one, two, four and nine people, with a screen, with the chat.
ALL = {*SHOWN, "lobby-dark", "lobby-200", "lobby-forced", "phone-lobby", "phone-lobby-side", "two", "four", "four-200", "four-forced",
       "phone-call-dark", "phone-call-side", *(way % name for name in ("chat", "share", "nine") for way in ("%s", "%s-dark", "phone-%s"))}
LEAST_BYTES = 5_000  # an empty page has less
MOST_BYTES = 300_000
DESKTOP, PHONE, ON_ITS_SIDE = (1280, 800), (390, 844), (844, 390)
WHOLE = "document.body.hasAttribute('data-complete')"
# A page of a slide deck, for what is shared.
SLIDE = """
navigator.mediaDevices.getDisplayMedia = async () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1280, height: 720 });
  const draw = canvas.getContext("2d");
  setInterval(() => {
    draw.fillStyle = "#fdfcf7";
    draw.fillRect(0, 0, 1280, 720);
    draw.fillStyle = "#15201d";
    draw.font = "700 64px sans-serif";
    draw.fillText("Where the herons nest", 90, 150);
    draw.font = "36px sans-serif";
    ["Along the old canal, in the alders", "Forty pairs this spring, nine more than last", "Best seen from the bridge at low water"]
      .forEach((line, index) => draw.fillText(`• ${line}`, 110, 270 + 80 * index));
    draw.fillStyle = "#0f766e";
    [120, 180, 150, 240, 300].forEach((height, index) => draw.fillRect(820 + 80 * index, 660 - height / 2, 50, height / 2));
  }, 100);
  return canvas.captureStream(10);
};
"""


def _painted(name, sky, hill, coat):
    return PAINT.replace("SKY", sky).replace("HILL", hill).replace("COAT", coat).replace("VOLUME", "0.3" if name == "Grace" else "0") + SLIDE


class Album:
    def __init__(self, report):
        self.report = report

    async def take(self, person, name):
        """What the page shows once nothing moves any more, and nothing is said in passing."""
        await person.until("document.getElementById('status').textContent === ''")
        await person.tab.evaluate("document.activeElement.blur(); return new Promise((done) => setTimeout(done, 500))")
        path = os.path.join(FOLDER, f"{name}.png")
        await person.tab.screenshot(path)
        if name in SHOWN:
            shutil.copyfile(path, os.path.join(IMAGES, f"{name}.png"))
        self.report.say(f"  {name}: {os.path.getsize(path) // 1000} kB")

    async def take_each_way(self, person, name):
        """Light, dark, and on a phone."""
        for way, size, dark in (("%s", DESKTOP, False), ("%s-dark", DESKTOP, True), ("phone-%s", PHONE, False)):
            await person.tab.resize(*size, dark=dark)
            await self.take(person, way % name)
        await person.tab.resize(*DESKTOP)


async def _lobby(album, server, chromium):
    person = await _come(server, chromium, PEOPLE[0], "garden")
    for name, size, dark in (("lobby", DESKTOP, False), ("lobby-dark", DESKTOP, True), ("phone-lobby", PHONE, False),
                             ("phone-lobby-side", ON_ITS_SIDE, False)):
        await person.tab.resize(*size, dark=dark)
        await album.take(person, name)
    await person.tab.zoom(*DESKTOP, 2)
    await album.take(person, "lobby-200")
    await person.tab.resize(*DESKTOP)
    await person.tab.force_colors()
    await album.take(person, "lobby-forced")
    await person.tab.close()


async def _come(server, chromium, who, room, joins=False):
    tab = await chromium.tab(WATCH + _painted(*who))
    await tab.resize(*DESKTOP)
    tab.name = who[0]
    person = Person(tab, who[0])
    await tab.open(f"{server.ORIGIN}/?room={room}&name={who[0]}")
    if joins:
        await person.enter()
        await person.until(WHOLE, 30)
        await tab.evaluate("document.getElementById('notice').hidden = true")
    else:
        await person.until("document.getElementById('preview').videoWidth > 0")
    return person


async def _calls(album, server, binary, chromium):
    viewer = await _come(server, chromium, PEOPLE[0], "garden", joins=True)
    await viewer.until("!document.getElementById('invite-card').hidden")
    await album.take(viewer, "alone")
    others = []
    for who in PEOPLE[1:]:
        others.append(await _come(server, chromium, who, "garden", joins=True))
        await viewer.sees_picture(who[0])
        if len(others) == 1:
            await album.take(viewer, "two")
    await others[1].click("microphone")
    await viewer.sees("Grace", "tile.hasAttribute('data-speaking')")
    await album.take(viewer, "four")
    for name, size, dark in (("four-dark", DESKTOP, True), ("phone-call", PHONE, False), ("phone-call-dark", PHONE, True),
                             ("phone-call-side", ON_ITS_SIDE, False)):
        await viewer.tab.resize(*size, dark=dark)
        await album.take(viewer, name)
    await viewer.tab.zoom(*DESKTOP, 2)
    await album.take(viewer, "four-200")
    await viewer.tab.resize(*DESKTOP)
    await viewer.click("chat-toggle")
    for person, words in ((others[0], "Good morning! The fog is gone."), (viewer, "Then let us look at the nests: https://herons.example/map"),
                          (others[2], "I'm at the bridge already.")):
        await _write(person, words)
    await viewer.until("document.querySelectorAll('.message').length === 3")
    await album.take_each_way(viewer, "chat")
    await viewer.click("chat-toggle")
    await others[0].click("screen")
    await viewer.sees_picture("Grace: screen")
    await album.take_each_way(viewer, "share")
    await others[0].click("screen")
    await viewer.sees_no("Grace: screen")
    async with guests(server, "garden", ["Rosalind", "Lise", "Mary Anning", "Chien-Shiung Wu", "Sofja"]):
        await viewer.until("document.querySelectorAll('.tile').length === 9")
        await album.take_each_way(viewer, "nine")
    await viewer.tab.force_colors()
    await album.take(viewer, "four-forced")
    for person in (viewer, *others):
        await person.tab.close()


async def _write(person, words):
    if await person.tab.evaluate("return document.getElementById('chat-toggle').ariaExpanded !== 'true'"):
        await person.click("chat-toggle")
    await person.until("document.getElementById('chat-text')?.checkVisibility()")
    await person.tab.evaluate("document.getElementById('chat-text').focus()")
    for letter in words:
        await person.tab.press(letter)
    await person.tab.press("Enter")


async def run(report, options):
    for folder in (FOLDER, IMAGES):
        os.makedirs(folder, exist_ok=True)
    for name in os.listdir(FOLDER):
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(FOLDER, name))
    album = Album(report)
    async with Server(options.roost) as server, Chromium() as chromium:
        await _lobby(album, server, chromium)
        await asyncio.wait_for(_calls(album, server, options.roost, chromium), 240)
        server.process.require_running()
    return _complete(report)


def _sizes(folder, names):
    """Bytes of each picture that is there."""
    paths = {name: os.path.join(folder, f"{name}.png") for name in names}
    return {name: os.path.getsize(path) for name, path in paths.items() if os.path.exists(path)}


def _complete(report):
    """Each that is to be made is there, with something in it; those of the documentation are as small as a page of it wants them."""
    made, shown = _sizes(FOLDER, ALL), _sizes(IMAGES, SHOWN)
    more = {name.removesuffix(".png") for name in os.listdir(FOLDER)} - ALL
    bare = sorted((ALL - set(made)) | {name for name, size in made.items() if size < LEAST_BYTES})
    holds = report.row("pictures of the pages", f"{len(ALL)}, each with something in it, and no other",
                       f"{len(made)}, missing or empty: {bare or 'none'}, unknown: {more or 'none'}", not bare and not more)
    large = {name: size for name, size in shown.items() if size >= MOST_BYTES}
    return holds & report.row("pictures of the documentation", f"{len(SHOWN)}, each below {MOST_BYTES // 1000} kB",
                              f"{len(shown)}, larger: {large or 'none'}", set(shown) == SHOWN and not large)
