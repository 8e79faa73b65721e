// Whether the room is recorded: a mark beside its name for as long as it is, and a word when that changes. And a word when one who
// runs the room has looked at a picture of one's own.

import { element } from "/elements.js";
import { tell } from "/notices.js";
import { say } from "/words.js";

const pause = 60_000; // ms between two words about pictures that are looked at

export class Recorded {
  #isOn = false;
  #lookedAt = -Infinity;

  /** @param {import("/call.js").Call} call */
  constructor(call) {
    // Who comes into a room that is recorded learns of it like those who were there when it began.
    call.on("joined", () => this.#show(call.room.isRecorded));
    call.on("event", ({ type, participant }) => {
      this.#show(call.room.isRecorded);
      if (type === "thumbnail.taken" && participant?.id === call.room.me?.id) this.#sayLooked();
    });
    call.addEventListener("leave", () => {
      this.#isOn = false;
      element("recorded").hidden = true;
    });
    if (call.hasEntered) this.#show(call.room.isRecorded);
  }

  #sayLooked() {
    if (performance.now() - this.#lookedAt < pause) return;
    this.#lookedAt = performance.now();
    tell(say("call.looked-at"));
  }

  #show(isOn) {
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    element("recorded").hidden = !isOn;
    tell(say(isOn ? "call.recording-on" : "call.recording-off"));
  }
}
