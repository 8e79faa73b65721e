// One chart of the last ten minutes.

import { span } from "/admin-history.js";
import { height, path, top, width } from "/chart.js";
import { build } from "/build.js";
import { text } from "/elements.js";
import { locale, say } from "/words.js";

/** Words of what is drawn, by the figure's name. */
const names = { received: "admin.in", sent: "admin.out", loss: "admin.loss", roundTrip: "admin.round-trip" };

export class Chart {
  #title;
  #written;
  #least;
  #svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", preserveAspectRatio: "none", class: "chart" });
  #top = build("p", { class: "chart-top", "aria-hidden": "true" });
  #lines = [];

  /**
   * @param {string} title a key behind `admin.chart.`
   * @param {string[]} figures that are drawn
   * @param {{least: number, written: (value: number | undefined) => string}} how `least`: the chart is as high as this at least
   */
  constructor(title, figures, { least, written }) {
    [this.#title, this.#least, this.#written] = [say(`admin.chart.${title}`), least, written];
    const list = build("dl");
    for (const figure of figures) {
      const line = { figure, path: shape("path", { class: `line-${figure}`, "vector-effect": "non-scaling-stroke" }), value: text("dd", "–") };
      this.#svg.append(line.path);
      list.append(build("div", {}, build("dt", { class: `key line-${figure}` }, say(names[figure])), line.value));
      this.#lines.push(line);
    }
    const ends = build("p", { class: "chart-ends", "aria-hidden": "true" }, build("span", {}, say("admin.chart.begin")),
      build("span", {}, say("admin.chart.end")));
    this.element = build("figure", { class: "explained" },
      build("figcaption", {}, build("span", { class: "explained-title" }, this.#title)), this.#top, this.#svg, ends, list);
  }

  /** @param {object[]} readings oldest first @param {number} now ms */
  draw(readings, now) {
    const figures = this.#lines.map(({ figure }) => figure);
    const most = top(readings, figures, this.#least);
    this.#top.textContent = this.#written(most);
    const words = this.#lines.map(({ figure, path: line, value }) => {
      line.setAttribute("d", path(readings, figure, most, now, span));
      const known = readings.map((each) => each[figure]).filter((each) => each !== undefined);
      value.textContent = this.#written(readings.at(-1)?.[figure]) || "–";
      return known.length === 0 ? say("admin.chart.unknown", { name: say(names[figure]) })
        : say("admin.chart.line", { name: say(names[figure]), now: value.textContent, least: this.#written(Math.min(...known)),
          most: this.#written(Math.max(...known)) });
    });
    this.#svg.setAttribute("aria-label", new Intl.ListFormat(locale(), { type: "unit" }).format([this.#title, ...words]));
  }
}

function shape(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
