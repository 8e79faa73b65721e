// Camera and microphone on and off, in the lobby and in the call.

import { element } from "/elements.js";
import { deviceLost, deviceProblem, insecure } from "/messages.js";
import { notice } from "/notices.js";
import { mayPublish, remember, remembered } from "/visit.js";

const kinds = ["camera", "microphone"];

export class Switches {
  /** Opens the menu of a kind, where there is one. @type {(kind: string) => void} */
  choose = () => {};

  #devices;

  /** @param {import("/devices.js").Devices} devices */
  constructor(devices) {
    this.#devices = devices;
    for (const kind of kinds) {
      for (const id of [kind, `preview-${kind}`]) {
        element(id).disabled = !mayPublish(kind);
        element(id).addEventListener("click", () => this.toggle(kind));
      }
    }
    devices.addEventListener("change", () => this.#show());
    devices.addEventListener("lost", ({ detail: kind }) =>
      notice(deviceLost(kind), "Choose another", () => this.choose(kind)));
  }

  /** Opens what is wanted when the page comes, with one question if it can be. */
  async begin() {
    this.#show();
    const wanted = kinds.filter((kind) => this.#devices.wants[kind]);
    if (wanted.length === 0) return;
    if (!this.#devices.isPossible) {
      notice(insecure);
      return;
    }
    if (wanted.length === 2) {
      try {
        await this.#devices.openBoth(remembered);
        return;
      } catch (error) {
        if (error.name === "NotAllowedError") {
          this.#refused(error, "camera and microphone", wanted);
          return;
        }
        // One of them may be there all the same.
      }
    }
    for (const kind of wanted) await this.open(kind);
  }

  async toggle(kind) {
    const isWanted = !this.#devices.isOn(kind);
    this.#devices.want(kind, isWanted);
    remember({ [kind === "camera" ? "wantsCamera" : "wantsMicrophone"]: isWanted });
    if (isWanted && !this.#devices[kind]) await this.open(kind);
  }

  /** Opens a device, or tells why not. @param {string} [id] one that was chosen @returns whether it worked */
  async open(kind, id) {
    if (!this.#devices.isPossible) {
      notice(insecure);
      return false;
    }
    try {
      await this.#devices.open(kind, id ? { id, exact: true } : { id: remembered[kind] });
    } catch (error) {
      // What is open stays.
      this.#refused(error, kind, this.#devices[kind] ? [] : [kind]);
      return false;
    }
    if (id) remember({ [kind]: id });
    return true;
  }

  #refused(error, name, unwanted) {
    for (const kind of unwanted) this.#devices.want(kind, false);
    notice(deviceProblem(error, name), "Try again", async () => {
      for (const kind of unwanted) this.#devices.wants[kind] = true;
      if (unwanted.length === 2) await this.begin();
      else for (const kind of unwanted) await this.open(kind);
    });
  }

  #show() {
    for (const kind of kinds) {
      const isOn = this.#devices.isOn(kind);
      for (const id of [kind, `preview-${kind}`]) {
        element(id).setAttribute("aria-pressed", String(isOn));
        element(id).querySelector("use").setAttribute("href", `#icon-${kind}${isOn ? "" : "-off"}`);
      }
    }
  }
}
