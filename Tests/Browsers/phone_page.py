"""A phone's page on 1.5 Mbit/s in a call of nine: everyone is seen, and no picture stops.

The eight others play clips that were encoded before: with so many encoders the machine would be judged, not the server.
"""

import asyncio
import os
import subprocess
import tempfile

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.link import Link, settings
from harness.person import TABS, Person
from harness.process import Process
from harness.server import Server

RATE = 1_500_000
OTHERS = 8
# Width, height, bits a second: the largest first. The smallest of all eight together take less than half of the link.
LAYERS = [(640, 360, 600_000), (320, 180, 220_000), (160, 90, 70_000)]
# When a picture of each tile was shown, by the name that stands below it.
WATCH = """
window.shownAt = new Map();
const follow = (video) => {
  const note = () => {
    const name = video.closest('.tile')?.querySelector('.tile-name').textContent;
    if (name && video.srcObject) window.shownAt.set(name, [...window.shownAt.get(name) ?? [], performance.now()]);
    video.requestVideoFrameCallback(note);
  };
  video.requestVideoFrameCallback(note);
};
const seen = new WeakSet();
setInterval(() => {
  for (const video of document.querySelectorAll('.tile video')) {
    if (!seen.has(video)) { seen.add(video); follow(video); }
  }
}, 20);
"""
# Of each tile but one's own: its name, how many pictures it showed, the longest time without one.
GAPS = """
const [since, until] = [{since}, performance.now()];
return [...window.shownAt].filter(([name]) => !/you/i.test(name)).map(([name, times]) => {{
  const shown = times.filter((time) => time >= since);
  const gaps = [since, ...shown, until].map((time, index, all) => index ? time - all[index - 1] : 0);
  return [name, shown.length, Math.max(...gaps)];
}});
"""


def _encode(folder):
    names = []
    for width, height, rate in LAYERS:
        name = os.path.join(folder, f"{height}.ivf")
        subprocess.run(
            ["ffmpeg", "-loglevel", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=size={width}x{height}:rate=15", "-t", "8",
             "-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-b:v", str(rate), "-maxrate", str(rate),
             "-bufsize", str(rate // 2), "-g", "9999", "-f", "ivf", name], check=True, timeout=60)
        size = os.path.getsize(name)  # of 8 s: bytes in all, bits a second
        if size > 1.15 * rate:
            raise ValueError(f"{name} has {size:.0f} bits a second, not {rate}")
        names.append(name)
    return names


async def _measure(report, link, server, clips, browser, load, seconds):
    names = ",".join(clips)
    publishers = Process("publishers", [load, "--json", "--quiet", "--room", "phone", "--publishers", str(OTHERS), "--subscribers", "0",
                                        "--audio", "--video-files", names, "--duration", str(seconds + 40)])
    publishers.start()
    try:
        person = await Person.join(browser, server, "phone-1", "Phone", stand_in=WATCH, camera=0, width=390)
        await person.tab.resize(390, 844)
        await person.until(f"window.shownAt.size >= {OTHERS}", 30)
        # The first seconds are those in which the path is found out.
        await asyncio.sleep(10)
        since = await person.tab.evaluate("return performance.now()")
        before = (await link.counts())["down"]
        await asyncio.sleep(seconds)
        after = (await link.counts())["down"]
        gaps = await person.tab.evaluate(GAPS.format(since=since))
        heights = await person.tab.evaluate("return [...document.querySelectorAll('.tile video')].map((each) => each.videoHeight)")
        await person.tab.screenshot(os.path.join(tempfile.gettempdir(), "phone.png"))
        publishers.require_running()
        await person.leave()
    finally:
        await publishers.end()
    rate = 8 * (after["bytes"] - before["bytes"]) / seconds
    line = f"a phone's page on {RATE / 1e6} Mbit/s, {OTHERS} others"
    for name, count, gap in sorted(gaps):
        report.say(f"  {name}: {count} pictures in {seconds} s, the longest time without one {gap:.0f} ms")
    report.say(f"  lines of the pictures: {sorted(heights)}; dropped by the link: {after['overflowed'] - before['overflowed']:.0f}")
    holds = report.row(f"{line}: seen", f"{OTHERS}, for all of {seconds} s", sum(count > seconds for _, count, _ in gaps),
                       len(gaps) == OTHERS and all(count > seconds for _, count, _ in gaps))
    longest = max((gap for _, _, gap in gaps), default=float("inf"))
    holds &= report.row(f"{line}: the longest time without a picture", "at most 1 s", f"{longest / 1000:.2f} s", longest <= 1_000)
    return holds & report.row(f"{line}: received", f"less than {RATE / 1e6} Mbit/s", f"{rate / 1e6:.2f} Mbit/s", rate < RATE)


async def run(report, options):
    load = os.path.join(os.path.dirname(options.roost), "roost-load")
    if not os.access(load, os.X_OK):
        raise FileNotFoundError(f"no load at {load}: swift build -c release --product roost-load")
    with tempfile.TemporaryDirectory() as folder:
        clips = _encode(folder)
        async with Link(options.link, settings(rate=RATE)) as link, Server(options.roost) as server:
            await link.network.pass_on(7880)
            async with Chromium(network=link.network) as browser:
                async with kept_on_failure(report, options.evidence, TABS, (server.process,)):
                    holds = await _measure(report, link, server, clips, browser, load, 60 if options.full else 20)
            server.process.require_running()
            return holds
