// Who is in the room that is looked at, how they do, and what is done to them and their tracks.

import { act, ask, desk, finder, listed, maySee, query, write } from "/admin-desk.js";
import { History } from "/admin-history.js";
import { element, nameOf } from "/elements.js";
import { List } from "/list.js";
import { notice, tell } from "/notices.js";
import { milliseconds, percent, pixels, rate } from "/units.js";
import { isolated, locale, say } from "/words.js";

const sources = ["camera", "microphone", "screen_share", "screen_share_audio"];
const pictures = ["vp8", "vp9", "h264"];
const parts = ["closer", "gets"]; // of a row, that are opened
const mostIncluded = 8; // by the server, whatever the list's order

/** The rows that have an open part. */
const openRows = () => [...element("people").children].filter((row) => parts.some((part) => row.querySelector(`.${part}`).open));

/** What a track is of, within a sentence. */
export const sourceOf = ({ source }) => say(`source.${sources.includes(source) ? source : "unknown"}`);

export class PeoplePart {
  /** What was read of each in the last ten minutes. */
  history = new History();

  #search = element("people-search");
  #sort = element("people-sort");
  #room = null; // its name
  #changed;
  #forget;
  #list = new List(element("people"), element("person-row"), {
    key: ({ id }) => id,
    make: (row) => this.#make(row),
    update: (row, person) => this.#update(row, person),
    isSteady: true,
  });

  /** @param {{changed: () => void}} on `changed`: the server is to list others, or in another order */
  constructor({ changed }) {
    this.#changed = changed;
    this.#forget = finder(this.#search, this.#sort, () => {
      this.#list.reorder();
      changed();
    });
  }

  /** What the server is asked for. */
  get query() {
    const include = this.#wanted.join();
    return { ...query(this.#search, this.#sort), ...(include && { include }) };
  }

  /** Who is looked at closely, and so is to stay in the list however many come; not where others are searched for. */
  get #wanted() {
    if (this.#search.value.trim()) return [];
    return openRows().sort((one, other) => (one.openedAt ?? 0) - (other.openedAt ?? 0)).map(({ person }) => person.id).slice(-mostIncluded);
  }

  /**
   * @param {string} room its name
   * @param {{items: object[], hasMore: boolean, asked: object}} figures as `room` of the stream has them, with the `query` that they answer
   */
  show(room, { items, hasMore, asked }) {
    this.#room = room;
    const [there, included, wanted] = [new Set(items.map(({ id }) => id)), asked.include?.split(",") ?? [], this.#wanted];
    const missing = openRows().map(({ person }) => person).filter(({ id }) => !there.has(id));
    // Beyond the first of many: the next figures have them, or they have left.
    const unknown = missing.filter(({ id }) => hasMore && !asked.search && wanted.includes(id) && !included.includes(id));
    this.#put([...items, ...unknown]);
    for (const person of missing) {
      const hasLeft = !asked.search && (!hasMore || included.includes(person.id));
      if (hasLeft) tell(say("admin.event.participant.left", { name: nameOf(person) }));
    }
    element("no-people").hidden = items.length > 0;
    this.#sayNone();
    if (hasMore && wanted.some((id) => !included.includes(id))) this.#changed();
  }

  /** There is no room any more in which they could be. */
  end() {
    this.#put([]);
    element("no-people").hidden = true;
  }

  #put(items) {
    const hadFocus = element("people").contains(document.activeElement);
    this.#list.show(items);
    // The button that had the focus may have gone with its row.
    if (hadFocus && document.activeElement === document.body) element("room-title").focus();
  }

  #sayNone() {
    write(element("no-people"), say(this.#search.value.trim() ? "admin.people.none-found" : "admin.people.none"));
  }

  /** Another language was chosen: rows are made once more, and what was open of them is opened again. */
  sayAgain() {
    const rows = [...element("people").children];
    const open = rows.flatMap((row, place) => parts.filter((part) => row.querySelector(`.${part}`).open).map((part) => [place, part]));
    this.#list.show([]);
    this.#list.show(rows.map(({ person }) => person));
    for (const [place, part] of open) element("people").children[place].querySelector(`.${part}`).open = true;
    this.#sayNone();
  }

  clear() {
    this.#forget();
    this.#list.show([]);
    element("no-people").hidden = true;
    this.#search.value = "";
    this.#sort.value = "";
  }

  // -- rows

  #make(row) {
    row.tracks = new List(row.querySelector(".tracks"), element("track-row"), {
      key: ({ id }) => id,
      make: (line) => {
        line.querySelector(".mute").addEventListener("click", () => this.#mute(line));
        line.querySelector(".look").addEventListener("click", () => this.#look(line));
      },
      update: (line, track) => this.#updateTrack(line, row.person, track),
    });
    row.querySelector(".remove").addEventListener("click", () => this.#remove(row.person));
    for (const part of parts) row.querySelector(`.${part}`).addEventListener("toggle", () => this.#open(row, part));
  }

  #update(row, person) {
    row.person = person;
    const name = nameOf(person);
    for (const each of row.querySelectorAll(".name, .named")) write(each, name);
    row.querySelector(".speaks").hidden = person.speaking === undefined;
    row.querySelector(".hides").hidden = !person.hidden;
    const since = new Date(person.joinedAt).toLocaleTimeString(locale());
    write(row.querySelector(".person .about"), listed(name !== person.identity && isolated(person.identity), say("admin.since", { time: since }),
      person.quality && say(`quality.${person.quality}`)));
    const figures = { received: rate(person.received), sent: rate(person.sent), loss: percent(person.loss),
      "round-trip": milliseconds(person.roundTrip) };
    for (const [figure, words] of Object.entries(figures)) write(row.querySelector(`.${figure}`), words || "–");
    row.querySelector(".remove").setAttribute("aria-label", say("admin.remove.name", { name }));
    row.tracks.show(person.tracks);
    for (const part of parts) if (row.querySelector(`.${part}`).open) row[part]?.show(this.#room, person, this.history);
  }

  #updateTrack(line, person, track) {
    Object.assign(line, { person, track });
    const [name, source] = [nameOf(person), sourceOf(track)];
    write(line.querySelector(".kind"), say(`admin.source.${sources.includes(track.source) ? track.source : "unknown"}`));
    write(line.querySelector(".about"), listed(
      track.mutedByAdmin ? say("admin.muted.by-host") : track.muted && say("admin.muted"), track.codec,
      track.width && pixels(track.width, track.height), track.frameRate && say("unit.frames", { count: track.frameRate }), rate(track.bitrate),
      track.encodings > 1 && say("admin.encodings", { count: track.encodings }), track.encrypted && say("admin.encrypted")));
    const mute = line.querySelector(".mute");
    // The page of a participant that an administrator has muted stays muted until the participant unmutes.
    write(mute, say(track.mutedByAdmin ? "admin.allow" : "admin.mute"));
    mute.setAttribute("aria-label", say(track.mutedByAdmin ? "admin.allow.of" : "admin.mute.of", { name, source }));
    const look = line.querySelector(".look");
    look.hidden = track.kind !== "video" || track.muted || Boolean(track.encrypted) || !pictures.includes(track.codec?.toLowerCase())
      || !maySee(desk.grants);
    look.setAttribute("aria-label", say("admin.picture.of", { name, source }));
    // What was seen of a track that is muted or encrypted since is shown no longer.
    if (look.hidden) line.picture?.hide();
  }

  // -- parts that are opened

  /** Each has its own code, which is fetched when it is opened for the first time. */
  async #open(row, part) {
    const details = row.querySelector(`.${part}`);
    if (!details.open) return;
    row.openedAt = performance.now();
    try {
      const { Closer, Gets } = await import("/admin-person.js");
      row[part] ??= new (part === "closer" ? Closer : Gets)(details.querySelector(".content"));
    } catch {
      notice(say("rest.away"));
      return;
    }
    if (details.open) row[part].show(this.#room, row.person, this.history, true);
  }

  async #look(line) {
    let seen;
    try {
      seen = await import("/admin-thumbnail.js");
    } catch {
      notice(say("rest.away"));
      return;
    }
    line.picture ??= new seen.Picture(line.querySelector(".picture"), line.querySelector(".look"));
    await line.picture.take(this.#room, line.person, line.track);
  }

  // -- acts

  async #mute(line) {
    const { person, track } = line;
    const [room, isMuted] = [this.#room, !track.mutedByAdmin];
    let changed;
    const isDone = await act(async () => (changed = await desk.rest.mute(room, person.identity, track.id, isMuted)),
      say(isMuted ? "admin.done.mute" : "admin.done.allow", { name: nameOf(person), source: sourceOf(track) }));
    // The next figures say so too, in a moment.
    if (isDone && line.isConnected) this.#updateTrack(line, person, { ...track, ...changed });
  }

  async #remove(person) {
    const [room, name] = [this.#room, nameOf(person)];
    const isSure = await ask({ title: say("admin.remove.ask", { name, room }), text: say("hosts.remove.what"), yes: say("hosts.remove") });
    if (!isSure || !desk.rest) return;
    await act(() => desk.rest.remove(room, person.identity), say("hosts.done.remove", { name }));
  }
}
