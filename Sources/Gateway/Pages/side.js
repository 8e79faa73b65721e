// The panel beside the tiles, with people and messages: what is in it is fetched when it is opened for the first time.

import { element, focusOn } from "/elements.js";
import { notice } from "/notices.js";
import { onLanguage, say, withKey } from "/words.js";

/** @typedef {"people" | "chat"} Tab */
const tabs = ["people", "chat"];
const longest = 99; // a badge has room for two figures

export class Side {
  #call;
  #chat;
  #readings;
  #parts = null; // a promise of what is in it
  #tab = "people";

  /** @param {import("/call.js").Call} call @param {import("/chat.js").Chat} chat @param {import("/readings.js").Readings} readings */
  constructor(call, chat, readings) {
    this.#call = call;
    this.#chat = chat;
    this.#readings = readings;
    for (const tab of tabs) element(`${tab}-toggle`).addEventListener("click", () => this.#toggle(tab));
    // There is room for one panel.
    element("statistics-toggle").addEventListener("click", () => this.hide());
    call.addEventListener("leave", () => this.hide());
    call.on("joined", () => this.#count());
    call.on("event", () => this.#count());
    chat.addEventListener("change", () => this.#count());
    onLanguage(() => {
      this.#parts = null; // It is made once more, in that language.
      this.#count();
    });
    this.#count();
  }

  get isOpen() {
    return !element("side").hidden;
  }

  /** The tab that is shown. @returns {Tab | null} */
  get tab() {
    return this.isOpen ? this.#tab : null;
  }

  /** @param {Tab} tab */
  async open(tab) {
    if (this.#readings.isOpen) element("statistics-toggle").click();
    this.#tab = tab;
    element("side").hidden = false;
    this.#show();
    this.#parts ??= this.#fetch();
    const panel = await this.#parts;
    if (panel && this.isOpen && this.#tab === tab) panel.show(tab);
  }

  async #fetch() {
    try {
      const { SidePanel } = await import("/side-panel.js");
      return await SidePanel.make(this.#call, this.#chat, { choose: (tab) => this.open(tab), close: () => this.close() });
    } catch {
      this.#parts = null;
      this.close();
      notice(say("problem.unreachable"));
      return null;
    }
  }

  /** By hand: the focus goes back to where it was opened. */
  close() {
    this.hide();
    focusOn(element(`${this.#tab}-toggle`));
  }

  async hide() {
    if (!this.isOpen) return;
    element("side").hidden = true;
    this.#show();
    (await this.#parts)?.hide();
  }

  #toggle(tab) {
    if (this.isOpen && this.#tab === tab) this.close();
    else this.open(tab);
  }

  #show() {
    for (const tab of tabs) element(`${tab}-toggle`).setAttribute("aria-expanded", String(this.isOpen && this.#tab === tab));
  }

  /** How many messages are unread, and how many wait to be let in. */
  #count() {
    const { room } = this.#call;
    this.#badge("chat", this.#chat.unread, "side.unread");
    this.#badge("people", room?.waiting.length ?? 0, "side.waiting");
  }

  #badge(tab, count, key) {
    const button = element(`${tab}-toggle`);
    const badge = button.querySelector(".badge");
    badge.hidden = count === 0;
    badge.textContent = count > longest ? `${longest}+` : String(count);
    const words = count === 0 ? say(`side.${tab}`) : say(key, { count });
    if (button.getAttribute("aria-label") === words) return;
    button.setAttribute("aria-label", words);
    button.title = withKey(words, button);
  }
}
