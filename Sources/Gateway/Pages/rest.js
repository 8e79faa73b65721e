// The REST interface, as far as administration needs it.

import { say } from "/words.js";

/** What the server refused. `status`: as in HTTP; 0: there was no answer. `type`: of the problem, without what all of them begin with. */
export class RESTError extends Error {
  constructor(status, message = "", type = "") {
    super(message);
    this.status = status;
    this.type = type;
  }
}

/** The longest page of a list. */
const longest = 1000;
/** ms for an answer, all of it; a stream has its own watch. */
const patience = 15_000;

export class REST {
  #token;

  /** @param {string} token kept here and nowhere else */
  constructor(token) {
    this.#token = token;
  }

  /** @param {object} patch what is to be changed, as in `{locked: true}` @returns {Promise<object>} the room as it is now */
  change(room, patch) {
    return this.#ask("PATCH", inRoom(room), { body: patch });
  }

  close(room) {
    return this.#ask("DELETE", inRoom(room));
  }

  /** @returns {Promise<{items: object[], next?: string}>} `next` is the `after` of what follows */
  participants(room, query) {
    return this.#ask("GET", `${inRoom(room)}/participants`, { query });
  }

  participant(room, identity) {
    return this.#ask("GET", participant(room, identity));
  }

  /** @param {object} permissions what is to be changed of them @returns {Promise<object>} the participant as it is now */
  permit(room, identity, permissions) {
    return this.#ask("PATCH", participant(room, identity), { body: { permissions } });
  }

  /** @returns {Promise<{items: object[]}>} who waits to be let in */
  waiting(room) {
    return this.#ask("GET", `${inRoom(room)}/waiting`);
  }

  /** @param {string} waiting the id of one who waits */
  admit(room, identity, waiting) {
    return this.#ask("POST", `${participant(room, identity)}/admit`, { body: { waiting } });
  }

  /** Ends the wait of one session; another of its identity is no matter of it. @param {string} waiting the id of one who waits */
  refuse(room, identity, waiting) {
    return this.#ask("POST", `${participant(room, identity)}/admit`, { body: { waiting, allowed: false } });
  }

  /** @returns {Promise<{items: object[]}>} the links that let others in, without what opens them */
  invitations(room) {
    return this.#ask("GET", `${inRoom(room)}/invitations`);
  }

  /** @param {object} terms as `{ttl: 3600}` @returns {Promise<object>} the link, with its `url` this once */
  invite(room, terms) {
    return this.#ask("POST", `${inRoom(room)}/invitations`, { body: terms });
  }

  /** From now on a link lets in no one who isn't in. @param {string} invitation its id */
  revoke(room, invitation) {
    return this.#ask("DELETE", `${inRoom(room)}/invitations/${encodeURIComponent(invitation)}`);
  }

  /** What one participant gets, and why. @returns {Promise<object | undefined>} undefined: it isn't there any more */
  async explain(room, identity) {
    return (await this.#ask("GET", `${inRoom(room)}/explain`, { query: { identity } })).items[0];
  }

  mute(room, identity, track, muted) {
    return this.#ask("POST", `${trackOf(room, identity, track)}/mute`, { body: { muted } });
  }

  remove(room, identity) {
    return this.#ask("DELETE", participant(room, identity));
  }

  /** The last key frame of a track, as its publisher sent it. */
  async thumbnail(room, identity, track) {
    const answer = await this.#fetch("GET", `${trackOf(room, identity, track)}/thumbnail`);
    const [codec, width, height, time] = ["codec", "width", "height", "time"].map((name) => answer.headers.get(`roost-${name}`));
    return { codec, width: Number(width), height: Number(height), time, bytes: await whole(answer.arrayBuffer()) };
  }

  /** The stream of figures. @param {object} query @param {{headers: object, signal: AbortSignal}} options as of `fetch` */
  statistics(query, options) {
    return this.#fetch("GET", "statistics", { query, ...options });
  }

  /** What has happened in a room, from the oldest that is kept. @param {{after?: string, roomId?: string, limit: number}} query
   * @returns {Promise<{roomId: string, items: object[], next?: string, lastEvent: number}>} */
  events(room, query) {
    return this.#ask("GET", `${inRoom(room)}/events`, { query });
  }

  /** Every page of a list, up to `most` items. @param {(query: object) => Promise<{items: object[], next?: string}>} page */
  static async upTo(most, page) {
    const items = [];
    let next;
    do {
      const answer = await page({ limit: Math.min(most - items.length, longest), ...(next && { after: next }) });
      items.push(...answer.items);
      next = answer.next;
    } while (next && items.length < most);
    return { items, hasMore: next !== undefined };
  }

  /** @throws {RESTError} */
  async #ask(method, path, options) {
    const answer = await this.#fetch(method, path, options);
    return answer.status === 204 ? null : whole(answer.json());
  }

  /** @returns {Promise<Response>} what was asked for @throws {RESTError} */
  async #fetch(method, path, { query = {}, body, headers = {}, signal = AbortSignal.timeout(patience) } = {}) {
    const url = new URL(`/v1/${path}`, location.origin);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const all = { ...headers, authorization: `Bearer ${this.#token}`, ...(body && { "content-type": "application/json" }) };
    let answer;
    try {
      answer = await fetch(url, { method, headers: all, body: body && JSON.stringify(body), signal, cache: "no-store" });
    } catch (error) {
      throw lost(error);
    }
    if (answer.ok) return answer;
    const said = await answer.json().catch(() => null);
    throw new RESTError(answer.status, said?.detail ?? said?.title ?? say("rest.status", { status: String(answer.status) }),
      said?.type?.split(":").at(-1));
  }
}

/** @returns what comes of an answer's body; null: it isn't what it should be @throws {RESTError} where it breaks off */
const whole = (body) => body.catch((error) => {
  if (error instanceof SyntaxError) return null;
  throw lost(error);
});
/** The server can't be reached, or has taken too long. */
const lost = ({ name }) => new RESTError(0, say(name === "TimeoutError" ? "rest.late" : "rest.away"));
const inRoom = (room) => `rooms/${encodeURIComponent(room)}`;
const participant = (room, identity) => `${inRoom(room)}/participants/${encodeURIComponent(identity)}`;
const trackOf = (room, identity, track) => `${participant(room, identity)}/tracks/${encodeURIComponent(track)}`;
