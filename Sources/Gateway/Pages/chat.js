// What people write to each other: kept while the call lasts, within bounds, whether or not anyone looks at it.

import { nameOf } from "/elements.js";
import { decoded, encoded } from "/letters.js";
import { announce, tell } from "/notices.js";
import { say } from "/words.js";

const topic = "chat";
const most = 500; // texts that are kept
const longest = 4000; // characters of a text
const flood = { texts: 10, span: 10_000, kept: 20 }; // so many of one sender in so many ms are folded, and the last few of them kept
const senders = 1000; // that are watched for floods
const pause = 1000; // ms between two announcements
const spoken = 120; // characters of a text that are read out

/**
 * @typedef {object} Text one message as it is shown
 * @property {string} key by which it is known again when it comes once more
 * @property {string} text
 * @property {number} time ms
 *
 * @typedef {Text & {sender: string, name: string, isOwn: boolean, state: "sent" | "sending" | "failed", folded: Text[], more: number,
 *   version: number}} Entry `more`: how many of a flood stand behind it, of which the last are in `folded`; `version` grows with each change
 */

/**
 * | event | when |
 * |---|---|
 * | `change` | there is something else to show |
 * | `clear` | what was said belongs to a call that is over |
 */
export class Chat extends EventTarget {
  /** The oldest first. @type {Entry[]} */
  entries = [];
  /** How many have come since they were looked at. */
  unread = 0;

  #call;
  #count = 0; // texts, with those that are folded
  #known = new Set(); // keys
  #senders = new Map(); // → {times, fold}
  #isWatched = false;
  #heard = 0; // since the last announcement
  #timer = 0;

  /** @param {import("/call.js").Call} call */
  constructor(call) {
    super();
    this.#call = call;
    call.on("joined", () => {
      if (!call.hasEntered) this.#clear(); // Another call, not another session of this one.
    });
    call.on("history", (messages) => this.recall(messages));
    call.on("data", (message) => this.hear(message));
    call.on("event", ({ participant }) => {
      if (participant?.id === call.room.me?.id) this.#changed(); // It may be about what one may do.
    });
    call.addEventListener("leave", () => this.#clear());
    document.addEventListener("visibilitychange", () => {
      if (this.#isSeen) this.isWatched = true;
    });
  }

  /** Whether one may write. */
  get canWrite() {
    return this.#call.room?.me?.permissions?.canPublishData !== false;
  }

  /** Whether the messages are open. */
  set isWatched(isWatched) {
    this.#isWatched = isWatched;
    if (this.#isSeen) this.unread = 0;
    this.#changed();
  }

  /** Nothing is seen of a page that is behind another one. */
  get #isSeen() {
    return this.#isWatched && !document.hidden;
  }

  /** Says something to all. @returns {boolean} whether there is anything in it */
  write(text) {
    const cleaned = clean(text);
    if (!cleaned) return false;
    const me = this.#call.room?.me;
    if (!me) return false;
    const id = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(12))));
    const entry = this.#enter({ key: `${me.identity} ${id}`, text: cleaned, time: Date.now(), sender: me.identity, name: nameOf(me) }, "sending");
    this.#deliver(entry);
    return true;
  }

  /** Tries once more; those who have it don't take it twice. @param {Entry} entry */
  again(entry) {
    this.#deliver(entry);
  }

  async #deliver(entry) {
    const { room } = this.#call;
    this.#change(entry, "sending");
    try {
      await room.sendData(encoded({ id: entry.key.slice(entry.sender.length + 1), text: entry.text }), { topic });
      this.#change(entry, "sent");
    } catch {
      this.#change(entry, "failed");
    }
  }

  /** What was said before one came, or while one was away. */
  recall(messages) {
    const counts = new Map();
    for (const { identity, name, topic: about, payload, time } of messages) {
      if (about !== topic) continue;
      this.#take({ sender: identity ?? "", name: name || identity || say("chat.unnamed"), payload, time: Date.parse(time) || Date.now(), counts });
    }
  }

  /** A message of another participant, whose name isn't known if it is hidden, or of who runs the room: which of both, the server doesn't say. */
  hear({ from, topic: about, payload }) {
    if (about !== topic) return;
    const known = this.#call.room?.participants.get(from);
    const name = known ? nameOf(known) : say(from ? "all.someone" : "chat.unnamed");
    this.#take({ sender: known?.identity ?? from ?? "", name, payload, time: Date.now() });
  }

  /** @param {{counts?: Map<string, number>}} message `counts`: how often which words are among those that are being recalled */
  #take({ sender, name, payload, time, counts = null }) {
    const said = decoded(payload);
    const text = typeof said?.text === "string" ? clean(said.text) : "";
    if (!text) return;
    const key = typeof said.id === "string" ? `${sender} ${said.id.slice(0, 64)}` : this.#numbered(`${sender} ${text}`, counts);
    if (this.#known.has(key)) return;
    const isOwn = this.#isOwn(sender);
    if (!isOwn && this.#isFlood(sender, time)) this.#fold(sender, { key, text, time });
    else this.#enter({ key, text, time, sender, name }, "sent");
    if (isOwn) return;
    if (!this.#isSeen) this.unread += 1;
    if (!counts) this.#read(name, text);
    this.#changed();
  }

  /** Without an id the same words may be said again; in what is recalled, those that one has heard come as often as they were said. */
  #numbered(words, counts) {
    let number = (counts?.get(words) ?? 0) + 1;
    counts?.set(words, number);
    while (!counts && this.#known.has(`${words} ${number}`)) number += 1;
    return `${words} ${number}`;
  }

  #isOwn(sender) {
    return sender !== "" && sender === this.#call.room?.me?.identity;
  }

  #enter(entry, state) {
    const whole = { ...entry, isOwn: this.#isOwn(entry.sender), state, folded: [], more: 0, version: 0 };
    this.entries.push(whole);
    const watched = this.#senders.get(entry.sender);
    if (watched) watched.fold = whole;
    this.#count += 1;
    this.#known.add(entry.key);
    while (this.#count > most) this.#forget(this.entries.shift());
    this.#changed();
    return whole;
  }

  #isFlood(sender, time) {
    const watched = this.#senders.get(sender) ?? { times: [], fold: null };
    // The last that was heard stands last, so that the first to go is one that was silent for longest.
    this.#senders.delete(sender);
    this.#senders.set(sender, watched);
    if (this.#senders.size > senders) this.#senders.delete(this.#senders.keys().next().value);
    watched.times.push(time);
    if (watched.times.length <= flood.texts) return false;
    return time - watched.times.shift() < flood.span && this.entries.includes(watched.fold);
  }

  /** A sender that writes without a pause has one place, and drives no one else's words out. */
  #fold(sender, text) {
    const { fold } = this.#senders.get(sender);
    fold.folded.push(text);
    fold.more += 1;
    fold.version += 1;
    this.#count += 1;
    this.#known.add(text.key);
    while (fold.folded.length > flood.kept) this.#drop(fold.folded.shift());
    while (this.#count > most) this.#forget(this.entries.shift());
  }

  #forget(entry) {
    for (const text of [entry, ...entry.folded]) this.#drop(text);
  }

  #drop({ key }) {
    this.#count -= 1;
    this.#known.delete(key);
  }

  /** Reads out what has come, or how much it is: one thing after the other. */
  #read(name, text) {
    this.#heard += 1;
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      const count = this.#heard;
      this.#timer = this.#heard = 0;
      if (!this.#call.hasEntered || count === 0) return;
      const words = count > 1 ? say("chat.more", { count }) : say("chat.heard", { name, text: shortened(text) });
      if (this.#isSeen) announce(words);
      else tell(words);
    }, pause);
  }

  #change(entry, state) {
    entry.state = state;
    entry.version += 1;
    this.#changed();
  }

  #clear() {
    this.entries = [];
    this.unread = this.#count = 0;
    this.#known.clear();
    this.#senders.clear();
    this.#heard = 0;
    this.dispatchEvent(new CustomEvent("clear"));
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new CustomEvent("change"));
  }
}

function shortened(text) {
  const letters = [...text.slice(0, 2 * spoken)];
  return letters.length > spoken ? `${letters.slice(0, spoken).join("")}…` : text;
}

/** Without signs that can't be seen, but for the ends of lines, and no longer than a text may be. */
function clean(text) {
  const seen = text.slice(0, 4 * longest).replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, " ").replace(/\n(?:[^\S\n]*\n){2,}/g, "\n\n").trim();
  return seen.length > longest ? `${seen.slice(0, longest).replace(/[\ud800-\udbff]$/, "")}…` : seen;
}
