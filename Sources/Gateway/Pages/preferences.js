/**
 * What was asked for of the others' tracks: which play, and how they are shown. Another session is asked for the same.
 * @module preferences
 */

/** A `view` says so much at most (docs/signalling.md). */
const viewsAtOnce = 64;

export class Preferences {
  #signalling;
  #asked = new Map(); // track id → subscribe or unsubscribe
  #views = new Map(); // track id → how it is shown

  /** @param {import("./signalling.js").Signalling} signalling */
  constructor(signalling) {
    this.#signalling = signalling;
  }

  /** Asks for a track, or gives it up. @param {{type: string, track: string}} message */
  async prefer(message) {
    this.#asked.set(message.track, message);
    await this.#signalling.request(message);
  }

  /** Says how tracks are shown. @param {{track: string}[]} tracks */
  async view(tracks) {
    for (const each of tracks) this.#views.set(each.track, each);
    await this.#sayViews(tracks);
  }

  /** Asks another session for the same. @param {(track: string) => boolean} isThere whether there is such a track any more */
  async sayAgain(isThere) {
    for (const [track, message] of this.#asked) if (isThere(track)) await this.#signalling.request(message);
    await this.#sayViews([...this.#views.values()].filter(({ track }) => isThere(track)));
  }

  /** Tracks have ended. @param {string[]} ids */
  drop(ids) {
    for (const id of ids) this.#asked.delete(id);
    for (const id of ids) this.#views.delete(id);
  }

  async #sayViews(tracks) {
    const requests = [];
    for (let first = 0; first < tracks.length; first += viewsAtOnce) {
      requests.push(this.#signalling.request({ type: "view", tracks: tracks.slice(first, first + viewsAtOnce) }));
    }
    await Promise.all(requests);
  }
}
