// The panel of statistics.

import { element, focusOn, nameOf, styled } from "/elements.js";
import { notice } from "/notices.js";
import { say } from "/words.js";

const known = ["camera", "microphone", "screen_share", "screen_share_audio"];
const sourceOf = (source) => say(`source.${known.includes(source) ? source : "unknown"}`);

export class Readings {
  #call;
  #isOpen = false;
  #timer = null;
  #parts = null; // what is fetched once it is opened
  #explained = null;
  #explainer = null;

  /** @param {import("/call.js").Call} call */
  constructor(call) {
    this.#call = call;
    element("statistics-toggle").addEventListener("click", () => this.#show(!this.isOpen));
    call.addEventListener("leave", () => this.#show(false));
  }

  get isOpen() {
    return this.#isOpen;
  }

  close() {
    this.#show(false);
    focusOn(element("statistics-toggle"));
  }

  #show(isShown) {
    clearInterval(this.#timer);
    clearInterval(this.#explainer);
    this.#isOpen = isShown;
    element("statistics-toggle").setAttribute("aria-expanded", String(isShown));
    if (isShown) this.#begin();
    else element("statistics").hidden = true;
  }

  async #begin() {
    this.#parts ??= Promise.all([import("/statistics.js"), import("/explained.js"), styled("/statistics.css"), styled("/explained.css")]);
    let parts;
    try {
      parts = await this.#parts;
    } catch {
      this.#parts = null;
      if (this.isOpen) notice(say("problem.unreachable"));
      this.#show(false);
      return;
    }
    const [{ Statistics, fill, show }, explained] = parts;
    if (!this.isOpen) return;
    if (element("statistics").hidden) this.#fill(fill);
    clearInterval(this.#timer); // Closed meanwhile, and opened again.
    clearInterval(this.#explainer);
    const statistics = new Statistics();
    const read = async () => {
      const connection = this.#call.room?.connection;
      if (!connection) return;
      show(await statistics.read(connection, (mid) => this.#section(mid)), element("transport"), element("track-rows"));
    };
    read();
    this.#timer = setInterval(read, 1000);
    this.#explain(explained);
    this.#explainer = setInterval(() => this.#explain(explained), 2000);
  }

  #fill(fill) {
    fill(element("statistics"), () => this.close());
    this.#explained = null;
    element("statistics").hidden = false;
  }

  /** Asks the server, which may be out of reach for a while or know nothing of it. */
  async #explain({ Explained, isWorthShowing }) {
    const { room } = this.#call;
    if (!room || document.hidden) return;
    let found;
    try {
      found = await this.#call.explain();
    } catch {
      return;
    }
    const shown = found.subscriptions.filter(isWorthShowing).map((subscription) => ({
      key: subscription.track, title: this.#title(subscription), subscription, transport: found.transport,
    })).sort((a, b) => a.title.localeCompare(b.title));
    this.#explained ??= new Explained(element("explanations"));
    this.#explained.show(shown, performance.now());
    element("explanations-title").hidden = shown.length === 0;
  }

  #title({ track, publisher }) {
    const participant = this.#call.room.participants.get(publisher);
    const source = participant?.tracks.find(({ id }) => id === track)?.source ?? "unknown";
    return say("statistics.whose", { name: nameOf(participant ?? {}), source: sourceOf(source) });
  }

  /** What a section of the connection carries, for people. */
  #section(mid) {
    const { room } = this.#call;
    const sent = room?.publications.find((each) => each.mid === mid);
    if (sent) return say("statistics.own", { source: sourceOf(sent.source) });
    const slot = room?.trackAt(mid);
    return slot ? say("statistics.whose", { name: nameOf(slot.participant), source: sourceOf(slot.track.source) }) : "";
  }
}
