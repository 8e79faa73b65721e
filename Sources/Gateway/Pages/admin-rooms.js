// The rooms of the server, as it lists them: searched and sorted there, and one of them chosen here.

import { age, finder, listed, query, write } from "/admin-desk.js";
import { element } from "/elements.js";
import { List } from "/list.js";
import { milliseconds, percent, rate } from "/units.js";
import { say } from "/words.js";

export class RoomsPart {
  /** The name of the room that is looked at. @type {string | null} */
  chosen = null;

  #search = element("rooms-search");
  #sort = element("rooms-sort");
  #forget;
  #list;

  /** @param {{changed: () => void, choose: (name: string) => void}} on `changed`: the server is to list others, or in another order */
  constructor({ changed, choose }) {
    this.#list = new List(element("rooms"), element("room-row"), {
      key: ({ id }) => id,
      make: (row, { name }) => row.querySelector("button").addEventListener("click", () => choose(name)),
      update: (row, room) => this.#update(row, room),
      isSteady: true,
    });
    this.#forget = finder(this.#search, this.#sort, () => {
      this.#list.reorder();
      changed();
    });
  }

  /** What the server is asked for. */
  get query() {
    return query(this.#search, this.#sort);
  }

  /** @param {{items: object[], hasMore: boolean, rooms: number}} figures as `server` of the stream has them */
  show({ items, hasMore, rooms }) {
    const hadFocus = element("rooms").contains(document.activeElement);
    this.#list.show(items);
    // The button that had the focus may have gone with its row.
    if (hadFocus && document.activeElement === document.body) (element("room").hidden ? this.#search : element("room-title")).focus();
    const isSearched = this.#search.value.trim() !== "";
    element("rooms-count").textContent = hasMore ? say("admin.rooms.first", { count: items.length, rooms })
      : isSearched ? say("admin.rooms.found", { count: items.length }) : say("admin.rooms.count", { count: rooms });
    element("no-rooms").hidden = items.length > 0;
    element("no-rooms").textContent = say(isSearched ? "admin.rooms.none-found" : "admin.rooms.none");
  }

  clear() {
    this.#forget();
    this.chosen = null;
    this.#search.value = "";
    this.#sort.value = "";
    this.#list.show([]);
  }

  #update(row, room) {
    write(row.querySelector(".name"), room.name);
    write(row.querySelector(".counts"), listed(say("call.people", { count: room.participants }),
      say("admin.tracks", { count: room.tracks }), say("admin.open-for", { age: age(room.age) })));
    write(row.querySelector(".rates"), listed(say("admin.rates", { received: rate(room.received), sent: rate(room.sent) }),
      room.loss !== undefined && say("admin.loss-of", { loss: percent(room.loss) }),
      room.roundTrip !== undefined && say("admin.round-trip-of", { time: milliseconds(room.roundTrip) })));
    write(row.querySelector(".states"), states(room));
    row.querySelector("button").setAttribute("aria-current", String(room.name === this.chosen));
  }
}

/** What is so of a room at present. */
export const states = (room) => listed(
  room.waiting > 0 && say("admin.waiting.count", { count: room.waiting }), room.speaking > 0 && say("admin.speaking.count", { count: room.speaking }),
  room.recorded && say("admin.recorded"), room.locked && say("admin.locked"));
