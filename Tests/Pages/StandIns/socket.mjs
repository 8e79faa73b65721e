// A WebSocket whose far end is the test.

export class FakeSocket {
  static OPEN = 1;
  static all = [];
  /** Hears what is sent, if anything does. @type {(socket: FakeSocket, message: object) => void} */
  static heard = () => {};
  readyState = 1;
  sent = [];

  constructor(url) {
    this.url = url;
    FakeSocket.all.push(this);
    queueMicrotask(() => this.onopen?.());
  }

  /** The one that was opened last. */
  static get last() {
    return FakeSocket.all.at(-1);
  }

  send(text) {
    const message = JSON.parse(text);
    this.sent.push(message);
    FakeSocket.heard(this, message);
  }

  close() {
    this.readyState = 3;
  }

  say(message) {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  /** What was sent of a type. */
  of(type) {
    return this.sent.filter((message) => message.type === type);
  }
}
globalThis.WebSocket = FakeSocket;
