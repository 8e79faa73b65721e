// The pages of people, where there are more than can be made out at once: their buttons, and the keys that do the same.

import { element, sign, text } from "/elements.js";
import { announce } from "/notices.js";
import { say, translate } from "/words.js";

const keys = { PageUp: -1, PageDown: 1 };

export class Pager {
  #stage;
  #bar = Object.assign(document.createElement("nav"), { className: "pager", hidden: true });
  #number = text("span", "");
  #buttons;

  /** @param {import("/tiles.js").Stage} stage */
  constructor(stage) {
    this.#stage = stage;
    this.#buttons = Object.entries(keys).map(([key, by]) => this.#button(key, by));
    this.#bar.append(this.#buttons[0], this.#number, this.#buttons[1]);
    this.#bar.dataset.sayLabel = "layout.pages";
    const part = document.createDocumentFragment();
    part.append(this.#bar);
    translate(part);
    element("stage").after(part);
    document.addEventListener("keydown", (event) => this.#pressed(event));
    stage.addEventListener("layout", () => this.#show());
    this.#show();
  }

  #button(key, by) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: `icon ${by < 0 ? "before" : "after"}` });
    button.setAttribute("aria-keyshortcuts", key);
    button.dataset.sayLabel = button.dataset.sayTitle = by < 0 ? "layout.before" : "layout.after";
    button.append(sign("more"));
    button.addEventListener("click", () => this.#turn(by));
    return button;
  }

  /** Where they scroll something else, or belong to a field, they do that. */
  #pressed(event) {
    const { target, key } = event;
    const isHere = [document.body, element("call")].includes(target) || element("stage").contains(target) || this.#bar.contains(target);
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
    if (!Object.hasOwn(keys, key) || !isHere || hasModifier || element("call").hidden || element("help").open || this.#bar.hidden) return;
    event.preventDefault();
    this.#turn(keys[key]);
  }

  #turn(by) {
    const { page, pages } = this.#stage.view;
    const to = page + by;
    if (to < 0 || to >= pages) return;
    const focused = this.#stage.at(document.activeElement);
    this.#stage.look({ page: to });
    if (focused?.isAway) element("call").focus(); // It is on the page before.
    announce(this.#words());
  }

  #words() {
    const { page, pages } = this.#stage.view;
    return say("layout.page", { page: page + 1, pages });
  }

  #show() {
    const { page, pages } = this.#stage.view;
    if (pages === 1 && this.#bar.contains(document.activeElement)) element("call").focus();
    this.#bar.hidden = pages === 1;
    this.#number.textContent = this.#words();
    // A button that can't be pressed keeps the focus.
    for (const [button, isOver] of [[this.#buttons[0], page === 0], [this.#buttons[1], page === pages - 1]]) {
      if (isOver) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
    }
  }
}
