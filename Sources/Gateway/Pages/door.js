// Says to hosts that someone waits to be let in: at once of whom it hasn't been said lately, and else in passing.

import { hideNotice, notice } from "/notices.js";
import { say } from "/words.js";

const pause = 10_000; // ms between two notices, of all who come
const again = 120_000; // ms between two notices for one identity that comes, goes and comes again
const most = 1000; // identities

export class Door {
  #call;
  #side;
  #news;
  #waiting = new Map(); // id → who waits
  #unsaid = new Set(); // ids of those who have come since the last notice
  #said = new Map(); // identity → when there was a notice for it
  #before = -Infinity; // when there was any
  #timer = 0;

  /** @param {import("/call.js").Call} call @param {import("/side.js").Side} side @param {import("/news.js").News} news */
  constructor(call, side, news) {
    this.#call = call;
    this.#side = side;
    this.#news = news;
    for (const type of ["joined", "event"]) call.on(type, () => this.#look());
    call.addEventListener("leave", () => {
      clearTimeout(this.#timer);
      this.#timer = 0;
      this.#waiting.clear();
      this.#unsaid.clear();
    });
    this.#look();
  }

  #look() {
    const before = this.#waiting;
    this.#waiting = new Map((this.#call.room?.waiting ?? []).map((each) => [each.id, each]));
    for (const [id, waiter] of before) {
      if (this.#waiting.has(id)) continue; // Who goes is no news.
      this.#unsaid.delete(id);
      this.#news.drop("waits", waiter);
    }
    for (const [id, waiter] of this.#waiting) if (!before.has(id)) this.#come(waiter);
    if (this.#waiting.size === 0) hideNotice("door");
    else if (this.#unsaid.size > 0) this.#timer ||= setTimeout(() => this.#say(), Math.max(0, this.#before + pause - performance.now()));
  }

  #come(waiter) {
    // Where the list is open it shows them already.
    const isKnown = performance.now() - (this.#said.get(waiter.identity) ?? -Infinity) < again;
    if (this.#side.tab === "people" || isKnown) this.#news.add("waits", waiter);
    else this.#unsaid.add(waiter.id);
  }

  #say() {
    this.#timer = 0;
    if (this.#unsaid.size === 0) return;
    const now = performance.now();
    this.#before = now;
    for (const id of this.#unsaid) {
      const { identity } = this.#waiting.get(id);
      this.#said.delete(identity);
      this.#said.set(identity, now);
      if (this.#said.size > most) this.#said.delete(this.#said.keys().next().value);
    }
    this.#unsaid.clear();
    const [{ name, identity }] = this.#waiting.values();
    const count = this.#waiting.size;
    notice(count === 1 ? say("door.one", { name: name || identity }) : say("door.many", { count }),
      { topic: "door", label: say("door.show"), action: () => this.#side.open("people") });
  }
}
