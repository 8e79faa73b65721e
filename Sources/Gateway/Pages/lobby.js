// The way in: who one is, which room, how one will look and sound.

import { meter } from "/devices.js";
import { element } from "/elements.js";
import { ending, joinProblem } from "/messages.js";
import { hideNotice, notice, tell } from "/notices.js";
import { claims, hasInvitation } from "/invitation.js";
import { roomName } from "/roomname.js";
import { query, remember, remembered } from "/visit.js";
import { offerLanguages, onLanguage, say } from "/words.js";

const longest = 128; // bytes, as the server has it

export class Lobby {
  #call;
  #devices;
  #endMeter = null;
  #measured = null;

  /** @param {import("/call.js").Call} call @param {import("/devices.js").Devices} devices @param {import("/tiles.js").Stage} stage */
  constructor(call, devices, stage) {
    this.#call = call;
    this.#devices = devices;
    element("room").value = claims?.video?.room ?? query.get("room") ?? roomName();
    element("name").value = claims?.name ?? claims?.sub ?? query.get("name") ?? query.get("identity")
      ?? remembered.name ?? "";
    element("name").readOnly = claims !== null;
    element("room").readOnly = hasInvitation;
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
    element("speaker-test").addEventListener("click", () => this.#testSpeaker(stage.speaker));
    offerLanguages(element("language"));
    onLanguage(() => {
      for (const id of ["name", "room"]) check(element(id));
      this.show();
    });
  }

  async join() {
    const name = element("name").value.trim();
    const room = element("room").value.trim();
    if (!name || !room || this.#call.room || !element("join").reportValidity()) return;
    hideNotice();
    const button = element("join-button");
    button.disabled = true;
    button.textContent = say("lobby.joining");
    try {
      await this.#call.join(room, name);
      if (!claims) remember({ name });
      element("name").readOnly = hasInvitation; // As the token has it from here on.
    } catch (error) {
      this.#refused(error);
    } finally {
      button.disabled = false;
      button.textContent = say("lobby.join");
      if (document.activeElement === document.body) button.focus();
    }
  }

  #refused(error) {
    const end = error.end ?? (error.reason && { reason: error.reason });
    // One has given up waiting, which needs no words.
    if (!end && error.code === "closed") return;
    notice((end && ending(end)?.text) || joinProblem(error), { label: say("all.again"), action: () => this.join() });
  }

  async #testSpeaker(speaker) {
    const button = element("speaker-test");
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true";
    button.textContent = say("lobby.testing-speaker");
    try {
      const { playTones } = await import("/speaker-test.js");
      await playTones(speaker);
    } catch {
      tell(say("device.speaker-refused"));
    } finally {
      button.ariaDisabled = null;
      button.textContent = say("lobby.test-speaker");
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
    preview.classList.toggle("outward", this.#devices.looksAway);
    const isWaiting = (kind) => this.#devices.wants[kind] && this.#devices.isOpening(kind);
    element("preview-text").textContent = camera ? "" : say(isWaiting("camera") ? "lobby.camera-waiting" : "lobby.camera-off");
    const isSilent = !this.#devices.isOn("microphone") && !isWaiting("microphone");
    const isUnseen = !this.#devices.isOn("camera") && !isWaiting("camera");
    element("join-hint").textContent = !isSilent ? "" : say(isUnseen ? "lobby.unseen" : "lobby.silent");
    const isMuted = !this.#devices.isOn("microphone");
    const level = element("level");
    level.toggleAttribute("data-muted", isMuted);
    level.querySelector("use").setAttribute("href", `#icon-microphone${isMuted ? "-off" : ""}`);
    if (isMuted) level.setAttribute("aria-valuetext", say("lobby.muted"));
    else level.removeAttribute("aria-valuetext");
    this.#measure();
  }

  #measure() {
    const track = this.#call.hasEntered ? null : this.#devices.microphone;
    if (this.#measured === track) return;
    this.#endMeter?.();
    this.#endMeter = null;
    this.#measured = track;
    this.#showLevel(0);
    if (track) this.#endMeter = meter(track, (level) => this.#showLevel(this.#devices.wants.microphone ? level : 0));
  }

  #showLevel(level) {
    element("level").querySelector("i").style.transform = `scaleY(${level.toFixed(2)})`;
    element("level").setAttribute("aria-valuenow", String(Math.round(level * 100)));
  }
}

function check(field) {
  const isLong = new TextEncoder().encode(field.value.trim()).length > longest;
  field.setCustomValidity(isLong ? say("lobby.too-long") : "");
}
