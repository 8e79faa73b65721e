/**
 * What roost.js says to the server, over one WebSocket after the other as if it were one.
 *
 * A socket that breaks is replaced: the session is resumed, or joined again where the server no longer has it. Requests
 * that are in flight then are sent again under the same id, so that each is done once; events that come twice are taken
 * once. docs/signalling.md has the messages.
 * @module signalling
 */

/** Why the server refused something, or why there is no server. */
export class RoostError extends Error {
  /** One of docs/signalling.md's, or `unreachable`, `closed`, `declined`. @type {string} */
  code;
  /** Whether trying again can help. @type {"never" | "now" | "after"} */
  retry;

  /** @param {string} code @param {string} message @param {"never" | "now" | "after"} [retry] */
  constructor(code, message, retry = "never") {
    super(message);
    this.name = "RoostError";
    this.code = code;
    this.retry = retry;
  }
}

/** Milliseconds: the first pause before another socket is tried, the longest, and until one counts as not answering. */
const pauses = { first: 100, longest: 4000, answer: 10_000 };

/**
 * What may follow each state.
 *
 * | state | |
 * |---|---|
 * | `idle` | there is no session, and none is asked for |
 * | `joining` | a session is asked for: the token is fetched, the first socket opened |
 * | `waiting` | the server waits for a host to let the participant in, over a socket that is open |
 * | `open` | the session has a socket: messages come and go |
 * | `lost` | the session's socket has broken; another is looked for |
 * | `over` | nothing follows |
 */
const follows = {
  idle: ["joining", "over"],
  joining: ["waiting", "open", "idle", "over"],
  waiting: ["open", "lost", "idle", "over"],
  open: ["lost", "idle", "over"],
  lost: ["waiting", "open", "over"],
  over: [],
};

export class Signalling {
  #options;
  #listener;
  #state = "idle";
  #hasJoined = false; // once
  #socket = null;
  #giveUp = null; // ends the wait for the socket that is being opened
  #token = null; // as the server renewed it
  #resumeToken = null;
  #lastEvent = 0;
  #nextRequest = 1;
  #waiting = new Map(); // request id → {message, resolve, reject}
  #alive = null;
  #interval = 20; // seconds
  #asked = 0; // pings, and no message since
  #ending = null; // what is known of the end before it has come
  #hurry = null;

  /**
   * @param {{url: string, room: string, token: string | (() => string | Promise<string>), patience: number}} options
   * @param {object} listener is called in the order in which things come, with `waiting(message)`, `joined(message)`,
   *   `resumed(message)`, `message(message)`, `state("connected" | "reconnecting")` and, at last, `ended({reason, code?, error?})`
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
    if (!this.#goTo("joining")) throw new RoostError("closed", "it has been joined before");
    try {
      const joined = await this.#open({ type: "auth", token: await this.#accessToken() });
      globalThis.addEventListener?.("online", this.#wake);
      return joined;
    } catch (error) {
      if (this.#goTo("idle")) this.#hasJoined = false;
      throw error;
    }
  }

  /** Says what may be lost. */
  send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Asks, however often the socket breaks meanwhile. @returns the message that answers @throws {RoostError} */
  request(message) {
    if (this.#state === "over" || !this.#hasJoined) {
      return Promise.reject(new RoostError("closed", "there is no connection to the server"));
    }
    const id = this.#nextRequest++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { message: { ...message, id }, resolve, reject });
      if (this.#state === "open") this.send({ ...message, id });
    });
  }

  /** Gives up what has just been joined: it may be joined again, unless its end is on the way. */
  withdraw() {
    if (this.#state !== "open" || this.#ending) return this.leave();
    this.send({ type: "leave" });
    this.#discard(this.#socket);
    this.#goTo("idle");
    this.#hasJoined = false;
    this.#reject(new RoostError("closed", "the call has ended", "after"));
  }

  /** Says goodbye; the end follows, whether or not the server answers. */
  leave() {
    // Also behind a first message that isn't answered yet.
    this.send({ type: "leave" });
    if (!this.#hasJoined) {
      // There is no session yet, so nothing to end.
      this.#goTo("over");
      if (this.#socket) this.#discard(this.#socket);
      this.#stopOpening();
      return;
    }
    this.#ending ??= { reason: "left" };
    setTimeout(() => this.#end({ code: 1000 }), this.#state === "open" ? 500 : 0);
  }

  /** @returns whether that state may follow; else everything stays as it is */
  #goTo(state) {
    if (!follows[this.#state].includes(state)) return false;
    this.#state = state;
    return true;
  }

  // -- one socket

  /** Opens a socket with a first message. @returns its answer, which the listener has heard of by then */
  async #open(first) {
    // One may have left while the token was fetched.
    if (this.#state === "over" || this.#ending) throw new RoostError("closed", "the call has ended", "after");
    const url = new URL(`/v1/rooms/${encodeURIComponent(this.#options.room)}/connect`, this.#options.url);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url, "roost.v1");
    this.#socket = socket;
    let deadline = null;
    try {
      return await new Promise((resolve, reject) => {
        const unreachable = () => reject(new RoostError("unreachable", "the server cannot be reached", "after"));
        this.#giveUp = reject;
        deadline = setTimeout(unreachable, pauses.answer);
        socket.onclose = unreachable;
        socket.onopen = () => socket.send(JSON.stringify({ ...first, id: this.#nextRequest++ }));
        socket.onmessage = ({ data }) => {
          const message = JSON.parse(data);
          this.#asked = 0;
          if (message.type === "error") {
            reject(new RoostError(message.code, message.message, message.retry));
          } else if (message.type === "waiting") {
            clearTimeout(deadline);
            this.#wait(message, unreachable);
          } else if (message.type === "closed") {
            reject(notLetIn(message.reason));
          } else if (message.type === "joined" || message.type === "resumed") {
            try {
              this.#opened(socket, message);
              resolve(message);
            } catch (error) {
              // Nothing comes of this session here.
              this.send({ type: "leave" });
              reject(Object.assign(error, { retry: "never" }));
            }
          }
        };
      });
    } catch (error) {
      this.#discard(socket);
      throw error;
    } finally {
      clearTimeout(deadline);
      this.#giveUp = null;
    }
  }

  /** A host has to let the participant in: the socket stays open until then. */
  #wait(message, unreachable) {
    if (!this.#goTo("waiting")) return;
    this.#keepAlive(message.pingInterval, unreachable);
    this.#listener.waiting(message);
  }

  #stopOpening() {
    this.#giveUp?.(new RoostError("closed", "the call has ended", "after"));
  }

  /** The socket serves: all that follows depends on nothing that comes later. */
  #opened(socket, message) {
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    socket.onclose = ({ code }) => this.#lost(code);
    this.#goTo("open");
    this.#hasJoined = true;
    this.#resumeToken = message.resumeToken;
    this.#keepAlive(message.pingInterval, () => this.#lost(1006));
    if (message.type === "joined") {
      const asked = [...this.#waiting.values()];
      this.#waiting.clear();
      this.#lastEvent = message.lastEvent;
      // What was asked of the session before was asked of a participant that no longer exists.
      const error = new RoostError("session-gone", "the session was over before it answered", "now");
      for (const { reject } of asked) reject(error);
      this.#listener.joined(message);
    } else {
      this.#listener.resumed(message);
      const { answer } = message;
      this.#take(answer?.id)?.resolve({ type: "answer", ...answer });
      for (const { message } of this.#waiting.values()) this.send(message);
    }
    this.#listener.state("connected");
  }

  /** Asks for a sign of life every so many seconds. @param {() => void} silent is called when none comes */
  #keepAlive(interval, silent) {
    this.#interval = interval ?? this.#interval;
    clearInterval(this.#alive);
    this.#asked = 0;
    this.#alive = setInterval(() => {
      // A server that has vanished closes nothing, and TCP takes minutes to notice. Pings count, not the time: a page out of sight is late.
      if (this.#asked > 1) return silent();
      this.#asked += 1;
      this.send({ type: "ping" });
    }, this.#interval * 1000);
  }

  #receive(message) {
    this.#asked = 0;
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
    if (this.#state !== "open") return;
    this.#discard(this.#socket);
    const reason = this.#ending?.reason ?? { 4006: "replaced", 4011: "connectionLost" }[code];
    if (reason && reason !== "connectionLost") {
      this.#end({ reason, code });
      return;
    }
    // The server has given this session up; its participant may join again.
    if (reason) this.#resumeToken = null;
    this.#ending = null;
    this.#goTo("lost");
    this.#listener.state("reconnecting");
    this.#reconnect();
  }

  async #reconnect() {
    const deadline = performance.now() + this.#options.patience * 1000;
    for (let attempt = 0; this.#state !== "over"; attempt++) {
      // Not all clients at once, where the server itself was gone.
      const longest = Math.min(pauses.longest, pauses.first * 2 ** attempt);
      await this.#pause(attempt === 0 ? longest * Math.random() : longest * (0.5 + 0.5 * Math.random()));
      if (this.#state === "over") return;
      const isResumed = this.#resumeToken !== null;
      try {
        await this.#open(isResumed
          ? { type: "resume", resumeToken: this.#resumeToken, after: this.#lastEvent }
          : { type: "auth", token: await this.#accessToken() });
        return;
      } catch (error) {
        this.#goTo("lost"); // From waiting.
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
    if (!this.#goTo("over")) return;
    globalThis.removeEventListener?.("online", this.#wake);
    if (this.#socket) this.#discard(this.#socket);
    this.#stopOpening();
    this.#wake();
    const end = { reason: "connectionLost", ...detail, ...this.#ending };
    this.#reject(end.error ?? new RoostError("closed", `the connection has ended: ${end.reason}`, "after"));
    this.#listener.ended(end);
  }
}

/** Why one was not let in, where the server closes what waits. */
function notLetIn(reason) {
  if (reason === "removed") return new RoostError("refused", "a host has refused it");
  return Object.assign(new RoostError("closed", `it was closed: ${reason}`, "after"), { reason });
}
