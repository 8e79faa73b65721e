// The people as tiles.

import { arrange } from "/layout.js";
import { say } from "/notices.js";

/** One tile: somebody's picture, or their screen. */
export class Tile {
  #video;
  #wantsPicture = false;

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

  /** As text, whatever it contains. */
  set name(name) {
    const shown = this.group === "screen" && !this.own ? `${name}: screen` : name;
    this.element.querySelector(".tile-name").textContent = shown;
    this.element.querySelector(".expand").setAttribute("aria-label", `Full window: ${shown}`);
    this.#video.setAttribute("aria-label", shown);
    this.element.querySelector(".avatar").textContent = initials(name);
    this.element.style.setProperty("--hue", String(hue(name)));
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
  }

  set speaking(speaking) {
    this.element.toggleAttribute("data-speaking", speaking);
  }

  /** @param {string} quality as `quality` says it */
  set quality(quality) {
    const mark = this.element.querySelector(".quality");
    mark.hidden = false;
    mark.dataset.quality = quality;
    mark.setAttribute("aria-label", `connection: ${quality}`);
    mark.title = `Connection: ${quality}`;
  }

  set note(text) {
    this.element.querySelector(".tile-note").textContent = text;
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
      tile.playBy(this.#speaker).catch(() => {}); // Told when it was chosen.
      this.#tiles.set(key, tile);
      this.#element.append(tile.element);
      this.layout();
    }
    return tile;
  }

  /** What plays everybody's sound, "" for the browser's choice. */
  get speaker() {
    return this.#speaker;
  }

  set speaker(id) {
    if (this.#speaker === id) return;
    this.#speaker = id;
    Promise.all([...this.#tiles.values()].map((tile) => tile.playBy(id)))
      .catch(() => say("This speaker cannot be used: sound comes from where it came before"));
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
    this.#tiles.get(key)?.end();
    if (this.#tiles.delete(key)) this.layout();
  }

  clear() {
    for (const key of [...this.#tiles.keys()]) this.remove(key);
  }

  layout() {
    arrange([...this.#tiles.values()], this.#element.clientWidth, this.#element.clientHeight);
  }
}

function initials(name) {
  const words = name.trim().split(/\s+/u).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  return letters.map(first).join("").toUpperCase();
}

/** What a reader takes for the first letter, as a flag or a family is one. */
function first(word) {
  return [...new Intl.Segmenter().segment(word)][0].segment;
}

function hue(name) {
  let sum = 7;
  for (const character of name) sum = (sum * 31 + character.codePointAt(0)) % 360;
  return sum;
}
