// What others do, as it is said in passing: in one pace for all, and of each identity once in a while, however often it comes and goes.

import { nameOf } from "/elements.js";
import { tell } from "/notices.js";
import { say } from "/words.js";

const pause = 3000; // ms between two lines
const again = 10_000; // ms between two words of one kind about one identity
const most = 1000; // identities of which it is known when they were spoken of, and about whom there is something to say

/** What is said of one, and of several together; `about`: of a kind one thing alone is said at a time. */
const kinds = {
  joined: { about: "presence", one: "call.joined", many: "call.joined.many" },
  left: { about: "presence", one: "call.left", many: "call.left.many" },
  shares: { about: "screen", one: "call.shares", many: "call.shares.many" },
  hand: { about: "hand", one: "hand.raised", many: "hand.raised.many" },
  waits: { about: "door", one: "door.one", many: "door.many" },
};

export class News {
  #said = new Map(); // identity and what it was about → when
  #next = new Map(); // the same → {what, name, due}
  #before = -Infinity; // when the last line was said
  #at = Infinity; // when the next is to be looked at
  #timer = 0;

  /** @param {import("/call.js").Call} call */
  constructor(call) {
    call.addEventListener("leave", () => this.#clear());
    call.on("event", ({ type, participant, track }) => {
      if (!participant || participant.id === call.room.me?.id) return;
      if (type === "participant.joined") this.add("joined", participant);
      if (type === "participant.left") {
        this.drop("shares", participant);
        this.add("left", participant);
      }
      if (type === "track.published" && track.source === "screen_share") this.add("shares", participant);
    });
  }

  /**
   * Something is to be said of somebody, as soon as it is time for it.
   * @param {keyof typeof kinds} what @param {{identity: string, name?: string}} who
   */
  add(what, who) {
    const key = `${kinds[what].about} ${who.identity}`;
    const before = this.#next.get(key);
    this.#next.delete(key);
    // Who came and went before it was said, or the other way round, is as before.
    if (before && before.what !== what) return;
    const now = performance.now();
    const due = before?.due ?? Math.max(now, (this.#said.get(key) ?? -Infinity) + again);
    kept(this.#next, key, { what, name: nameOf(who), due });
    this.#wait(due);
  }

  /** What is no longer so isn't said any more. */
  drop(what, { identity }) {
    this.#next.delete(`${kinds[what].about} ${identity}`);
  }

  #wait(due) {
    const at = Math.max(due, this.#before + pause);
    if (at >= this.#at) return;
    clearTimeout(this.#timer);
    this.#at = at;
    this.#timer = setTimeout(() => this.#say(), at - performance.now());
  }

  #say() {
    this.#at = Infinity;
    const now = performance.now();
    const names = {};
    let next = Infinity;
    for (const [key, { what, name, due }] of this.#next) {
      if (due > now) next = Math.min(next, due);
      else {
        this.#next.delete(key);
        kept(this.#said, key, now);
        (names[what] ??= []).push(name);
      }
    }
    const lines = Object.entries(names).map(([what, [name, ...others]]) => (
      others.length > 0 ? say(kinds[what].many, { count: others.length + 1 }) : say(kinds[what].one, { name })));
    if (lines.length > 0) {
      this.#before = now;
      tell(lines.join(" · "));
    }
    if (next < Infinity) this.#wait(next);
  }

  #clear() {
    clearTimeout(this.#timer);
    this.#at = Infinity;
    this.#next.clear();
    this.#said.clear();
  }
}

/** The oldest go first. */
function kept(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value);
}
