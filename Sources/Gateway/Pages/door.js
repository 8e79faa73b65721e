// Says to hosts that someone waits to be let in.

import { hideNotice, notice, tell } from "/notices.js";
import { say } from "/words.js";

export class Door {
  #call;
  #side;
  #count = 0;

  /** @param {import("/call.js").Call} call @param {import("/side.js").Side} side */
  constructor(call, side) {
    this.#call = call;
    this.#side = side;
    for (const type of ["joined", "event"]) call.on(type, () => this.#look());
    call.addEventListener("leave", () => (this.#count = 0));
    this.#look();
  }

  #look() {
    const waiting = this.#call.room?.waiting ?? [];
    const before = this.#count;
    this.#count = waiting.length;
    if (this.#count === before) return;
    if (this.#count === 0) {
      hideNotice("door");
      return;
    }
    const [{ name, identity }] = waiting;
    const words = this.#count === 1 ? say("door.one", { name: name || identity }) : say("door.many", { count: this.#count });
    if (this.#count < before) return; // Who goes is no news.
    // Where the list is open it shows them already.
    if (this.#side.tab === "people") tell(words);
    else notice(words, { topic: "door", label: say("door.show"), action: () => this.#side.open("people") });
  }
}
