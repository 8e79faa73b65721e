"""Makes docs/images/call.png: four people in a call. No test: `run` calls it by name only, when the page has changed."""

import os

from harness.chromium import Chromium
from harness.person import Person
from harness.server import Server

IMAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/images/call.png")
# What a camera would show, painted: (name, sky, hill, coat). One of them is heard.
PEOPLE = [("Ada", "#f3d9b1", "#8fae8b", "#2f5d62"), ("Grace", "#bcd7e8", "#6c8ea0", "#8c3b4a"),
          ("Emmy", "#e8c9d6", "#a06c86", "#3d4f7d"), ("Hedy", "#d5e3c0", "#7d9a5b", "#7a5a2f")]
PAINT = """
navigator.mediaDevices.getUserMedia = async ({ audio, video }) =>
  new MediaStream([...(audio ? sound() : []), ...(video ? picture() : [])]);
const sound = () => {
  const context = new AudioContext();
  const destination = context.createMediaStreamDestination();
  const oscillator = new OscillatorNode(context, { frequency: 220 });
  oscillator.connect(new GainNode(context, { gain: VOLUME })).connect(destination);
  oscillator.start();
  return destination.stream.getTracks();
};
const picture = () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 640, height: 360 });
  const draw = canvas.getContext("2d");
  const shape = (color, path) => { draw.fillStyle = color; draw.beginPath(); path(); draw.fill(); };
  let time = 0;
  setInterval(() => {
    time += 0.05;
    const x = 320 + 6 * Math.sin(time);
    shape("SKY", () => draw.rect(0, 0, 640, 360));
    shape("HILL", () => draw.ellipse(120, 380, 330, 150, 0, 0, 7));
    shape("HILL", () => draw.ellipse(560, 400, 260, 130, 0, 0, 7));
    shape("COAT", () => draw.ellipse(x, 380, 135, 150, 0, 0, 7));
    shape("#5a3d2b", () => draw.ellipse(x, 152, 72, 80, 0, 0, 7));
    shape("#e9b999", () => draw.ellipse(x, 178, 56, 68, 0, 0, 7));
    shape("#2b2320", () => { draw.ellipse(x - 20, 170, 5, 6, 0, 0, 7); draw.ellipse(x + 20, 170, 5, 6, 0, 0, 7); });
    draw.lineWidth = 4;
    draw.strokeStyle = "#a2544b";
    draw.beginPath();
    draw.arc(x, 192, 22, 0.5, 2.64);
    draw.stroke();
  }, 33);
  return canvas.captureStream(30).getTracks();
};
"""


async def run(report, options):
    async with Server(options.roost) as server, Chromium() as chromium:
        people = []
        for name, sky, hill, coat in PEOPLE:
            tab = await chromium.tab(PAINT.replace("SKY", sky).replace("HILL", hill).replace("COAT", coat)
                                     .replace("VOLUME", "0.3" if name == "Grace" else "0"))
            await tab.resize(1000, 600)
            await tab.open(f"{server.ORIGIN}/?room=garden&name={name}")
            people.append(Person(tab, name))
            await people[-1].enter()
            await people[-1].tab.evaluate("document.getElementById('notice').hidden = true")
        viewer = people[0]
        for name, *_ in PEOPLE[1:]:
            await viewer.sees(name, "tile.classList.contains('has-picture') && tile.querySelector('.quality').dataset.quality")
        await people[2].click("microphone")
        await viewer.sees("Emmy", "!tile.querySelector('.microphone-mark').hidden")
        await viewer.until("document.getElementById('status').textContent === ''")
        await viewer.tab.evaluate("document.activeElement.blur()")
        await viewer.sees("Grace", "tile.hasAttribute('data-speaking')")
        os.makedirs(os.path.dirname(IMAGE), exist_ok=True)
        await viewer.tab.screenshot(IMAGE)
        size = os.path.getsize(IMAGE)
        return report.row("picture of a call", "below 200 kB", f"{size // 1000} kB", size < 200_000)
