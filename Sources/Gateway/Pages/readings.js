// The panel of statistics.

import { element, nameOf } from "/elements.js";
import { Explained, isWorthShowing } from "/explained.js";
import { Statistics, show } from "/statistics.js";

const words = { camera: "camera", microphone: "microphone", screen_share: "screen", screen_share_audio: "screen sound",
  unknown: "track" };

export class Readings {
  #call;
  #timer = null;
  #explained = new Explained(element("explanations"));
  #explainer = null;

  /** @param {import("/call.js").Call} call */
  constructor(call) {
    this.#call = call;
    element("statistics-toggle").addEventListener("click", () => this.#show(element("statistics").hidden));
    element("statistics-close").addEventListener("click", () => this.close());
    call.addEventListener("leave", () => this.#show(false));
  }

  get isOpen() {
    return !element("statistics").hidden;
  }

  close() {
    this.#show(false);
    element("statistics-toggle").focus();
  }

  #show(isShown) {
    clearInterval(this.#timer);
    clearInterval(this.#explainer);
    element("statistics").hidden = !isShown;
    element("statistics-toggle").setAttribute("aria-expanded", String(isShown));
    if (!isShown) return;
    const statistics = new Statistics();
    const read = async () => {
      const connection = this.#call.room?.connection;
      if (!connection) return;
      show(await statistics.read(connection, (mid) => this.#section(mid)), element("transport"), element("track-rows"));
    };
    read();
    this.#timer = setInterval(read, 1000);
    this.#explain();
    this.#explainer = setInterval(() => this.#explain(), 2000);
  }

  /** Asks the server, which may be out of reach for a while or know nothing of it. */
  async #explain() {
    const { room } = this.#call;
    if (!room || document.hidden) return;
    let found;
    try {
      found = await room.explain();
    } catch {
      return;
    }
    const shown = found.subscriptions.filter(isWorthShowing).map((subscription) => ({
      key: subscription.track, title: this.#title(subscription), subscription, transport: found.transport,
    })).sort((a, b) => a.title.localeCompare(b.title));
    this.#explained.show(shown, performance.now());
    element("explanations-title").hidden = shown.length === 0;
  }

  #title({ track, publisher }) {
    const participant = this.#call.room.participants.get(publisher);
    const source = participant?.tracks.find(({ id }) => id === track)?.source ?? "unknown";
    return `${participant ? nameOf(participant) : "Someone"}: ${words[source] ?? source}`;
  }

  /** What a section of the connection carries, for people. */
  #section(mid) {
    const { room } = this.#call;
    const sent = room?.publications.find((each) => each.mid === mid);
    if (sent) return `You: ${words[sent.source] ?? sent.source}`;
    const slot = room?.trackAt(mid);
    return slot ? `${nameOf(slot.participant)}: ${words[slot.track.source] ?? slot.track.source}` : "";
  }
}
