// The data saver: sound, and of pictures the one of who speaks; one's own camera goes off. What is pinned comes too. Fetched when a call
// begins.

import { announce, tell } from "/notices.js";
import { remember, remembered } from "/visit.js";
import { say } from "/words.js";

export class Saver {
  #call;
  #devices;
  #stage;
  #isOn = false;

  /** @param {import("/call.js").Call} call which has begun @param {import("/devices.js").Devices} devices
   * @param {import("/tiles.js").Stage} stage */
  constructor(call, devices, stage) {
    this.#call = call;
    this.#devices = devices;
    this.#stage = stage;
    stage.addEventListener("layout", () => this.#show());
    if (remembered.saves !== true) return;
    this.#set(true);
    tell(say("saver.on"));
  }

  /** As an item of a menu. */
  get item() {
    return { text: say("saver.title"), isChosen: this.#isOn, choose: () => this.#toggle(), role: "menuitemcheckbox" };
  }

  #toggle() {
    this.#set(!this.#isOn);
    remember({ saves: this.#isOn });
    announce(say(this.#isOn ? "saver.on" : "saver.off"));
  }

  #set(isOn) {
    this.#isOn = isOn;
    this.#stage.spares = isOn ? (tile) => !tile.own && !tile.isPinned && tile !== this.#stage.view.speaker : null;
    // It is the user who turns it on again.
    if (isOn) this.#devices.want("camera", false);
    this.#stage.layout(); // What is shown is asked for by what is laid out.
  }

  /** A picture that doesn't come is no picture that stands still. */
  #show() {
    for (const { id } of this.#call.room?.participants.values() ?? []) {
      for (const group of ["camera", "screen"]) {
        const tile = this.#stage.find(`${id} ${group}`);
        if (!tile) continue;
        const isSpared = this.#stage.spares?.(tile) ?? false;
        tile.element.toggleAttribute("data-spared", isSpared);
        tile.note("spared", isSpared ? say("saver.spared") : "");
      }
    }
  }
}
