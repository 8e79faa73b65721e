// What concerns the call as a whole, above the tiles: the page is reconnecting, the server is about to stop.

import { element } from "/elements.js";
import { say } from "/notices.js";
import { restart } from "/messages.js";

// The worst first: one line at a time.
const order = ["reconnecting", "draining"];

export class Banner {
  #texts = new Map();

  /** @param {import("/call.js").Call} call @param {import("/tiles.js").Stage} stage */
  constructor(call, stage) {
    call.addEventListener("leave", () => this.#clear());
    call.on("draining", ({ deadline }) => this.#set("draining", restart(deadline)));
    // The messages' way and the media's way break and mend apart.
    const broken = new Set();
    const follow = (way, isBroken) => {
      const before = broken.size;
      if (isBroken) broken.add(way);
      else broken.delete(way);
      this.#set("reconnecting", broken.size > 0 ? "Reconnecting…" : null);
      stage.reconnecting = broken.size > 0;
      if (before > 0 && broken.size === 0) say("You're back online");
    };
    call.addEventListener("leave", () => {
      broken.clear();
      stage.reconnecting = false;
    });
    call.on("state", (state) => follow("messages", state === "reconnecting"));
    call.on("connection", (state) => follow("media", state === "disconnected" || state === "failed"));
  }

  #set(kind, words) {
    if (words) this.#texts.set(kind, words);
    else this.#texts.delete(kind);
    this.#show();
  }

  #clear() {
    this.#texts.clear();
    this.#show();
  }

  #show() {
    const kind = order.find((each) => this.#texts.has(each));
    element("banner").dataset.kind = kind ?? "";
    // Read out whenever it changes, so it isn't set without need.
    const words = this.#texts.get(kind) ?? "";
    if (element("banner-text").textContent !== words) element("banner-text").textContent = words;
  }
}
