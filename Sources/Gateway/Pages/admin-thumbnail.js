// The last key frame of a track as its publisher sent it, decoded here by the browser: the server decodes no picture.

import { desk, listed, problem } from "/admin-desk.js";
import { sourceOf } from "/admin-people.js";
import { build, button } from "/build.js";
import { nameOf } from "/elements.js";
import { notice } from "/notices.js";
import { pixels } from "/units.js";
import { locale, say } from "/words.js";

/** Pixels that are drawn at most, of a picture that a stranger has sent. */
const most = 8192 * 4320;
const patience = 5000; // ms for the decoder

export class Picture {
  #place;
  #opener;
  #canvas = build("canvas", { role: "img" });
  #words = build("figcaption");
  #wanted = 0; // what was asked for last; what comes of anything before is out of date

  /** @param {HTMLElement} place of the picture, hidden @param {HTMLButtonElement} opener gets the focus when the picture goes */
  constructor(place, opener) {
    [this.#place, this.#opener] = [place, opener];
    const hide = button(say("admin.picture.hide"), () => {
      this.hide();
      this.#opener.focus();
    }, { class: "plain" });
    place.append(this.#canvas, this.#words, hide);
  }

  /** One at a time: another one at once would be refused, and leave nothing of what everyone has heard of. @param {string} room its name */
  async take(room, person, track) {
    if (this.#opener.getAttribute("aria-busy")) return;
    // Nothing is asked for that couldn't be shown: everyone in the room hears of it.
    if (!globalThis.VideoDecoder) {
      notice(say("admin.picture.unsupported"));
      return;
    }
    const wanted = ++this.#wanted;
    this.#opener.setAttribute("aria-busy", "true");
    try {
      const found = await desk.rest.thumbnail(room, person.identity, track.id);
      const frame = await decoded(found);
      if (wanted === this.#wanted) this.#show(frame, found, nameOf(person), sourceOf(track));
      frame.close();
    } catch (error) {
      if (wanted === this.#wanted) notice(error instanceof Undecoded ? error.message : refusal(error));
    }
    this.#opener.removeAttribute("aria-busy");
  }

  hide() {
    this.#wanted += 1;
    this.#place.hidden = true;
    Object.assign(this.#canvas, { width: 0, height: 0 });
  }

  #show(frame, { time }, name, source) {
    const [width, height] = [frame.displayWidth, frame.displayHeight];
    Object.assign(this.#canvas, { width, height });
    this.#canvas.getContext("2d").drawImage(frame, 0, 0, width, height);
    const at = new Date(time).toLocaleTimeString(locale());
    this.#canvas.setAttribute("aria-label", say("admin.picture.shown", { name, source, time: at }));
    this.#words.textContent = listed(at, pixels(width, height), say("admin.picture.heard"));
    this.#place.hidden = false;
  }
}

/** A picture that this browser can't show, in words. */
class Undecoded extends Error {}

function refusal(error) {
  if (error.status === 409) return say("admin.picture.none", { reason: error.message });
  if (error.status === 503 && error.type === "late") return say("admin.picture.late");
  return error.status === 429 ? say("admin.picture.often") : problem(error);
}

/** @param {{codec: string, width: number, height: number, bytes: ArrayBuffer}} found @returns {Promise<VideoFrame>} */
async function decoded({ codec, width, height, bytes }) {
  const config = { codec, ...(width && height && { codedWidth: width, codedHeight: height }), optimizeForLatency: true };
  const { supported } = await VideoDecoder.isConfigSupported(config).catch(() => ({ supported: false }));
  if (!supported || width * height > most) throw new Undecoded(say("admin.picture.codec", { codec }));
  let [timer, isOver] = [0, false];
  let decoder;
  try {
    return await new Promise((resolve, reject) => {
      const broken = () => reject(new Undecoded(say("admin.picture.broken")));
      timer = setTimeout(broken, patience);
      const output = (frame) => {
        if (!isOver && frame.displayWidth * frame.displayHeight <= most) resolve(frame);
        else frame.close();
        isOver = true;
      };
      decoder = new VideoDecoder({ output, error: broken });
      decoder.configure(config);
      decoder.decode(new EncodedVideoChunk({ type: "key", timestamp: 0, data: bytes }));
      decoder.flush().then(broken, broken); // If nothing has come out of it by then.
    });
  } finally {
    clearTimeout(timer);
    if (decoder && decoder.state !== "closed") decoder.close();
  }
}
