// What concerns the call as a whole, above the tiles: the page is reconnecting, the server is about to stop, something is amiss here.

import { element } from "/elements.js";
import { beneath, tell } from "/notices.js";
import { restart } from "/messages.js";
import { say } from "/words.js";

// The worst first: one line at a time.
const order = ["reconnecting", "draining", "silent", "weak", "declined", "throttled"];

export class Banner {
  #lines = new Map();

  /** @param {import("/call.js").Call} call @param {import("/tiles.js").Stage} stage */
  constructor(call, stage) {
    call.addEventListener("leave", () => this.#clear());
    call.on("draining", ({ deadline }) => this.set("draining", restart(deadline)));
    // The messages' way and the media's way break and mend apart.
    const broken = new Set();
    const follow = (way, isBroken) => {
      const before = broken.size;
      if (isBroken) broken.add(way);
      else broken.delete(way);
      this.set("reconnecting", broken.size > 0 ? say("call.reconnecting") : null);
      stage.reconnecting = broken.size > 0;
      if (before > 0 && broken.size === 0) tell(say("call.back"));
    };
    call.addEventListener("leave", () => {
      broken.clear();
      stage.reconnecting = false;
    });
    call.on("state", (state) => follow("messages", state === "reconnecting"));
    call.on("connection", (state) => follow("media", state === "disconnected" || state === "failed"));
  }

  /**
   * @param {string} kind of `order` @param {string | null} words null: nothing is to be said of it
   * @param {{label?: string, action?: () => void, close?: () => void}} [options] a button; and what follows where it may be closed
   */
  set(kind, words, options = {}) {
    if (words) this.#lines.set(kind, { words, ...options });
    else this.#lines.delete(kind);
    beneath(() => this.#show());
  }

  #clear() {
    this.#lines.clear();
    beneath(() => this.#show());
  }

  #show() {
    const kind = order.find((each) => this.#lines.has(each));
    const { words = "", label = "", action, close } = this.#lines.get(kind) ?? {};
    if (element("banner").dataset.kind !== (kind ?? "")) element("banner").dataset.kind = kind ?? "";
    // Read out whenever it changes, so it isn't set without need.
    for (const [id, content] of [["banner-text", words], ["banner-action", label]]) {
      if (element(id).textContent !== content) element(id).textContent = content;
    }
    const buttons = [element("banner-action"), element("banner-close")];
    const focused = buttons.find((each) => each === document.activeElement);
    [buttons[0].onclick, buttons[1].onclick] = [() => action?.(), () => close?.()];
    [buttons[0].hidden, buttons[1].hidden] = [!action, !close];
    if (focused?.hidden) element("call").focus(); // A button that goes would take the focus with it.
  }
}
