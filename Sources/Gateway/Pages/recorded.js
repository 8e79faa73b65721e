// Whether the room is recorded: a mark beside its name for as long as it is, and a word when that changes.

import { element } from "/elements.js";
import { recording } from "/messages.js";
import { say } from "/notices.js";

export class Recorded {
  #isOn = false;

  /** @param {import("/call.js").Call} call */
  constructor(call) {
    // Who comes into a room that is recorded learns of it like those who were there when it began.
    call.on("joined", () => this.#show(call.room.isRecorded));
    call.on("event", () => this.#show(call.room.isRecorded));
    call.addEventListener("leave", () => {
      this.#isOn = false;
      element("recorded").hidden = true;
    });
  }

  #show(isOn) {
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    element("recorded").hidden = !isOn;
    say(recording(isOn));
  }
}
