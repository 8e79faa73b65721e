// The panel of statistics.

import { element, nameOf } from "/elements.js";
import { Statistics, show } from "/statistics.js";

const words = { camera: "camera", microphone: "microphone", screen_share: "screen", screen_share_audio: "screen sound",
  unknown: "track" };

export class Readings {
  #call;
  #timer = null;

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
