// The people as tiles.

import { hue, initials } from "/initials.js";
import { arrange } from "/layout.js";
import { playProblem, quality as qualityOf } from "/messages.js";
import { say } from "/notices.js";

// What a tile has to say, the most pressing first: one line at a time.
const topics = ["reconnecting", "host", "paused", "absence"];

/** One tile: a participant's picture, or its screen. */
export class Tile {
  #video;
  #wantsPicture = false;
  #name = "";
  #notes = {};

  /** @param {DocumentFragment} content of the template @param {{own: boolean, group: "camera" | "screen"}} kind */
  constructor(content, { own, group }) {
    this.element = content.querySelector("figure");
    this.own = own;
    this.group = group;
    this.element.classList.add(group, "new");
    this.element.classList.toggle("own", own);
    this.#video = this.element.querySelector("video");
    this.#video.muted = own;
    for (const event of ["loadeddata", "resize", "emptied"]) {
      this.#video.addEventListener(event, () => this.#showPicture());
    }
    const expand = this.element.querySelector(".expand");
    expand.hidden = group !== "screen" || own;
    expand.addEventListener("click", () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else this.element.requestFullscreen().catch(() => {});
    });
  }

  /** Whose it is: the name as text, whatever it contains. @param {string} identity by which all choose the same colour */
  show(name, identity) {
    this.#name = this.group === "camera" ? (this.own ? `${name} (you)` : name) : this.own ? "Your screen" : `${name}: screen`;
    this.element.querySelector(".tile-name").textContent = this.#name;
    this.element.querySelector(".expand").setAttribute("aria-label", `Full screen: ${this.#name}`);
    this.#video.setAttribute("aria-label", this.#name);
    this.element.querySelector(".avatar").textContent = initials(name);
    this.element.style.setProperty("--hue", String(hue(identity)));
    this.#describe();
  }

  /**
   * @param {MediaStream} stream
   * @param {boolean} hasPicture whether there is a picture in it worth showing
   * @returns whether the browser wants a click before it plays sound
   */
  async play(stream, hasPicture) {
    this.#wantsPicture = hasPicture;
    this.#showPicture();
    if (this.#video.srcObject !== stream) this.#video.srcObject = stream;
    try {
      await this.#video.play();
    } catch (error) {
      return error.name === "NotAllowedError";
    }
    return false;
  }

  set hasPicture(hasPicture) {
    this.#wantsPicture = hasPicture;
    this.#showPicture();
  }

  /** The microphone. */
  set muted(muted) {
    this.element.querySelector(".microphone-mark").hidden = !muted;
    // The last words of a microphone that is muted now would ring on for a moment.
    this.element.toggleAttribute("data-muted", muted);
    this.#describe();
  }

  set speaking(speaking) {
    this.element.toggleAttribute("data-speaking", speaking);
  }

  /** @param {string} quality as `quality` says it */
  set quality(quality) {
    const mark = this.element.querySelector(".quality");
    mark.hidden = false;
    mark.dataset.quality = quality;
    mark.setAttribute("aria-label", qualityOf(quality));
    mark.title = qualityOf(quality);
    this.#describe();
  }

  /** @param {"reconnecting" | "host" | "paused" | "absence"} topic @param {string} text "": nothing is to be said of it */
  note(topic, text) {
    if ((this.#notes[topic] ?? "") === text) return;
    this.#notes[topic] = text;
    this.element.querySelector(".tile-note").textContent = topics.map((each) => this.#notes[each]).find(Boolean) ?? "";
    this.#describe();
  }

  /** What it shows may be long past. */
  set reconnecting(isReconnecting) {
    this.element.toggleAttribute("data-reconnecting", isReconnecting);
    this.note("reconnecting", isReconnecting ? "Reconnecting…" : "");
  }

  /** For those who come to it by keyboard and hear it. */
  #describe() {
    const part = (selector) => {
      const mark = this.element.querySelector(selector);
      return mark.hidden ? "" : mark.getAttribute("aria-label");
    };
    this.element.setAttribute("aria-label",
      [this.#name, part(".microphone-mark"), this.element.querySelector(".tile-note").textContent, part(".quality")]
        .filter(Boolean).join(", "));
  }

  /** Plays the sound by that device, the browser's own if it is "". @param {string} id @throws where it can't */
  async playBy(id) {
    if (this.own || !this.#video.setSinkId || this.#video.sinkId === id) return;
    await this.#video.setSinkId(id);
  }

  playAgain() {
    this.#video.play().catch(() => {});
  }

  end() {
    this.#video.srcObject = null;
    this.element.remove();
  }

  #showPicture() {
    const size = this.#video.videoWidth;
    this.element.classList.toggle("has-picture", this.#wantsPicture && size > 0);
  }
}

/** All tiles. */
export class Stage {
  #element;
  #template;
  #tiles = new Map();
  #speaker = "";
  #isReconnecting = false;
  /** Called whenever tiles come, go or get another size. @type {() => void} */
  onLayout = () => {};
  #gone = new Set(); // keys of those whose own way to the server has broken

  constructor(element, template) {
    this.#element = element;
    this.#template = template;
    new ResizeObserver(() => this.layout()).observe(element);
  }

  /** The tile of that key, made if there is none yet. */
  tile(key, kind) {
    let tile = this.#tiles.get(key);
    if (!tile) {
      tile = new Tile(this.#template.content.cloneNode(true), kind);
      tile.playBy(this.#speaker).catch(() => {}); // Said when it was chosen.
      this.#tiles.set(key, tile);
      this.#showReconnecting(key);
      this.#element.append(tile.element);
      this.layout();
    }
    return tile;
  }

  /** What plays the others' sound, "" for the browser's choice. */
  get speaker() {
    return this.#speaker;
  }

  set speaker(id) {
    if (this.#speaker === id) return;
    this.#speaker = id;
    Promise.all([...this.#tiles.values()].map((tile) => tile.playBy(id)))
      .catch(() => say(playProblem));
  }

  /** Whether the page's own way to the server has broken: nothing is certain then. */
  set reconnecting(isReconnecting) {
    this.#isReconnecting = isReconnecting;
    for (const key of this.#tiles.keys()) this.#showReconnecting(key);
  }

  /** Whether the way of those of that key has broken. */
  setReconnecting(key, isReconnecting) {
    if (isReconnecting) this.#gone.add(key);
    else this.#gone.delete(key);
    if (this.#tiles.has(key)) this.#showReconnecting(key);
  }

  #showReconnecting(key) {
    this.#tiles.get(key).reconnecting = this.#isReconnecting || this.#gone.has(key);
  }

  /** After a click, without which the browser wouldn't. */
  playAll() {
    for (const tile of this.#tiles.values()) tile.playAgain();
  }

  /** @returns {Tile | undefined} */
  find(key) {
    return this.#tiles.get(key);
  }

  remove(key) {
    this.#gone.delete(key);
    this.#tiles.get(key)?.end();
    if (this.#tiles.delete(key)) this.layout();
  }

  clear() {
    for (const key of [...this.#tiles.keys()]) this.remove(key);
  }

  layout() {
    arrange([...this.#tiles.values()], this.#element.clientWidth, this.#element.clientHeight);
    this.onLayout();
  }
}
