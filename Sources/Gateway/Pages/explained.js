// What one gets of each track and why, as the server explains it: a small chart of the last two minutes, and the reason in words.

import { height, kept, path, top, width } from "/chart.js";
import { text } from "/elements.js";
import { milliseconds, percent, pixels, rate } from "/units.js";
import { why } from "/why.js";
import { say } from "/words.js";

const lines = ["target", "estimated", "bitrate"];
const figures = [...lines, "layer", "loss", "round-trip"];

/** One subscription on the page: drawn once, and changed with every reading. */
class Entry {
  #readings = [];
  #chart;
  #paths = {};
  #top;
  #figures = {};
  #reason;
  #list;

  constructor(title) {
    this.element = document.createElement("figure");
    this.element.className = "explained";
    const caption = document.createElement("figcaption");
    const name = text("bdi", title, { className: "explained-title" });
    this.#reason = text("span", "", { className: "explained-reason" });
    caption.append(name, this.#reason);
    this.#chart = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", preserveAspectRatio: "none", class: "chart" });
    for (const kind of lines) {
      this.#paths[kind] = shape("path", { class: `chart-${kind}`, "vector-effect": "non-scaling-stroke" });
      this.#chart.append(this.#paths[kind]);
    }
    this.#top = text("p", "", { className: "chart-top" });
    this.#top.setAttribute("aria-hidden", "true");
    const list = document.createElement("dl");
    for (const key of figures) {
      const pair = document.createElement("div");
      this.#figures[key] = text("dd", "–");
      pair.append(text("dt", say(`explained.${key}`), lines.includes(key) ? { className: `key chart-${key}` } : {}), this.#figures[key]);
      list.append(pair);
    }
    this.#list = list;
    this.element.append(caption, this.#top, this.#chart, list);
  }

  /** @param {object} subscription @param {object} transport both as the server has them; @param {number} now ms */
  take(subscription, transport, now) {
    const reading = { now, target: transport?.target, estimated: transport?.estimated, bitrate: subscription.bitrate };
    this.#readings = [...this.#readings, reading].slice(-kept);
    this.#reason.textContent = why(subscription, transport);
    const said = {
      target: rate(reading.target), estimated: rate(reading.estimated), bitrate: rate(reading.bitrate),
      layer: layer(subscription.sent), loss: percent(subscription.loss), "round-trip": milliseconds(subscription.roundTrip ?? transport?.roundTrip),
    };
    for (const [key, words] of Object.entries(said)) this.#figures[key].textContent = words || "–";
    // Of what has no slot there is nothing to draw.
    const isEmpty = this.#readings.every((each) => lines.every((kind) => each[kind] === undefined));
    for (const each of [this.#top, this.#chart, this.#list]) each.toggleAttribute("hidden", isEmpty);
    const most = top(this.#readings, lines);
    this.#top.textContent = rate(most);
    for (const kind of lines) this.#paths[kind].setAttribute("d", path(this.#readings, kind, most, now));
    this.#chart.setAttribute("aria-label", say("explained.chart",
      Object.fromEntries(lines.map((kind) => [kind, said[kind] || say("explained.unknown")]))));
  }
}

/** The list of what is explained, wherever it stands. */
export class Explained {
  #element;
  #entries = new Map();

  /** @param {HTMLElement} element in which one figure stands for each subscription */
  constructor(element) {
    this.#element = element;
  }

  /**
   * @param {{key: string, title: string, subscription: object, transport?: object}[]} found in the order in which they are shown
   * @param {number} now ms
   */
  show(found, now) {
    const keys = new Set(found.map(({ key }) => key));
    for (const [key, entry] of this.#entries) {
      if (keys.has(key)) continue;
      entry.element.remove();
      this.#entries.delete(key);
    }
    let place = this.#element.firstElementChild;
    for (const { key, title, subscription, transport } of found) {
      let entry = this.#entries.get(key);
      if (!entry) this.#entries.set(key, entry = new Entry(title));
      if (entry.element === place) place = place.nextElementSibling;
      else this.#element.insertBefore(entry.element, place);
      entry.take(subscription, transport, now);
    }
  }

  clear() {
    this.show([], 0);
  }
}

/** A subscription as one shows it: what has a slot, and what says why it has none. */
export function isWorthShowing({ sent, reason }) {
  return sent !== undefined || !["best", "muted"].includes(reason);
}

function layer(sent) {
  if (!sent) return "";
  const size = sent.width && sent.height ? pixels(sent.width, sent.height) : sent.rid ?? say("explained.encoding", { count: sent.encoding });
  return [size, sent.frameRate && say("unit.frames", { count: sent.frameRate }), `T${sent.temporal}`].filter(Boolean).join(", ");
}

function shape(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
