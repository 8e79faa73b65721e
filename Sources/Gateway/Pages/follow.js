// Follows a stream of Server-Sent Events by `fetch`, which carries a token, and goes on by itself when the connection breaks.

import { RESTError } from "/rest.js";
import { say } from "/words.js";

/** ms before it is asked for once more: the longer, the more often in a row nothing came of it. */
const pauses = [1000, 2000, 4000, 8000];
/** ms after which a stream is taken for broken that brings nothing: where there is nothing to say the server says so every 15 s. */
const silence = 35_000;
/** Why a stream has ended that goes on no more, as its `end` says it. */
const last = ["roomFinished", "tokenExpired", "removed", "notAllowed", "eventsGone"];
/** Refusals that hold, however often one asks. */
const refusals = [400, 401, 403, 404, 410];

/**
 * What comes of a stream, in pieces of any size (WHATWG HTML §9.2.6), as far as the server writes it: each field on one line. Lines end
 * with a line feed alone: the other signs that end one, such as U+2028, may be in any name.
 */
export class Blocks {
  #text = "";

  /** @param {string} piece @returns {{id?: string, event?: string, data?: string}[]} the events that it completes */
  read(piece) {
    const blocks = (this.#text + piece).split("\n\n");
    this.#text = blocks.pop();
    return blocks.map((block) => Object.fromEntries(block.split("\n").filter((line) => !line.startsWith(":"))
      .map((line) => /^([^:]*):? ?(.*)$/s.exec(line).slice(1)))).filter(({ data }) => data !== undefined);
  }
}

/**
 * What `on.event` and `on.trouble` throw is reported as an error of the page, and ends nothing.
 * @param {(options: {headers: object, signal: AbortSignal}) => Promise<Response>} open asks for the stream; rejects with a RESTError
 * @param {object} on
 * @param {(type: string, data: object, id?: string) => void} on.event
 * @param {(error: Error | null) => void} on.trouble it can't be read at the moment; null: it can again
 * @param {(why: {reason?: string, error?: Error}) => void} on.over there is no more, as the stream has said, or as it was refused
 * @param {string} [after] the id of an event, behind which it begins
 * @returns {() => void} ends it: nothing is called any more
 */
export function follow(open, on, after = "") {
  const control = new AbortController();
  read(open, on, control.signal, after);
  return () => control.abort();
}

async function read(open, on, signal, after) {
  const place = { id: after, failures: 0, isTroubled: false };
  while (!signal.aborted) {
    const line = new Line(signal, () => trouble(place, on, new RESTError(0, say("rest.away"))));
    let [answer, reason] = [];
    try {
      answer = await open({ headers: { accept: "text/event-stream", ...(place.id && { "last-event-id": place.id }) }, signal: line.signal });
      if (answer.status !== 204 && !signal.aborted) reason = await take(answer.body, place, on, line);
    } catch (error) {
      if (signal.aborted) return;
      if (refusals.includes(error.status)) return on.over({ error });
      trouble(place, on, error);
    } finally {
      line.end();
    }
    if (signal.aborted) return;
    if (answer?.status === 204) return on.over({ reason: "roomFinished" });
    if (last.includes(reason)) return on.over({ reason });
    await new Promise((done) => setTimeout(done, pauses[Math.min(place.failures, pauses.length - 1)]));
    place.failures += 1;
  }
}

/** One connection of a stream: given up when the stream is ended, and when nothing comes of it for a while. */
class Line {
  #control = new AbortController();
  #stop = () => {
    clearTimeout(this.#timer);
    this.#control.abort();
  };
  #whole; // the stream's own signal
  #silent;
  #timer = 0;

  /** @param {AbortSignal} whole @param {() => void} silent is called before it is given up for its silence */
  constructor(whole, silent) {
    [this.#whole, this.#silent] = [whole, silent];
    whole.addEventListener("abort", this.#stop);
    this.hear();
  }

  get signal() {
    return this.#control.signal;
  }

  /** Something has come. */
  hear() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#silent();
      this.#stop();
    }, silence);
  }

  end() {
    clearTimeout(this.#timer);
    this.#whole.removeEventListener("abort", this.#stop);
  }
}

function trouble(place, on, error) {
  if (!place.isTroubled) attempt(() => on.trouble(error));
  place.isTroubled = true;
}

/** @returns {Promise<string | undefined>} the reason of its end; undefined: it was cut on the way */
async function take(body, place, on, line) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  line.signal.addEventListener("abort", () => reader.cancel().catch(() => {}));
  const blocks = new Blocks();
  let reason;
  for (;;) {
    const piece = await reader.read().catch(() => ({ done: true }));
    if (piece.done) return reason;
    line.hear();
    for (const { id, event, data } of blocks.read(piece.value)) {
      if (line.signal.aborted) return reason;
      if (place.isTroubled) attempt(() => on.trouble(null));
      Object.assign(place, { failures: 0, isTroubled: false, id: id ?? place.id });
      attempt(() => {
        if (event === "end") reason = JSON.parse(data).reason;
        else on.event(event, JSON.parse(data), id);
      });
    }
  }
}

function attempt(act) {
  try {
    act();
  } catch (error) {
    reportError(error);
  }
}
