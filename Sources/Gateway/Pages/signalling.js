/**
 * What roost.js says to the server, over one WebSocket after the other as if it were one.
 *
 * A socket that breaks is replaced: the session is resumed, or joined again where the server no longer has it. Requests
 * that are in flight then are sent again under the same id, so that each is done once; events that come twice are taken
 * once. docs/signalling.md has the messages.
 * @module signalling
 */

/** Why the server refused something, or why there is no server. `code` is one of docs/signalling.md's, or
 * `unreachable`, `closed`, `declined`. `retry` says whether trying again can help: "never", "now" or "after". */
export class RoostError extends Error {
  constructor(code, message, retry = "never") {
    super(message);
    this.name = "RoostError";
    this.code = code;
    this.retry = retry;
  }
}

/** Milliseconds: the first pause before another socket is tried, the longest, and until one counts as not answering. */
const pauses = { first: 100, longest: 4000, answer: 10_000 };

export class Signalling {
  #options;
  #listener;
  #socket = null;
  #token = null; // as the server renewed it
  #resumeToken = null;
  #lastEvent = 0;
  #nextRequest = 1;
  #waiting = new Map(); // request id → {message, resolve, reject}
  #alive = null;
  #lastHeard = 0;
  #ending = null; // what is known of the end before it has come
  #isOver = false;
  #hurry = null;

  /**
   * @param {{url: string, room: string, token: string | (() => string | Promise<string>), patience: number}} options
   * @param {object} listener is called in the order in which things come, with `joined(message)`, `resumed(message)`,
   *   `message(message)`, `state("connected" | "reconnecting")` and, at last, `ended({reason, code?, error?})`
   */
  constructor(options, listener) {
    this.#options = options;
    this.#listener = listener;
  }

  /** The last event that came. */
  get lastEvent() {
    return this.#lastEvent;
  }

  /** Joins. @returns `joined` @throws {RoostError} once, without trying again */
  async join() {
    const joined = await this.#open({ type: "auth", token: await this.#accessToken() });
    globalThis.addEventListener?.("online", this.#wake);
    return joined;
  }

  /** Says what may be lost. */
  send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Asks, however often the socket breaks meanwhile. @returns the message that answers @throws {RoostError} */
  request(message) {
    if (this.#isOver || this.#lastHeard === 0) {
      return Promise.reject(new RoostError("closed", "there is no connection to the server"));
    }
    const id = this.#nextRequest++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { message: { ...message, id }, resolve, reject });
      if (this.#alive !== null) this.send({ ...message, id });
    });
  }

  /** Says goodbye; the end follows, whether or not the server answers. */
  leave() {
    if (this.#lastHeard === 0) {
      // There is no session yet, so nothing to end.
      this.#isOver = true;
      if (this.#socket) this.#discard(this.#socket);
      return;
    }
    this.#ending ??= { reason: "left" };
    this.send({ type: "leave" });
    setTimeout(() => this.#end({ code: 1000 }), this.#alive === null ? 0 : 500);
  }

  // -- one socket

  /** Opens a socket with a first message. @returns its answer, which the listener has heard of by then */
  async #open(first) {
    // One may have left while the token was fetched.
    if (this.#isOver || this.#ending) throw new RoostError("closed", "the call has ended", "after");
    const url = new URL(`/v1/rooms/${encodeURIComponent(this.#options.room)}/connect`, this.#options.url);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url, "roost.v1");
    this.#socket = socket;
    let deadline = null;
    try {
      return await new Promise((resolve, reject) => {
        const unreachable = () => reject(new RoostError("unreachable", "the server cannot be reached", "after"));
        deadline = setTimeout(unreachable, pauses.answer);
        socket.onclose = unreachable;
        socket.onopen = () => socket.send(JSON.stringify({ ...first, id: this.#nextRequest++ }));
        socket.onmessage = ({ data }) => {
          const message = JSON.parse(data);
          if (message.type === "error") {
            reject(new RoostError(message.code, message.message, message.retry));
          } else if (message.type === "joined" || message.type === "resumed") {
            this.#opened(socket, message);
            resolve(message);
          }
        };
      });
    } catch (error) {
      this.#discard(socket);
      throw error;
    } finally {
      clearTimeout(deadline);
    }
  }

  /** The socket serves: all that follows depends on nothing that comes later. */
  #opened(socket, message) {
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    socket.onclose = ({ code }) => this.#lost(code);
    this.#resumeToken = message.resumeToken;
    this.#lastHeard = performance.now();
    this.#interval = message.pingInterval ?? this.#interval;
    this.#alive = setInterval(() => this.#checkAlive(this.#interval * 1000), this.#interval * 1000);
    if (message.type === "joined") {
      const asked = [...this.#waiting.values()];
      this.#waiting.clear();
      this.#lastEvent = message.lastEvent;
      this.#listener.joined(message);
      // What was asked of the session before was asked of a participant that no longer exists.
      const error = new RoostError("session-gone", "the session was over before it answered", "now");
      for (const { reject } of asked) reject(error);
    } else {
      this.#listener.resumed(message);
      const { answer } = message;
      this.#take(answer?.id)?.resolve({ type: "answer", ...answer });
      for (const { message } of this.#waiting.values()) this.send(message);
    }
    this.#listener.state("connected");
  }
  #interval = 20;

  #checkAlive(interval) {
    // A server that has vanished closes nothing, and TCP takes minutes to notice.
    if (performance.now() - this.#lastHeard > 2 * interval) this.#lost(1006);
    else this.send({ type: "ping" });
  }

  #receive(message) {
    this.#lastHeard = performance.now();
    switch (message.type) {
      case "event":
        if (message.event.id <= this.#lastEvent) return;
        this.#lastEvent = message.event.id;
        break;
      case "token":
        this.#token = message.token;
        break;
      case "closed":
        this.#ending ??= { reason: message.reason };
        return;
      case "error": {
        const waiting = this.#take(message.id);
        const error = new RoostError(message.code, message.message, message.retry);
        if (waiting) waiting.reject(error);
        else this.#listener.message({ type: "error", error });
        return;
      }
      default:
    }
    this.#listener.message(message);
    this.#take(message.id)?.resolve(message);
  }

  #take(id) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #reject(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #discard(socket) {
    socket.onopen = socket.onclose = socket.onmessage = null;
    socket.close();
    if (this.#socket === socket) this.#socket = null;
    clearInterval(this.#alive);
    this.#alive = null;
  }

  // -- from one socket to the next

  #lost(code) {
    if (this.#isOver) return;
    if (this.#socket) this.#discard(this.#socket);
    const reason = this.#ending?.reason ?? { 4006: "replaced", 4011: "connectionLost" }[code];
    if (reason && reason !== "connectionLost") {
      this.#end({ reason, code });
      return;
    }
    // The server has given this session up; its participant may join again.
    if (reason) this.#resumeToken = null;
    this.#ending = null;
    this.#listener.state("reconnecting");
    this.#reconnect();
  }

  async #reconnect() {
    const deadline = performance.now() + this.#options.patience * 1000;
    for (let attempt = 0; !this.#isOver; attempt++) {
      // Not all clients at once, where the server itself was gone.
      const longest = Math.min(pauses.longest, pauses.first * 2 ** attempt);
      await this.#pause(attempt === 0 ? longest * Math.random() : longest * (0.5 + 0.5 * Math.random()));
      if (this.#isOver) return;
      const isResumed = this.#resumeToken !== null;
      try {
        await this.#open(isResumed
          ? { type: "resume", resumeToken: this.#resumeToken, after: this.#lastEvent }
          : { type: "auth", token: await this.#accessToken() });
        return;
      } catch (error) {
        // Where trying again can help the session is still there.
        if (isResumed && error.retry !== "after") {
          this.#resumeToken = null;
          attempt = -1;
        } else if (error.retry === "never" || performance.now() > deadline) {
          this.#end({ reason: "connectionLost", error });
        }
      }
    }
  }

  async #accessToken() {
    const { token } = this.#options;
    return typeof token === "function" ? await token() : (this.#token ?? token);
  }

  #pause(time) {
    return new Promise((resolve) => {
      this.#hurry = resolve;
      setTimeout(resolve, time);
    });
  }

  #wake = () => this.#hurry?.();

  #end(detail) {
    if (this.#isOver) return;
    this.#isOver = true;
    globalThis.removeEventListener?.("online", this.#wake);
    if (this.#socket) this.#discard(this.#socket);
    this.#wake();
    const end = { reason: "connectionLost", ...detail, ...this.#ending };
    this.#reject(end.error ?? new RoostError("closed", `the connection has ended: ${end.reason}`, "after"));
    this.#listener.ended(end);
  }
}
