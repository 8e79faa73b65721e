// Talking while muted: Space unmutes for as long as it is pressed, and a participant that talks unheard is reminded.

import { meter } from "/devices.js";
import { element } from "/elements.js";
import { whyBlocked } from "/messages.js";
import { tell } from "/notices.js";
import { remembered } from "/visit.js";
import { say } from "/words.js";

// In one of these Space has a meaning of its own; a tile takes the focus to be read, and does nothing by Space.
const controls = "button, input, select, textarea, a, label, dialog, [role^=menu], [contenteditable], [tabindex]:not(.tile, main)";
const loud = 0.5; // of the meter: -35 dB
const longEnough = 6; // readings, of 15 a second
const pause = 20_000; // ms between two reminders

export class Talk {
  #call;
  #devices;
  #switches;
  #isPressed = false;
  #listensTo = null;
  #stopListening = null;
  #loudFor = 0;
  #remindedAt = -Infinity;

  /** @param {import("/call.js").Call} call @param {import("/devices.js").Devices} devices
   * @param {import("/switches.js").Switches} switches */
  constructor(call, devices, switches) {
    this.#call = call;
    this.#devices = devices;
    this.#switches = switches;
    document.addEventListener("keydown", (event) => this.#pressed(event));
    document.addEventListener("keyup", ({ key }) => {
      if (key === " ") this.#release();
    });
    window.addEventListener("blur", () => this.#release());
    document.addEventListener("visibilitychange", () => this.#release());
    call.addEventListener("enter", () => this.#listen());
    call.addEventListener("leave", () => {
      this.#isPressed = false;
      this.#listen();
    });
    devices.addEventListener("change", () => this.#listen());
    this.#listen();
  }

  // -- Space

  #pressed(event) {
    if (event.key !== " " || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!this.#call.hasEntered || remembered.keys === false || element("help").open) return;
    if (event.target.closest(controls)) return;
    event.preventDefault(); // It would scroll.
    if (event.repeat || this.#isPressed) return;
    const { blocked, wants } = this.#devices;
    if (blocked.microphone) {
      tell(whyBlocked("microphone", blocked.microphone));
      return;
    }
    if (wants.microphone) return;
    this.#isPressed = true;
    this.#devices.want("microphone", true);
    if (!this.#devices.microphone) this.#switches.open("microphone");
  }

  #release() {
    if (!this.#isPressed) return;
    this.#isPressed = false;
    this.#devices.want("microphone", false);
  }

  // -- the reminder

  /** Listens while there is a microphone that no one else hears. */
  #listen() {
    const isMuted = this.#call.hasEntered && this.#devices.microphone && !this.#devices.isOn("microphone");
    const track = isMuted ? this.#devices.ear : null;
    if (track === this.#listensTo) return;
    this.#stopListening?.();
    this.#stopListening = track && meter(track, (level) => this.#hear(level));
    this.#listensTo = track;
    this.#loudFor = 0;
  }

  #hear(level) {
    // A cough is short, and between words there are pauses.
    this.#loudFor = Math.max(0, this.#loudFor + (level > loud ? 1 : -0.5));
    if (this.#loudFor < longEnough) return;
    this.#loudFor = 0;
    if (performance.now() - this.#remindedAt < pause) return;
    this.#remindedAt = performance.now();
    tell(say(this.#words));
  }

  /** What helps: nothing where a host muted it, else keys where they may be pressed. */
  get #words() {
    if (this.#devices.blocked.microphone) return "talk.by-host";
    return remembered.keys !== false && matchMedia("(any-hover: hover)").matches ? "talk.by-keys" : "talk.muted";
  }
}
