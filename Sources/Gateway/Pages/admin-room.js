// The room that is looked at: what is done to it as a whole, who waits to be let in, and the stream of how those in it do.

import { act, age, ask, desk, listed, problem, trouble, write } from "/admin-desk.js";
import { PeoplePart } from "/admin-people.js";
import { states } from "/admin-rooms.js";
import { element, nameOf } from "/elements.js";
import { follow } from "/follow.js";
import { List } from "/list.js";
import { notice, tell } from "/notices.js";
import { REST } from "/rest.js";
import { rate } from "/units.js";
import { isolated, locale, say } from "/words.js";

const most = 10_000; // people muted at once
const tries = 5; // where the server asks for patience
const patience = 1000; // ms
const lull = 10_000; // ms between two words about those who wait
/** What is fetched when it is opened for the first time. */
const parts = {
  happened: async () => (await import("/admin-events.js")).EventsPart,
  links: async () => (await import("/admin-invitations.js")).InvitationsPart,
};

export class RoomPart {
  #name = null;
  #figures = null; // as the stream has them; null: there are none, or no more
  #people = new PeoplePart({ changed: () => this.#follow() });
  #stop = null;
  #isOver = false;
  #sayEnd = null; // says why there are no figures any more
  #parts = {}; // those that were opened
  #isMuting = false; // all, or allows all to unmute
  #isAsking = false; // who waits
  #waited = { count: 0, said: -Infinity }; // how many waited last, and when it was said that there are more
  #waiting = new List(element("waiters"), element("waiter-row"), {
    key: ({ id }) => id,
    make: (row) => {
      for (const [name, isAllowed] of [["admit", true], ["refuse", false]]) {
        row.querySelector(`.${name}`).addEventListener("click", () => this.#answer(row.waiter, isAllowed));
      }
    },
    update: (row, waiter) => this.#updateWaiter(row, waiter),
  });

  /** @param {{left: () => void}} on `left`: the token holds no more, as the stream has said */
  constructor({ left }) {
    this.left = left;
    element("mute-all").addEventListener("click", () => this.#muteAll("mute-all", true));
    element("allow-all").addEventListener("click", () => this.#muteAll("allow-all", false));
    element("lock").addEventListener("click", () => this.#lock());
    element("close").addEventListener("click", () => this.#close());
    for (const id of Object.keys(parts)) element(id).addEventListener("toggle", () => this.#openPart(id));
    document.addEventListener("visibilitychange", () => this.#render());
  }

  get name() {
    return this.#name;
  }

  /** @param {string | null} name null: none is looked at */
  open(name) {
    this.#name = name;
    this.#figures = null;
    this.#people.clear();
    if (name === null) this.#people.history.clear();
    this.#showWaiting([]);
    element("more-people").hidden = true;
    element("room").hidden = name === null;
    element("room-title").textContent = name ?? "";
    write(element("room-about"), "");
    this.#enable(false);
    this.#follow();
    this.#openParts();
  }

  /** What the server has listed: a room that was over may have been made again. @param {{name: string}[]} rooms */
  found(rooms) {
    if (this.#isOver && rooms.some(({ name }) => name === this.#name)) this.open(this.#name);
  }

  /** Another language was chosen. */
  sayAgain() {
    this.#people.sayAgain();
    for (const part of Object.values(this.#parts)) part.sayAgain();
    this.#render();
    this.#sayEnd?.();
  }

  // -- figures

  #follow() {
    this.#stop?.();
    this.#stop = null;
    this.#isOver = false;
    this.#sayEnd = null;
    trouble("room", null);
    if (this.#name === null) return;
    const [{ rest }, room] = [desk, this.#name];
    let asked;
    this.#stop = follow((options) => rest.statistics({ room, ...(asked = this.#people.query) }, options), {
      event: (type, figures) => { if (type === "room") this.#take({ ...figures, asked }); },
      trouble: (error) => trouble("room", error),
      over: ({ reason, error }) => this.#end(reason, error),
    });
  }

  #take(figures) {
    // The stream goes on with a room that was made again, which shares nothing but the name with the one before.
    const isOther = this.#figures !== null && this.#figures.room.id !== figures.room.id;
    this.#figures = figures;
    if (isOther) this.#openParts();
    this.#people.history.take(figures.items, performance.now());
    this.#render();
  }

  /** A window in the background has its figures kept, and shown when it comes to the front. */
  #render() {
    if (document.hidden || this.#figures === null) return;
    const { room, items, hasMore } = this.#figures;
    write(element("room-about"), listed(say("call.people", { count: room.participants }), say("admin.sending", { count: room.publishers }),
      say("admin.open-for", { age: age(room.age) }), say("admin.rates", { received: rate(room.received), sent: rate(room.sent) }), states(room)));
    this.#enable(true);
    write(element("lock"), say(room.locked ? "admin.unlock" : "admin.lock"));
    this.#people.show(this.#name, this.#figures);
    element("more-people").hidden = !hasMore;
    write(element("more-people"), say("admin.people.first", { count: items.length }));
    this.#lookWhoWaits(room.waiting);
  }

  #end(reason, error) {
    if (reason === "tokenExpired" || error?.status === 401) return this.left();
    // The token may hold for other rooms.
    const isRefused = ["removed", "notAllowed"].includes(reason) || error?.status === 403;
    this.#figures = null;
    this.#isOver = reason === "roomFinished" || error?.status === 404;
    this.#people.end();
    element("more-people").hidden = true;
    this.#showWaiting([]);
    this.#enable(false);
    this.#sayEnd = () => write(element("room-about"), this.#isOver ? say("admin.room.ended")
      : isRefused ? say("admin.room.refused") : error?.message ?? "");
    this.#sayEnd();
    return undefined;
  }

  // -- what is done to the room

  #enable(isThere) {
    for (const name of ["mute-all", "allow-all", "lock", "close"]) element(name).disabled = !isThere;
    element("close").hidden = !desk.grants.roomCreate;
  }

  /** Everyone in the room, however few of them are shown. @param {"mute-all" | "allow-all"} name of the button, and of what it says */
  async #muteAll(name, isMuted) {
    const [room, { rest }] = [this.#name, desk];
    const isSure = await ask({ title: say(`admin.${name}.ask`, { room }), text: say(`admin.${name}.what`), yes: say(`admin.${name}`) });
    // One after the other: two at once would undo each other's work.
    if (!isSure || desk.rest !== rest || this.#isMuting) return;
    this.#isMuting = true;
    element(name).setAttribute("aria-busy", "true");
    let count = 0;
    try {
      const { items } = await REST.upTo(most, (query) => rest.participants(room, query));
      for (const { identity, tracks } of items) {
        for (const track of tracks) {
          if (track.source !== "microphone" || track.mutedByAdmin === isMuted) continue;
          if (await patiently(() => rest.mute(room, identity, track.id, isMuted))) count += 1;
        }
      }
      tell(say(`admin.done.${name}`, { count }));
    } catch (error) {
      notice(say("admin.stopped", { count, reason: problem(error) }));
    }
    element(name).removeAttribute("aria-busy");
    this.#isMuting = false;
  }

  async #lock() {
    const [room, isLocked] = [this.#name, !this.#figures?.room.locked];
    const isDone = await act(() => desk.rest.change(room, { locked: isLocked }), say(isLocked ? "hosts.done.lock" : "hosts.done.unlock"));
    // The next figures say so too, in a moment.
    if (!isDone || room !== this.#name || this.#figures === null) return;
    this.#figures.room.locked = isLocked;
    this.#render();
  }

  async #close() {
    const room = this.#name;
    const isSure = await ask({ title: say("admin.close.ask", { room }), text: say("admin.close.what"), yes: say("admin.close") });
    if (!isSure || !desk.rest) return;
    if (await act(() => desk.rest.close(room), say("admin.done.close", { room }))) element("room-title").focus();
  }

  // -- who waits

  /** Asked for only while there are some. */
  async #lookWhoWaits(count) {
    if (count === 0) {
      this.#showWaiting([]);
      return;
    }
    if (this.#isAsking) return;
    this.#isAsking = true;
    const room = this.#name;
    try {
      const { items } = await desk.rest.waiting(room);
      if (room === this.#name && this.#figures !== null) this.#showWaiting(items);
    } catch {
      // The next figures bring the next try.
    }
    this.#isAsking = false;
  }

  #showWaiting(waiters) {
    const [count, now] = [waiters.length, performance.now()];
    if (count <= this.#waited.count) this.#waited.count = count;
    else if (now - this.#waited.said > lull) {
      this.#waited = { count, said: now };
      tell(say("door.many", { count }));
    }
    const list = element("waiters");
    const [focused, place] = [document.activeElement, [...list.children].findIndex((row) => row.contains(document.activeElement))];
    element("waiting").hidden = waiters.length === 0;
    this.#waiting.show(waiters);
    if (place < 0 || document.activeElement !== document.body) return;
    // The row has gone with its buttons: on with the same one of who waits next.
    const next = list.children[Math.min(place, list.children.length - 1)];
    (next?.querySelector(focused.matches(".refuse") ? ".refuse" : ".admit") ?? element("room-title")).focus();
  }

  #updateWaiter(row, waiter) {
    row.waiter = waiter;
    const name = nameOf(waiter);
    write(row.querySelector(".name"), name);
    const since = new Date(waiter.since).toLocaleTimeString(locale());
    write(row.querySelector(".about"), listed(name !== waiter.identity && isolated(waiter.identity), say("admin.since", { time: since })));
    for (const each of ["admit", "refuse"]) row.querySelector(`.${each}`).setAttribute("aria-label", say(`door.${each}.name`, { name }));
  }

  async #answer({ id, identity, name }, isAllowed) {
    const [room, { rest }] = [this.#name, desk];
    const done = say(isAllowed ? "admin.done.admit" : "admin.done.refuse", { name: name || identity });
    if (!await act(() => (isAllowed ? rest.admit(room, identity, id) : rest.refuse(room, identity, id)), done)) return;
    if (room === this.#name && desk.rest) await this.#lookWhoWaits(1);
  }

  // -- what is opened: the links that let others in, and what happened

  /** From their beginning, where they are open. */
  #openParts() {
    for (const id of Object.keys(parts)) {
      this.#parts[id]?.show(null);
      this.#openPart(id);
    }
  }

  async #openPart(id) {
    if (!element(id).open) {
      this.#parts[id]?.show(null);
      return;
    }
    try {
      const Part = await parts[id]();
      this.#parts[id] ??= new Part();
    } catch {
      notice(say("rest.away"));
      return;
    }
    if (element(id).open) this.#parts[id].show(this.#name);
  }
}

/** Asks again where the server asks for patience. @param {() => Promise<unknown>} request @returns {Promise<boolean>} false: it is gone */
async function patiently(request) {
  for (let left = tries; ; left--) {
    try {
      await request();
      return true;
    } catch (error) {
      if (error.status === 404) return false;
      if (error.status !== 429 || left === 0) throw error;
      await new Promise((done) => setTimeout(done, patience));
    }
  }
}
