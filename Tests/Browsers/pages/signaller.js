"use strict";
// The native protocol for the tests' pages, as docs/signalling.md has it: one socket, requests with their answers, and
// what else is said.

class Signaller {
  #socket = null;
  #waiting = new Map();
  #next = 1;
  /** Called with each message, before the request goes on that it answers. */
  onmessage = () => {};

  /** Opens a socket at the native door; `url`: an origin. */
  async open(url, room) {
    const address = `${url.replace("http", "ws")}/v1/rooms/${encodeURIComponent(room)}/connect`;
    this.#socket = new WebSocket(address, "roost.v1");
    this.#socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
    await new Promise((resolve, reject) => {
      this.#socket.onopen = resolve;
      this.#socket.onerror = () => reject(new Error("the server cannot be reached"));
    });
  }

  /** Opens a socket and joins by a token; answers with `joined`. */
  async join(url, room, token) {
    await this.open(url, room);
    return this.request({ type: "auth", token });
  }

  /** Offers what a connection has as its local description; answers with `answer`. */
  offer(connection, tracks = []) {
    return this.request({ type: "offer", sdp: connection.localDescription.sdp, tracks });
  }

  request(message) {
    const id = this.#next;
    this.#next += 1;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ ...message, id }));
    });
  }

  close() {
    this.#socket?.close();
  }

  #take(message) {
    this.onmessage(message);
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.type === "error") waiting?.reject(new Error(`${message.code}: ${message.message}`));
    else waiting?.resolve(message);
  }
}
