// Camera and microphone on and off, in the lobby and in the call.

import { element } from "/elements.js";
import { deviceLost, deviceProblem, switched, whyBlocked } from "/messages.js";
import { announce, notice, tell } from "/notices.js";
import { remember, remembered } from "/visit.js";
import { onLanguage, say, withKey } from "/words.js";

const kinds = ["camera", "microphone"];

export class Switches {
  /** Opens the menu of a kind, where there is one. @type {(kind: string) => void} */
  choose = () => {};

  #devices;

  /** @param {import("/devices.js").Devices} devices */
  constructor(devices) {
    this.#devices = devices;
    for (const kind of kinds) {
      for (const id of [kind, `preview-${kind}`]) element(id).addEventListener("click", () => this.toggle(kind));
    }
    devices.addEventListener("change", () => this.#show());
    onLanguage(() => this.#show());
    devices.addEventListener("lost", ({ detail: kind }) =>
      notice(deviceLost(kind), { label: say("choices.other"), action: () => this.choose(kind) }));
  }

  /** Opens what is wanted when the page comes, with one question if it can be. */
  async begin() {
    try {
      await this.#begin();
    } finally {
      this.#devices.settle();
    }
  }

  async #begin() {
    this.#show();
    const wanted = kinds.filter((kind) => this.#devices.wants[kind]);
    if (wanted.length === 0) return;
    if (!this.#devices.isPossible) {
      notice(say("device.insecure"));
      return;
    }
    if (wanted.length === 2) {
      try {
        await this.#devices.openBoth(remembered);
        return;
      } catch (error) {
        if (error.name === "NotAllowedError") {
          this.#refused(error, "both", wanted);
          return;
        }
        // One of them may be there all the same.
      }
    }
    for (const kind of wanted) if (this.#devices.wants[kind]) await this.open(kind);
  }

  async toggle(kind) {
    const why = this.#devices.blocked[kind];
    if (why) {
      tell(whyBlocked(kind, why));
      return;
    }
    const isAsking = !this.#devices[kind] && this.#devices.isOpening(kind);
    const isWanted = !(isAsking ? this.#devices.wants[kind] : this.#devices.isOn(kind));
    this.#devices.want(kind, isWanted);
    remember({ [kind === "camera" ? "wantsCamera" : "wantsMicrophone"]: isWanted });
    // The user is asked once; what is wanted by then decides.
    if (isWanted && !isAsking && !this.#devices[kind] && !(await this.open(kind))) return;
    if (this.#devices.isOn(kind) === isWanted) announce(switched(kind, isWanted));
  }

  /** Opens a device, or tells why not. @param {string} [id] one that was chosen @returns whether it worked */
  async open(kind, id) {
    if (!this.#devices.isPossible) {
      notice(say("device.insecure"));
      return false;
    }
    try {
      await this.#devices.open(kind, id ? { id, exact: true } : { id: this.#devices.last[kind] ?? remembered[kind] });
    } catch (error) {
      // What is open stays.
      this.#refused(error, kind, this.#devices[kind] ? [] : [kind], id);
      return false;
    }
    if (id) remember({ [kind]: id });
    return true;
  }

  #refused(error, name, unwanted, id) {
    for (const kind of unwanted) this.#devices.want(kind, false);
    notice(deviceProblem(error, name), { label: say("all.again"), action: async () => {
      for (const kind of unwanted) this.#devices.wants[kind] = !this.#devices.blocked[kind];
      if (unwanted.length === 2) await this.begin();
      else await this.open(name, id);
    } });
  }

  #show() {
    for (const kind of kinds) {
      const isOn = this.#devices.isOn(kind);
      const isPending = !isOn && this.#devices.wants[kind] && this.#devices.isOpening(kind);
      const why = this.#devices.blocked[kind];
      for (const id of [kind, `preview-${kind}`]) {
        const button = element(id);
        button.setAttribute("aria-pressed", String(isOn));
        // Neither on nor off while the user is being asked.
        button.toggleAttribute("data-pending", isPending);
        button.toggleAttribute("data-blocked", why !== null);
        if (why) button.setAttribute("aria-disabled", "true");
        else button.removeAttribute("aria-disabled");
        const state = why ?? (isPending ? "waiting" : null);
        button.setAttribute("aria-label", say(state ? `switch.${kind}.${state}` : `kind.${kind}`));
        button.title = why ? whyBlocked(kind, why) : id === kind ? withKey(say(`kind.${kind}`), button) : "";
        button.querySelector("use").setAttribute("href", `#icon-${kind}${isOn || isPending ? "" : "-off"}`);
      }
    }
  }
}
