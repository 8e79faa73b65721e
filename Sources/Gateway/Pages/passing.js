// Where the lines stand that pass by in a call: over the tiles, where they cover no name and nothing that can be pressed.

import { element } from "/elements.js";

const gap = 6; // pixels around them
const panels = ":is(.side, .statistics, .menu, .invite-card, .reasons, .notice)";
/** What they don't cover: whole panels, which hide a part of what is in them, and else what is named or can be pressed. */
const kept = `${panels}, #call :is(button, figcaption, .tile-note):not(${panels} *)`;

/**
 * Where a box ends at its foot that covers nothing of what is kept: as far down as there is room, or where it ended before if it can.
 * @param {{left: number, right: number, height: number}} box
 * @param {{top: number, bottom: number}} area that it stays within
 * @param {{left: number, right: number, top: number, bottom: number}[]} kept @param {number} [before]
 * @returns {number | undefined} undefined: there is no such place
 */
export function clear(box, area, kept, before = NaN) {
  const inTheWay = kept.filter(({ left, right }) => left < box.right + gap && right > box.left - gap);
  const isClear = (foot) => foot <= area.bottom && foot - box.height >= area.top
    && inTheWay.every(({ top, bottom }) => top >= foot || bottom <= foot - box.height);
  return [before, area.bottom, ...inTheWay.map(({ top }) => top - gap).sort((one, other) => other - one)].find(isClear);
}

export class Passing {
  #call = element("call");
  #lines = element("status");
  #place = this.#call.querySelector(".place");
  #foot = NaN; // where they end, in pixels from the top of the window
  #hasRoom = false; // made for them above the bar, since there is none over the tiles

  /** @param {import("/tiles.js").Stage} stage */
  constructor(stage) {
    const settle = () => this.#settle();
    new MutationObserver(settle).observe(this.#lines, { childList: true });
    // Menus, panels and marks come and go.
    new MutationObserver(settle).observe(this.#call, { subtree: true, attributes: true, attributeFilter: ["hidden"] });
    stage.addEventListener("layout", settle);
    for (const type of ["transitionend", "pointerover", "focusin"]) element("stage").addEventListener(type, settle);
    this.#settle();
  }

  #settle() {
    const shown = [...this.#lines.children].filter((line) => !line.classList.contains("unseen"));
    if (shown.length === 0 || this.#call.hidden) return this.#rest();
    const stage = element("stage").getBoundingClientRect();
    this.#align(stage);
    this.#place.style.opacity = "";
    const menu = this.#call.querySelector(".menu:not([hidden])");
    // In the room that was made for them they stay.
    let foot = this.#hasRoom ? undefined : this.#find(stage);
    // Older lines have been seen, and are still there for those who hear them.
    while (foot === undefined && shown.length > 1) {
      shown.shift().classList.add("unseen");
      if (!this.#hasRoom) foot = this.#find(stage);
    }
    if (foot === undefined && menu) return this.#put(NaN);
    if (!this.#hasRoom) foot ??= this.#insteadOfTheName();
    if (foot === undefined) {
      this.#align(stage);
      this.#hasRoom = true;
      this.#call.style.setProperty("--passing", `${this.#lines.getBoundingClientRect().height + 2 * gap}px`);
    }
    this.#put(foot ?? this.#floor);
  }

  get #floor() {
    return this.#call.querySelector(".bar").getBoundingClientRect().top - gap;
  }

  /** In the middle of the stage, beside which a panel may stand, or of what else has room. */
  #align({ left, right, width }) {
    Object.assign(this.#lines.style, { left: `${left}px`, right: `${innerWidth - right}px`, maxWidth: `${Math.max(width - 2 * gap, 0)}px` });
  }

  /**
   * In the bar, where the name of the room is, so that nothing moves for their sake; that the call is recorded stays to be seen.
   * @returns {number | undefined} undefined: they don't fit there
   */
  #insteadOfTheName() {
    if (!element("recorded").hidden) return undefined;
    const [bar, controls] = [".bar", ".controls"].map((each) => this.#call.querySelector(each).getBoundingClientRect());
    const place = this.#place.getBoundingClientRect();
    this.#align(place);
    const { height } = this.#lines.getBoundingClientRect();
    const foot = controls.top > place.bottom ? controls.top : bar.bottom;
    if (height > foot - bar.top) return undefined;
    this.#place.style.opacity = "0";
    return (bar.top + foot + height) / 2;
  }

  #find({ top }) {
    const found = [...document.querySelectorAll(kept)].filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect());
    return clear(this.#lines.getBoundingClientRect(), { top, bottom: this.#floor }, found, this.#foot);
  }

  /** @param {number} foot NaN: where the style sheet has them */
  #put(foot) {
    this.#foot = foot;
    Object.assign(this.#lines.style, foot ? { top: "auto", bottom: `${innerHeight - foot}px` } : { top: "", bottom: "" });
  }

  #rest() {
    this.#foot = NaN;
    this.#hasRoom = false;
    this.#call.style.removeProperty("--passing");
    this.#place.style.opacity = "";
    this.#lines.removeAttribute("style");
  }
}
