// The way in: who one is, which room, how one will look and sound.

import { meter } from "/devices.js";
import { element } from "/elements.js";
import { ending, joinProblem } from "/messages.js";
import { hideNotice, notice } from "/notices.js";
import { claims } from "/invitation.js";
import { query, remember, remembered } from "/visit.js";

const longest = 128; // bytes, as the server has it

export class Lobby {
  #call;
  #devices;
  #endMeter = null;
  #measured = null;

  /** @param {import("/call.js").Call} call @param {import("/devices.js").Devices} devices */
  constructor(call, devices) {
    this.#call = call;
    this.#devices = devices;
    element("room").value = claims?.video?.room ?? query.get("room") ?? remembered.room ?? "demo";
    element("name").value = claims?.name ?? claims?.sub ?? query.get("name") ?? query.get("identity")
      ?? remembered.name ?? "";
    element("room").readOnly = element("name").readOnly = claims !== null;
    for (const id of ["name", "room"]) {
      check(element(id));
      element(id).addEventListener("input", () => check(element(id)));
    }
    element("join").addEventListener("submit", (event) => {
      event.preventDefault();
      this.join();
    });
    for (const type of ["enter", "leave"]) call.addEventListener(type, () => this.#measure());
    devices.addEventListener("change", () => this.show());
  }

  async join() {
    const name = element("name").value.trim();
    const room = element("room").value.trim();
    if (!name || !room || this.#call.room || !element("join").reportValidity()) return;
    hideNotice();
    const button = element("join-button");
    button.disabled = true;
    button.textContent = "Joining…";
    try {
      await this.#call.join(room, name);
      if (!claims) remember({ name, room });
    } catch (error) {
      notice((error.end && ending(error.end)?.text) || joinProblem(error), { label: "Try again", action: () => this.join() });
    } finally {
      button.disabled = false;
      button.textContent = "Join";
    }
  }

  /** The preview, and what one will be without. */
  show() {
    const { camera } = this.#devices;
    const preview = element("preview");
    if ((preview.srcObject?.getTracks()[0] ?? null) !== camera) {
      preview.srcObject = camera ? new MediaStream([camera]) : null;
    }
    preview.hidden = !camera;
    const isWaiting = (kind) => this.#devices.isOpening(kind);
    element("preview-text").textContent = camera ? "" : isWaiting("camera") ? "Waiting for your camera…" : "Camera is off";
    const isSilent = !this.#devices.isOn("microphone") && !isWaiting("microphone");
    const isUnseen = !this.#devices.isOn("camera") && !isWaiting("camera");
    element("join-hint").textContent = !isSilent ? ""
      : isUnseen ? "Your camera and microphone are off. You can watch and listen."
        : "Your microphone is muted. Others can see you but not hear you.";
    this.#measure();
  }

  #measure() {
    const track = this.#call.hasEntered ? null : this.#devices.microphone;
    if (this.#measured === track) return;
    this.#endMeter?.();
    this.#endMeter = null;
    this.#measured = track;
    element("level").value = 0;
    if (track) {
      this.#endMeter = meter(track, (level) => (element("level").value = this.#devices.wants.microphone ? level : 0));
    }
  }
}

function check(field) {
  const isLong = new TextEncoder().encode(field.value.trim()).length > longest;
  field.setCustomValidity(isLong ? "This is too long. Use fewer characters." : "");
}
