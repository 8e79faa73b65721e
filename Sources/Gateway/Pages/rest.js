// The REST interface, as far as administration needs it.

/** What the server refused. `status`: as in HTTP; 0: there was no answer. */
export class RESTError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The longest page of explanations. */
const explainedAtOnce = 100;

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

  /**
   * What some of a room get, and why. The server explains a span of its list at a time, so those who stand beside each other are
   * asked for together, and nothing is asked of the others.
   * @param {{identity: string}[]} people as `participants` has them, in the order of the server
   * @param {(person: object) => boolean} isAsked
   * @returns {Promise<object[]>} there may be others, who have joined since; those who have left are missing
   */
  async explain(room, people, isAsked) {
    const found = [];
    for (let first = 0, end; first < people.length; first = end + 1) {
      end = first;
      while (end < people.length && isAsked(people[end])) end++;
      if (end === first) continue;
      const span = first > 0 ? { after: behind(people[first - 1].identity) } : {};
      const { items } = await REST.upTo(end - first, (query) => (
        this.#ask("GET", `rooms/${encodeURIComponent(room)}/explain`, { query: { ...span, ...query } })), explainedAtOnce);
      found.push(...items);
    }
    return found;
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

/** The `after` of what follows a name, which is the server's own to read (base64url of its bytes). */
function behind(name) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(name)))
    .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

const participant = (room, identity) =>
  `rooms/${encodeURIComponent(room)}/participants/${encodeURIComponent(identity)}`;
