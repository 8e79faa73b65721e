// One's own picture in a call of two: it is moved to another corner by pointer or by arrow keys, and stays there the next time.

import { element } from "/elements.js";
import { announce } from "/notices.js";
import { remember } from "/visit.js";
import { say } from "/words.js";

const slack = 4; // pixels; less is a click
const arrows = { ArrowLeft: { right: false }, ArrowRight: { right: true }, ArrowUp: { bottom: false }, ArrowDown: { bottom: true } };

export class Corner {
  #stage;
  #place = element("stage");
  #drag = null; // the tile, and where it was taken
  #marked = null;

  /** @param {import("/tiles.js").Stage} stage */
  constructor(stage) {
    this.#stage = stage;
    this.#place.addEventListener("pointerdown", (event) => this.#take(event));
    this.#place.addEventListener("pointermove", (event) => this.#move(event));
    for (const type of ["pointerup", "pointercancel"]) this.#place.addEventListener(type, () => this.#drop());
    this.#place.addEventListener("keydown", (event) => this.#pressed(event));
    stage.addEventListener("layout", () => this.#mark());
    this.#mark();
  }

  #take({ target, button, pointerId, clientX, clientY }) {
    const tile = this.#stage.at(target);
    if (!tile || tile !== this.#stage.view.floating || button !== 0 || target.closest("button")) return;
    this.#drag = { tile, pointerId, clientX, clientY, isMoved: false };
  }

  #move({ pointerId, buttons, clientX, clientY }) {
    if (this.#drag?.pointerId !== pointerId) return;
    if (buttons === 0) {
      this.#drag = null; // Let go where it wasn't seen.
      return;
    }
    const [x, y] = [clientX - this.#drag.clientX, clientY - this.#drag.clientY];
    const { element: moved } = this.#drag.tile;
    if (!this.#drag.isMoved) {
      if (Math.hypot(x, y) < slack) return;
      this.#drag.isMoved = true;
      moved.setPointerCapture(pointerId);
      moved.classList.add("dragging");
    }
    moved.style.translate = `${x}px ${y}px`;
  }

  #drop() {
    if (!this.#drag) return;
    const { tile, isMoved } = this.#drag;
    this.#drag = null;
    if (!isMoved) return;
    const [moved, area] = [tile.element.getBoundingClientRect(), this.#place.getBoundingClientRect()];
    tile.element.classList.remove("dragging");
    tile.element.style.translate = "";
    if (tile !== this.#stage.view.floating) return; // Someone has joined meanwhile.
    this.#put({ right: moved.left + moved.right > area.left + area.right, bottom: moved.top + moved.bottom > area.top + area.bottom });
  }

  #pressed(event) {
    if (!Object.hasOwn(arrows, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!event.target.matches(".tile.floating")) return;
    event.preventDefault();
    const { corner, isRightToLeft } = this.#stage.view;
    this.#put({ ...(corner ?? { right: !isRightToLeft, bottom: true }), ...arrows[event.key] });
  }

  #put(corner) {
    remember({ corner });
    this.#stage.look({ corner });
    announce(say(`layout.corner.${corner.bottom ? "bottom" : "top"}-${corner.right ? "right" : "left"}`));
  }

  /** For those who come to it by keyboard. */
  #mark() {
    const { floating } = this.#stage.view;
    if (this.#marked === floating) return;
    this.#marked?.element.removeAttribute("aria-keyshortcuts");
    floating?.element.setAttribute("aria-keyshortcuts", Object.keys(arrows).join(" "));
    this.#marked = floating;
  }
}
