// Who is in the call: a list that follows it, with what hosts can do to each, and who waits to be let in.

import { build, button } from "/build.js";
import { nameOf, sign } from "/elements.js";
import { HostActs } from "/host-acts.js";
import { List } from "/list.js";
import { locale, say } from "/words.js";

const pause = 250; // ms between two changes, however much happens

export class PeoplePanel {
  // Where there is nothing in it to go to, one scrolls it itself.
  element = build("section", { class: "people", tabindex: 0 });

  #call;
  #acts;
  #lock;
  #locked;
  #waiting;
  #waitingPart;
  #title = build("h2");
  #people;
  #order = new Intl.Collator(locale());
  #timer = 0;
  #isOpen = false;

  /** @param {import("/call.js").Call} call */
  constructor(call) {
    this.#call = call;
    this.#acts = new HostActs(call);
    const waiting = build("ul", { class: "rows" });
    this.#waitingPart = build("div", { class: "waiting" }, build("h2", {}, say("door.title")), waiting);
    this.#waiting = new List(waiting, template(), {
      key: ({ id }) => id,
      make: (row, waiter) => this.#makeWaiter(row, waiter),
      update: () => {},
    });
    const people = build("ul", { class: "rows" });
    this.#people = new List(people, template(), {
      key: ({ id }) => id,
      make: (row) => this.#makePerson(row),
      update: (row, participant) => this.#update(row, participant),
    });
    this.#lock = button(say("hosts.lock"), () => this.#acts.lock(!this.#call.isLocked), { class: "wide", id: "lock-room" });
    this.#locked = build("p", { class: "hint" }, say("hosts.locked"));
    this.element.append(this.#lock, this.#locked, this.#waitingPart, this.#title, people);
    for (const type of ["joined", "event"]) call.on(type, () => this.#soon());
  }

  show() {
    this.#isOpen = true;
    this.#render();
  }

  hide() {
    this.#isOpen = false;
  }

  /** @returns {boolean} that nothing here is to be written in */
  focus() {
    return false;
  }

  #soon() {
    if (!this.#isOpen || this.#timer) return;
    this.#timer = setTimeout(() => requestAnimationFrame(() => {
      this.#timer = 0;
      if (this.#isOpen) this.#render();
    }), pause);
  }

  #render() {
    const { room, isHost, isLocked } = this.#call;
    if (!room?.me) return;
    const focused = this.element.contains(document.activeElement) ? document.activeElement : null;
    const list = focused?.closest("ul");
    const place = [...list?.children ?? []].findIndex((row) => row.contains(focused));
    const others = [...room.participants.values()];
    this.#title.textContent = say("people.count", { count: others.length + 1 });
    this.#lock.hidden = !isHost;
    this.#lock.setAttribute("aria-pressed", String(isLocked));
    this.#locked.hidden = !isLocked;
    this.#waitingPart.hidden = !isHost || room.waiting.length === 0;
    this.#waiting.show(isHost ? room.waiting : []);
    this.#people.show([room.me, ...others.sort((one, other) => this.#compare(one, other))]);
    if (focused && !focused.checkVisibility()) this.#refocus(list?.children[place] ?? list?.lastElementChild);
  }

  /** What had the focus has gone: the row that is in its place gets it, else the whole. */
  #refocus(row) {
    row?.querySelector(".admit, .opener")?.focus();
    if (!this.element.contains(document.activeElement)) this.element.focus();
  }

  /** Hands that are raised come first, in the order in which they were. */
  #compare(one, other) {
    if (one.hand !== other.hand) return !other.hand || (one.hand && one.hand < other.hand) ? -1 : 1;
    return this.#order.compare(nameOf(one), nameOf(other));
  }

  // -- rows

  #makeWaiter(row, { id, identity, name }) {
    const called = name || identity;
    let isAnswered = false;
    // Once is enough: a second press is of the same will.
    const answer = async (allowed) => {
      if (isAnswered) return;
      isAnswered = true;
      isAnswered = await this.#acts.admit(id, allowed);
    };
    const act = (key, allowed) => button(say(`door.${key}`), () => answer(allowed),
      { class: key, "aria-label": say(`door.${key}.name`, { name: called }) });
    row.append(build("bdi", { class: "name" }, called), act("admit", true), act("refuse", false));
  }

  #makePerson(row) {
    const mark = (icon, key) => build("span", { class: "mark", role: "img", "aria-label": say(key), hidden: true }, sign(icon));
    row.marks = { hand: mark("hand", "hand.mark"), microphone: mark("microphone-off", "tile.muted") };
    row.name = build("bdi", { class: "name" });
    row.you = build("span", { class: "hint" });
    row.opener = button(sign("dots"), () => this.#open(row), { class: "icon opener", "aria-expanded": "false" });
    row.acts = build("div", { class: "acts", role: "group", hidden: true });
    row.append(row.name, row.you, row.marks.hand, row.marks.microphone, row.opener, row.acts);
  }

  #open(row) {
    row.acts.hidden = !row.acts.hidden;
    row.opener.setAttribute("aria-expanded", String(!row.acts.hidden));
    this.#acts.fill(row.acts, row.participant);
  }

  #update(row, participant) {
    row.participant = participant;
    const isOwn = participant.id === this.#call.room.me.id;
    const name = nameOf(participant);
    if (row.name.textContent !== name) row.name.textContent = name;
    row.you.textContent = isOwn ? say("people.you") : "";
    const microphones = participant.tracks.filter(({ source }) => source === "microphone");
    row.marks.microphone.hidden = microphones.some(({ muted }) => !muted);
    row.marks.hand.hidden = !participant.hand;
    row.opener.hidden = isOwn || !this.#call.isHost;
    row.opener.setAttribute("aria-label", say("hosts.acts", { name }));
    row.acts.setAttribute("aria-label", say("hosts.acts", { name }));
    if (row.opener.hidden) row.acts.hidden = true;
    if (!row.acts.hidden) this.#acts.fill(row.acts, participant);
  }
}

/** Of one row. */
function template() {
  const made = document.createElement("template");
  made.content.append(build("li"));
  return made;
}
