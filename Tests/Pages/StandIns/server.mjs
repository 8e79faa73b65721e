// A server of one room that answers as docs/signalling.md says, and otherwise says what the test has it say.

import { FakeSocket } from "./socket.mjs";

export class FakeServer {
  me = { id: "PA_0", identity: "me", attributes: {}, tracks: [], permissions: { canPublish: true, canSubscribe: true } };
  participants = [];
  /** Type of a request → the error that answers it. */
  refuses = new Map();
  /** Called with each answer before it is sent, and with what sends it. */
  beforeAnswer = (_, send) => send();
  #event = 1;

  constructor() {
    FakeSocket.all = [];
    FakeSocket.heard = (socket, message) => queueMicrotask(() => this.#answer(socket, message));
  }

  /** Every message of a type that has reached it, over all sockets. */
  heard(type) {
    return FakeSocket.all.flatMap((socket) => socket.of(type));
  }

  say(message) {
    FakeSocket.last.say(message);
  }

  happens(type, participant, track) {
    this.say({ type: "event", event: { id: ++this.#event, type, participant, track } });
  }

  #answer(socket, message) {
    const { type, id } = message;
    const refusal = this.refuses.get(type);
    if (refusal) socket.say({ type: "error", id, message: "", ...refusal });
    else if (type === "auth") {
      socket.say({ type: "joined", id, participant: this.me, participants: this.participants, iceServers: [], room: { name: "r" },
        resumeToken: "resume", lastEvent: this.#event, pingInterval: 20 });
    } else if (type === "offer") {
      const tracks = message.tracks.map(({ mid }) => ({ mid, track: `TR_${mid}` }));
      this.beforeAnswer(message, () => socket.say({ type: "answer", id, sdp: "answered", slots: [], tracks, declined: [] }));
    } else if (type !== "leave" && type !== "ping") socket.say({ type: "ok", id });
  }
}

/** All that is on its way arrives. */
export async function settled() {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
