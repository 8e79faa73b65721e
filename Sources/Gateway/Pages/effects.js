// What is done to one's own sound and picture before they are sent: noise taken out, the background blurred. In the lobby and in the menus.

import { element } from "/elements.js";
import { mayPublish } from "/invitation.js";
import { tell } from "/notices.js";
import { remember } from "/visit.js";
import { say } from "/words.js";

const effects = { noise: "microphone", blur: "camera" };

export class Effects {
  #devices;

  /** @param {import("/devices.js").Devices} devices */
  constructor(devices) {
    this.#devices = devices;
    for (const effect of Object.keys(effects)) {
      element(effect).addEventListener("change", ({ target }) => this.#switch(effect, target.checked));
    }
    devices.addEventListener("change", () => this.#show());
    this.#show();
  }

  /** What a device's menu offers. @param {string} kind @returns {{text: string, isChosen: boolean, choose: () => void, role: string}[]} */
  items(kind) {
    return Object.keys(effects).filter((effect) => effects[effect] === kind && this.#isOffered(effect)).map((effect) => {
      const isChosen = this.#devices.isWanted(effect);
      return { text: say(`effects.${effect}`), isChosen, choose: () => this.#switch(effect, !isChosen), role: "menuitemcheckbox" };
    });
  }

  #isOffered(effect) {
    return effect === "blur" ? this.#devices.canBlur : this.#devices.isPossible && mayPublish("microphone");
  }

  #show() {
    for (const effect of Object.keys(effects)) element(effect).checked = this.#devices.isWanted(effect);
    element("blur-field").hidden = !this.#isOffered("blur");
    element("noise").disabled = !this.#isOffered("noise");
  }

  async #switch(effect, isOn) {
    try {
      await this.#devices.apply(effect, isOn);
      remember({ [effect]: isOn });
    } catch {
      tell(say(`effects.${effect}.refused`));
    }
    this.#show();
  }
}
