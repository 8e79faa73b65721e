// The call that one is in, if any: joining, leaving, and what listens to the room.

import { dropToken, invitation, keep, keepToken, openInvitation, readClaims } from "/invitation.js";
import { Room } from "/roost.js";
import { query } from "/visit.js";

/**
 * | event | when |
 * |---|---|
 * | `enter` | one has joined |
 * | `refuse` | one hasn't, after all |
 * | `leave`, `detail` as in `closed` of the room | it is over |
 */
export class Call extends EventTarget {
  /** @type {Room | null} */
  room = null;
  /** What one is called, and what the room is. */
  name = "";
  roomName = "";

  /** Whether it has begun. */
  hasEntered = false;

  /** The access token that serves now. */
  token = "";

  /** By which others on the network reach the page, where it is for trying out. @type {string[]} */
  hosts = [];

  /** Whether no one else may join. */
  isLocked = false;

  #handlers = [];
  #explained = { room: null, at: 0, answer: null };

  /** Listens to an event of the room that one is in. */
  on(type, handle) {
    this.#handlers.push([type, handle]);
    if (this.room) this.#listen(this.room, type, handle);
  }

  #listen(room, type, handle) {
    room.addEventListener(type, ({ detail }) => {
      if (this.room === room) handle(detail);
    });
  }

  /** @throws {RoostError} with `end`, as in `closed`, where the call was over before it began */
  async join(roomName, name) {
    if (invitation() !== null && readClaims(invitation())?.name !== name) dropToken();
    const isNew = invitation() === null;
    this.token = invitation() ?? (await openInvitation(name)) ?? (await this.#developmentToken(roomName, name));
    const room = new Room({ url: location.origin, room: roomName, token: this.token });
    this.#listen(room, "joined", ({ room: state }) => (this.isLocked = state?.locked ?? false));
    this.#listen(room, "event", ({ settings }) => (this.isLocked = settings?.locked ?? this.isLocked));
    for (const [type, handle] of this.#handlers) this.#listen(room, type, handle);
    room.addEventListener("token", ({ detail }) => {
      if (this.room === room) this.token = detail.token;
      if (invitation() !== null) keep(detail.token);
    });
    room.addEventListener("closed", ({ detail }) => this.#end(room, detail));
    Object.assign(this, { room, roomName, name });
    // For the curious at the console, and for tests.
    window.roostPage = { get peerConnection() { return room.connection; }, room };
    let end = null;
    room.addEventListener("closed", ({ detail }) => (end = detail));
    try {
      await room.connect();
      if (end) throw new Error("the call has ended");
    } catch (error) {
      this.#end(room, { reason: "left" });
      room.leave();
      const isOver = error.code === "token-expired" || end?.reason === "tokenExpired";
      if (isOver && !isNew && dropToken()) return this.join(roomName, name);
      this.dispatchEvent(new CustomEvent("refuse"));
      throw Object.assign(error, { end });
    }
    this.hasEntered = true;
    keepToken();
    this.dispatchEvent(new CustomEvent("enter"));
  }

  leave() {
    this.room?.leave();
  }

  /** Whether one is a host here, as the token has it; the server alone judges it. */
  get isHost() {
    const { roomAdmin, room } = readClaims(this.token)?.video ?? {};
    return roomAdmin === true && (room === "*" || room === this.roomName);
  }

  /** What one gets of each track, and why: as in `explain` of the room, which may be asked once a second by all of the page. */
  explain() {
    const { room } = this;
    if (this.#explained.room !== room || performance.now() - this.#explained.at > 1500) {
      this.#explained = { room, at: performance.now(), answer: room.explain() };
    }
    return this.#explained.answer;
  }

  #end(room, detail) {
    if (this.room !== room) return;
    this.room = null;
    const wasIn = this.hasEntered;
    this.hasEntered = false;
    if (wasIn) this.dispatchEvent(new CustomEvent("leave", { detail }));
  }

  async #developmentToken(room, name) {
    const identity = query.get("identity") ?? `${[...name].slice(0, 24).join("")}-${Math.random().toString(36).slice(2, 8)}`;
    let answer;
    try {
      answer = await fetch("/dev/token", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ room, identity, name }),
      });
    } catch {
      throw Object.assign(new Error(), { code: "unreachable" });
    }
    if (answer.status === 404) throw Object.assign(new Error(), { code: "token-needed" });
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.detail ?? body.title);
    this.hosts = body.hosts ?? [];
    return body.token;
  }
}
