// The REST interface, as far as administration needs it.

/** What the server refused. `status`: as in HTTP; 0: there was no answer. */
export class RESTError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class REST {
  #token;

  /** @param {string} token kept here and nowhere else */
  constructor(token) {
    this.#token = token;
  }

  /** @returns {Promise<{items: object[], next?: string}>} `next` is the `after` of what follows */
  rooms(query) {
    return this.#ask("GET", "rooms", { query });
  }

  participants(room, query) {
    return this.#ask("GET", `rooms/${encodeURIComponent(room)}/participants`, { query });
  }

  explain(room, query) {
    return this.#ask("GET", `rooms/${encodeURIComponent(room)}/explain`, { query });
  }

  mute(room, identity, track, muted) {
    return this.#ask("POST", `${participant(room, identity)}/tracks/${encodeURIComponent(track)}/mute`, { body: { muted } });
  }

  remove(room, identity) {
    return this.#ask("DELETE", participant(room, identity));
  }

  /** Every page of a list, up to `most` items. @param {(query: object) => Promise<{items: object[], next?: string}>} page */
  static async upTo(most, page, longest = 1000) {
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
  async #ask(method, path, { query, body } = {}) {
    const url = new URL(`/v1/${path}`, location.origin);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const headers = { authorization: `Bearer ${this.#token}` };
    if (body) headers["content-type"] = "application/json";
    let answer;
    try {
      answer = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
    } catch {
      throw new RESTError(0, "The server isn't responding. This page continues by itself when it does.");
    }
    if (answer.status === 204) return null;
    const said = await answer.json().catch(() => null);
    if (!answer.ok) throw new RESTError(answer.status, said?.detail ?? said?.title ?? `The server answered with status ${answer.status}`);
    return said;
  }
}

const participant = (room, identity) =>
  `rooms/${encodeURIComponent(room)}/participants/${encodeURIComponent(identity)}`;
