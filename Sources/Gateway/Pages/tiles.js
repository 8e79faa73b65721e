// The people as tiles.

import { hue, initials } from "/initials.js";
import { arrange, prominent, promote } from "/layout.js";
import { quality as qualityOf } from "/messages.js";
import { tell } from "/notices.js";
import { remembered } from "/visit.js";
import { say } from "/words.js";

// What a tile has to say, the most pressing first: one line at a time.
const topics = ["reconnecting", "host", "paused", "declined", "spared", "absence"];
const cough = 1000; // ms; who speaks for longer is the one that speaks

/** One tile: a participant's picture, or its screen. */
export class Tile {
  /** Whether it isn't shown: on another page, or because it is hidden. */
  isAway = false;
  /** Whether it is one's own picture, which one doesn't want to see. */
  isHidden = false;
  /** By which the stage knows it: the participant's id, or "own", and the group. */
  key = "";
  /** When it was heard last, in ms. */
  spokeAt = 0;

  #video;
  #wantsPicture = false;
  #name = "";
  #notes = {};
  #isPinned = false;

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
    this.#showExpand();
    this.element.querySelector(".expand").addEventListener("click", () => {
      const isFull = document.fullscreenElement === this.element;
      if (!document.fullscreenEnabled) this.#video.webkitEnterFullscreen();
      else (isFull ? document.exitFullscreen() : this.element.requestFullscreen()).catch(() => {});
    });
  }

  /** Whose it is: the name as text, whatever it contains. @param {string} identity by which all choose the same colour */
  show(name, identity) {
    this.#name = this.group === "camera" ? (this.own ? say("all.you", { name }) : name)
      : this.own ? say("tile.own-screen") : say("tile.screen", { name });
    this.element.querySelector(".tile-name").textContent = this.#name;
    this.element.querySelector(".expand").setAttribute("aria-label", say("tile.full", { name: this.#name }));
    this.#video.setAttribute("aria-label", this.#name);
    this.element.querySelector(".pin").setAttribute("aria-label", say("layout.pin", { name: this.#name }));
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

  get hasPicture() {
    return this.#wantsPicture && this.#video.videoWidth > 0;
  }

  set hasPicture(hasPicture) {
    this.#wantsPicture = hasPicture;
    this.#showPicture();
  }

  /** What plays in it. @returns {MediaStream | null} */
  get stream() {
    return this.#video.srcObject;
  }

  get name() {
    return this.#name;
  }

  /** Large, for as long as one wants it to be. */
  get isPinned() {
    return this.#isPinned;
  }

  set isPinned(isPinned) {
    this.#isPinned = isPinned;
    this.element.querySelector(".pin").setAttribute("aria-pressed", String(isPinned));
    this.#describe();
  }

  /** Whether one has come to it, or to something in it. */
  get hasFocus() {
    return this.element.contains?.(document.activeElement) ?? false;
  }

  /** The microphone. */
  set muted(muted) {
    this.element.querySelector(".microphone-mark").hidden = !muted;
    // The last words of a microphone that is muted now would ring on for a moment.
    this.element.toggleAttribute("data-muted", muted);
    this.#describe();
  }

  /** Whether the participant's hand is raised. */
  set hand(isRaised) {
    this.element.querySelector(".hand-mark").hidden = !isRaised;
    this.#describe();
  }

  set speaking(speaking) {
    this.element.toggleAttribute("data-speaking", speaking);
  }

  /** "" as long as nothing is known of it. */
  get quality() {
    return this.element.querySelector(".quality").dataset.quality ?? "";
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

  /** @param {"reconnecting" | "host" | "paused" | "declined" | "spared" | "absence"} topic @param {string} text "": nothing is to be said of it */
  note(topic, text) {
    if ((this.#notes[topic] ?? "") === text) return;
    this.#notes[topic] = text;
    this.element.querySelector(".tile-note").textContent = topics.map((each) => this.#notes[each]).find(Boolean) ?? "";
    this.#describe();
  }

  /** What it shows may be long past. */
  set reconnecting(isReconnecting) {
    this.element.toggleAttribute("data-reconnecting", isReconnecting);
    this.note("reconnecting", isReconnecting ? say("call.reconnecting") : "");
  }

  /** For those who come to it by keyboard and hear it. */
  #describe() {
    const part = (selector) => {
      const mark = this.element.querySelector(selector);
      return mark.hidden ? "" : mark.getAttribute("aria-label");
    };
    const note = this.element.querySelector(".tile-note").textContent;
    this.element.setAttribute("aria-label", [this.#name, part(".hand-mark"), this.isPinned && say("layout.pinned"), part(".microphone-mark"), note,
      part(".quality")].filter(Boolean).join(", "));
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

  /** Some phones fill the screen with pictures alone, once there is one. */
  #showExpand() {
    this.element.querySelector(".expand").hidden = this.group !== "screen" || this.own
      || !(document.fullscreenEnabled || this.#video.webkitSupportsFullscreen);
  }

  #showPicture() {
    this.#showExpand();
    this.element.classList.toggle("has-picture", this.hasPicture);
  }
}

/** All tiles. The event `layout` comes whenever they come, go or get another size, and when another one of them matters most. */
export class Stage extends EventTarget {
  /** How one looks at the call. @type {import("/layout.js").View & {hidesSelf: boolean, pages: number, floating: Tile | null}} */
  view = {
    mode: ["speaker", "sidebar"].includes(remembered.layout) ? remembered.layout : "grid",
    page: 0, pages: 1, speaker: null, corner: remembered.corner ?? null, hidesSelf: remembered.hidesSelf === true, floating: null,
    isRightToLeft: false,
  };
  /** What is shown in a window of its own, in device pixels. @type {{tile: Tile, maxWidth: number, maxHeight: number} | null} */
  outside = null;
  /** Which pictures don't come, to save data; null: none. @type {((tile: Tile) => boolean) | null} */
  spares = null;

  #element;
  #template;
  #tiles = new Map();
  #order = []; // of the tiles, as they are laid out
  #speaker = "";
  #isReconnecting = false;
  #declines = false;
  #next = null; // who may be about to speak
  #listening = 0;
  #gone = new Set(); // keys of those whose own way to the server has broken

  constructor(element, template) {
    super();
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
      this.#order.push(tile);
      tile.key = key;
      this.#showReconnecting(key);
      this.#showDeclined(tile);
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
      .catch(() => tell(say("device.speaker-refused")));
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

  /** The tile that an element is in. @param {Element} element @returns {Tile | undefined} */
  at(element) {
    const found = element.closest(".tile");
    return this.#order.find((tile) => tile.element === found);
  }

  /** What matters most: what is pinned, else a screen, else who spoke last. @returns {Tile | undefined} */
  get first() {
    return prominent(this.#order, { ...this.view, mode: "speaker" })[0] ?? this.#order.find(({ group }) => group === "camera");
  }

  /** Whether pictures of others aren't wanted: then only what they say comes. */
  get declines() {
    return this.#declines;
  }

  set declines(declines) {
    if (this.#declines === declines) return;
    this.#declines = declines;
    this.#element.toggleAttribute("data-declines", declines);
    for (const tile of this.#order) this.#showDeclined(tile);
    this.layout();
  }

  #showDeclined(tile) {
    if (!tile.own) tile.note("declined", this.#declines ? say("trouble.declined") : "");
  }

  /** Looks at the call in another way. @param {Partial<Stage["view"]>} change */
  look(change) {
    Object.assign(this.view, change);
    this.layout();
  }

  /** Who speaks, the loudest first. @param {Tile[]} tiles */
  hear(tiles) {
    for (const tile of tiles) tile.spokeAt = performance.now();
    const loudest = tiles.find(({ own }) => !own) ?? null;
    if (loudest === this.#next) return;
    clearTimeout(this.#listening);
    this.#next = loudest;
    if (!loudest || loudest === this.view.speaker) return;
    this.#listening = setTimeout(() => this.#speaks(loudest), this.view.speaker ? cough : 0);
  }

  #speaks(tile) {
    if (!this.#order.includes(tile)) return;
    if (this.view.page === 0) promote(this.#order, tile);
    this.look({ speaker: tile });
  }

  remove(key) {
    this.#gone.delete(key);
    const tile = this.#tiles.get(key);
    if (!tile) return;
    tile.end();
    this.#tiles.delete(key);
    this.#order.splice(this.#order.indexOf(tile), 1);
    if (this.#next === tile) this.#next = null;
    if (this.view.speaker === tile) this.view.speaker = null;
    this.layout();
  }

  clear() {
    for (const key of [...this.#tiles.keys()]) this.remove(key);
    this.view.page = 0;
  }

  layout() {
    const { view } = this;
    const isAlone = this.#order.every(({ own }) => own);
    for (const tile of this.#order) tile.isHidden = tile.own && tile.group === "camera" && view.hidesSelf && !isAlone;
    view.isRightToLeft = document.documentElement.dir === "rtl";
    Object.assign(view, arrange(this.#order, this.#element.clientWidth, this.#element.clientHeight, view));
    this.dispatchEvent(new Event("layout"));
  }
}
