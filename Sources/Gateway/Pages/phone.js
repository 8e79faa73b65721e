// A call on a device that one holds in one's hand: the screen stays on, the other camera is one press away, and the system's own controls
// mute, turn the camera off and hang up. Fetched when a call begins.

import { element } from "/elements.js";
import { deviceProblem } from "/messages.js";
import { announce, notice } from "/notices.js";
import { onLanguage, say } from "/words.js";

const turn = "M4 8.5h3l1.5-2h7l1.5 2h3v10H4ZM9 13.5a3 3 0 0 1 5.5-1.6M15 13.5a3 3 0 0 1-5.5 1.6M14.6 9.8v2.1h-2.1M9.4 17.2v-2.1h2.1";

export class Phone {
  #call;
  #devices;
  #lock = null; // a promise of what keeps the screen on
  #flip;

  /** @param {import("/call.js").Call} call which has begun @param {import("/devices.js").Devices} devices
   * @param {import("/switches.js").Switches} switches */
  constructor(call, devices, switches) {
    this.#call = call;
    this.#devices = devices;
    this.#flip = flipButton();
    this.#flip.addEventListener("click", () => this.#turn());
    element("screen").before(this.#flip);
    onLanguage(() => name(this.#flip));
    document.addEventListener("visibilitychange", () => this.#keepOn());
    this.#offerActions(switches);
    for (const type of ["change", "list"]) devices.addEventListener(type, () => this.#show());
    for (const type of ["enter", "leave"]) {
      call.addEventListener(type, () => {
        this.#keepOn();
        this.#show();
      });
    }
    this.#keepOn();
    this.#show();
  }

  // -- the screen

  /** While one is in a call the screen doesn't go dark. The browser lets go of it by itself when the page is out of sight. */
  async #keepOn() {
    if (!this.#call.hasEntered) {
      const lock = await this.#lock;
      this.#lock = null;
      lock?.release().catch(() => {});
      return;
    }
    if (this.#lock || document.hidden || !navigator.wakeLock) return;
    this.#lock = navigator.wakeLock.request("screen").catch(() => null); // As where there is little power left.
    const lock = await this.#lock;
    if (!lock) this.#lock = null;
    else lock.addEventListener("release", () => (this.#lock = null));
  }

  // -- the system's controls

  /** On the lock screen, in a headset's buttons, in the window of a picture. */
  #offerActions(switches) {
    const acts = {
      togglemicrophone: () => switches.toggle("microphone"),
      togglecamera: () => switches.toggle("camera"),
      hangup: () => element("leave").click(),
    };
    for (const [action, act] of Object.entries(acts)) {
      try {
        navigator.mediaSession?.setActionHandler(action, () => this.#call.hasEntered && act());
      } catch {
        // Not every browser knows every action.
      }
    }
  }

  #show() {
    const { mediaSession: session } = navigator;
    const isIn = this.#call.hasEntered;
    if (session) {
      session.playbackState = isIn ? "playing" : "none";
      session.metadata = isIn ? new MediaMetadata({ title: this.#call.roomName }) : null;
      // A browser may refuse it, as behind another page.
      session.setMicrophoneActive?.(isIn && this.#devices.isOn("microphone"))?.catch(() => {});
      session.setCameraActive?.(isIn && this.#devices.isOn("camera"))?.catch(() => {});
    }
    this.#showFlip();
  }

  // -- the other camera

  /** Where there are several that look different ways, as on a phone: on a desk they stand in a list. */
  async #showFlip() {
    if (this.#isTurning) return; // Between two cameras there is none, and the button would lose the focus.
    const cameras = this.#devices.camera ? await this.#devices.list("camera") : [];
    const isTurned = this.#devices.camera?.getSettings().facingMode !== undefined;
    this.#flip.hidden = cameras.length < 2 || !(isTurned || matchMedia("(pointer: coarse)").matches);
  }

  get #isTurning() {
    return this.#flip.ariaDisabled === "true";
  }

  async #turn() {
    if (this.#isTurning) return;
    this.#flip.ariaDisabled = "true";
    try {
      await this.#other();
      if (this.#devices.camera) announce(say(this.#devices.looksAway ? "phone.looks-away" : "phone.looks-at-you"));
    } catch (error) {
      notice(deviceProblem(error, "camera"));
      if (!this.#devices.camera) this.#devices.want("camera", false);
    } finally {
      this.#flip.ariaDisabled = null;
      this.#showFlip();
    }
  }

  async #other() {
    try {
      await this.#devices.open("camera", { facing: this.#devices.looksAway ? "user" : "environment" });
    } catch (error) {
      if (error.name !== "OverconstrainedError") throw error;
      await this.#next();
    }
  }

  /** Cameras that don't say where they look are taken in turn. */
  async #next() {
    const cameras = await this.#devices.list("camera");
    const index = cameras.findIndex(({ deviceId }) => deviceId === this.#devices.camera?.getSettings().deviceId);
    const { deviceId: id } = cameras[(index + 1) % cameras.length];
    await this.#devices.open("camera", { id, exact: true });
  }
}

function flipButton() {
  const button = Object.assign(document.createElement("button"), { id: "flip", type: "button", className: "round", hidden: true });
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", turn);
  svg.append(path);
  button.append(svg);
  name(button);
  return button;
}

function name(button) {
  button.title = say("phone.flip");
  button.setAttribute("aria-label", button.title);
}
