// What happened in the room that is looked at, and what happens: filtered here, the newest first. It is asked for page by page: browsers
// open six connections to one server, and the streams of figures of two windows take four.

import { desk, listed, problem, trouble } from "/admin-desk.js";
import { sourceOf } from "/admin-people.js";
import { build } from "/build.js";
import { element, nameOf } from "/elements.js";
import { notice } from "/notices.js";
import { isolated, locale, say } from "/words.js";

const kept = 1000; // events
const shown = 200; // rows
const pause = 200; // ms between two changes, however much happens
const every = 2000; // ms between two pages, where there is no more for now
const limit = 200; // events of a page
/** ms before what is kept is read from its oldest once more: the longer, the more often in a row it went away meanwhile. */
const pauses = [1000, 2000, 4000, 8000, 16_000, 32_000];
const refusals = [400, 401, 403, 404]; // that hold, however often one asks
const calm = 120_000; // ms without that, after which it is the first time again
const groups = { room: "room", recording: "room", call: "room", session: "room", participant: "people", waiting: "people", track: "tracks",
  thumbnail: "tracks" };
const known = ["room.started", "room.finished", "room.updated", "room.recording", "recording.ended", "participant.joined", "participant.left",
  "participant.updated", "participant.reconnecting", "participant.reconnected", "participant.waiting", "waiting.ended", "track.published",
  "track.unpublished", "track.muted", "track.unmuted", "thumbnail.taken"];
const reasons = ["left", "removed", "connectionLost", "duplicateIdentity", "movedElsewhere", "roomClosed", "serverShutdown", "admitted",
  "timedOut", "refused"];

export class EventsPart {
  #list = element("events");
  #kind = element("events-kind");
  #search = element("events-search");
  #events = []; // oldest first
  #room = null;
  #life = ""; // the room's id, which the next room of this name doesn't share
  #last = null; // the number of the last event that was read
  #look = 0; // counts beginnings: what answers an earlier one is out of date
  #gone = { count: 0, at: -Infinity }; // how often in a row what follows it was no longer kept, and when last
  #again = 0; // the timer of the next page
  #timer = 0;

  constructor() {
    this.#kind.addEventListener("change", () => this.#render());
    this.#search.addEventListener("input", () => this.#soon());
    document.addEventListener("visibilitychange", () => this.#follow());
  }

  /** @param {string | null} room its name; null: none is looked at */
  show(room) {
    if (room === this.#room) return;
    this.#room = room;
    this.#gone = { count: 0, at: -Infinity };
    this.#forget();
    this.#follow();
  }

  /** Another language was chosen. */
  sayAgain() {
    this.#render();
  }

  /** What was read is no longer known: the next is the oldest that is kept. */
  #forget() {
    [this.#events, this.#life, this.#last] = [[], "", null];
    this.#soon();
  }

  /** Goes on behind what was read; a window in the background follows nothing. */
  #follow() {
    clearTimeout(this.#again);
    this.#look += 1;
    trouble("events", null);
    if (this.#room !== null && !document.hidden) this.#read(this.#look);
  }

  async #read(look) {
    let isBehind = false;
    try {
      const page = await desk.rest.events(this.#room, { limit, ...(this.#last !== null && { after: this.#last, roomId: this.#life }) });
      if (look !== this.#look) return;
      trouble("events", null);
      isBehind = this.#take(page);
    } catch (error) {
      if (look !== this.#look) return;
      if (error.status === 410) {
        this.#miss();
        return;
      }
      if (refusals.includes(error.status)) {
        // The room may be over for long.
        if (error.status !== 404) notice(problem(error));
        return;
      }
      trouble("events", error);
    }
    this.#again = setTimeout(() => this.#read(look), isBehind ? 0 : every);
  }

  /** @returns {boolean} whether there is more */
  #take({ roomId, items, lastEvent }) {
    this.#life = roomId;
    this.#last = items.at(-1)?.id ?? this.#last ?? lastEvent;
    if (items.length === 0) return false;
    this.#events.push(...items.map(brief));
    if (lastEvent - this.#last > kept) [this.#events, this.#last] = [[], lastEvent - kept]; // It would not be kept here anyway.
    if (this.#events.length > 2 * kept) this.#events.splice(0, this.#events.length - kept);
    this.#soon();
    return this.#last < lastEvent;
  }

  /** What was missed meanwhile isn't kept any more: on with the oldest that is, in a while. */
  #miss() {
    const now = performance.now();
    const count = now - this.#gone.at > calm ? 0 : this.#gone.count;
    this.#gone = { count: count + 1, at: now };
    this.#forget();
    this.#again = setTimeout(() => this.#follow(), pauses[Math.min(count, pauses.length - 1)]);
  }

  #soon() {
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      this.#render();
    }, pause);
  }

  #render() {
    const wanted = this.#search.value.trim().toLocaleLowerCase();
    const found = [];
    for (let place = this.#events.length - 1; place >= 0 && found.length < shown; place--) {
      const event = this.#events[place];
      if (this.#kind.value && groups[event.type.split(".")[0]] !== this.#kind.value) continue;
      const row = this.#row(event);
      if (!wanted || row.words.toLocaleLowerCase().includes(wanted)) found.push(row);
    }
    this.#list.replaceChildren(...found.map(({ time, words }) => build("li", {}, build("time", { datetime: time },
      new Date(time).toLocaleTimeString(locale())), build("span", { dir: "auto" }, words))));
    element("no-events").hidden = found.length > 0;
    element("no-events").textContent = say(wanted || this.#kind.value ? "admin.events.none-found" : "admin.events.none");
  }

  #row(event) {
    const who = event.participant ?? event.waiting;
    const name = who ? nameOf(who) : "";
    const words = !known.includes(event.type) ? event.type
      : say(`admin.event.${event.type}`, { name, source: event.track ? sourceOf(event.track) : "" });
    const { time, reason } = event;
    return { time, words: listed(words, who && name !== who.identity && isolated(who.identity),
      reasons.includes(reason) && say(`admin.reason.${reason.toLowerCase()}`)) };
  }
}

/** What is shown of an event and nothing else: what participants say of themselves may have 128 KiB, and comes with each. */
export function brief({ type, time, reason, participant, waiting, track }) {
  const named = (who) => who && { identity: who.identity, name: who.name };
  return { type, time, reason: reason ?? waiting?.reason, participant: named(participant), waiting: named(waiting),
    track: track && { source: track.source } };
}
