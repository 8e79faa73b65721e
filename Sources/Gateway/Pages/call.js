// The call that one is in, if any: joining, leaving, and what listens to the room.

import { invitation, keep } from "/invitation.js";
import { tokenNeeded } from "/messages.js";
import { Room } from "/roost.js";
import { query } from "/visit.js";

/**
 * | event | when |
 * |---|---|
 * | `enter` | one has joined |
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

  #handlers = [];

  /** Listens to an event of the room that one is in. */
  on(type, handle) {
    this.#handlers.push([type, handle]);
  }

  /** @throws {RoostError} with `end`, as in `closed`, where the call was over before it began */
  async join(roomName, name) {
    const room = new Room({ url: location.origin, room: roomName, token: invitation() ?? (await developmentToken(roomName, name)) });
    for (const [type, handle] of this.#handlers) {
      room.addEventListener(type, ({ detail }) => {
        if (this.room === room) handle(detail);
      });
    }
    room.addEventListener("token", ({ detail }) => {
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
      throw Object.assign(error, { end });
    }
    this.hasEntered = true;
    this.dispatchEvent(new CustomEvent("enter"));
  }

  leave() {
    this.room?.leave();
  }

  #end(room, detail) {
    if (this.room !== room) return;
    this.room = null;
    const wasIn = this.hasEntered;
    this.hasEntered = false;
    if (wasIn) this.dispatchEvent(new CustomEvent("leave", { detail }));
  }
}

async function developmentToken(room, name) {
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
  if (answer.status === 404) throw new Error(tokenNeeded);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail ?? body.title);
  return body.token;
}
