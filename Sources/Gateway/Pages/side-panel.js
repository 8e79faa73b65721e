// What is in the panel beside the tiles: two tabs, with people and with messages.

import { build, button } from "/build.js";
import { ChatPanel } from "/chat-panel.js";
import { element, sign, styled } from "/elements.js";
import { PeoplePanel } from "/people-panel.js";
import { say } from "/words.js";

const tabs = ["people", "chat"];

export class SidePanel {
  #buttons;
  #panels;
  #shown = null;

  /**
   * @param {import("/call.js").Call} call @param {import("/chat.js").Chat} chat
   * @param {{choose: (tab: string) => void, close: () => void}} acts
   */
  static async make(call, chat, acts) {
    await styled("/side.css");
    return new SidePanel(call, chat, acts);
  }

  constructor(call, chat, { choose, close }) {
    this.#buttons = Object.fromEntries(tabs.map((tab) => (
      [tab, button(say(`side.${tab}`), () => choose(tab), { id: `side-${tab}-tab`, role: "tab" })])));
    const list = build("div", { class: "tabs", role: "tablist", "aria-label": say("side.title") }, ...Object.values(this.#buttons));
    list.addEventListener("keydown", (event) => this.#pressed(event, choose));
    const closing = button(sign("close"), close, { class: "icon", id: "side-close", "aria-label": say("side.close") });
    this.#panels = { people: new PeoplePanel(call), chat: new ChatPanel(chat) };
    for (const tab of tabs) {
      const { element: panel } = this.#panels[tab];
      panel.id = `side-${tab}`;
      panel.hidden = true;
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", `side-${tab}-tab`);
      this.#buttons[tab].setAttribute("aria-controls", panel.id);
    }
    element("side").replaceChildren(build("header", {}, list, closing), ...tabs.map((tab) => this.#panels[tab].element));
  }

  /** @param {"people" | "chat"} tab */
  show(tab) {
    const isChosenHere = this.#buttons[this.#shown] === document.activeElement;
    for (const each of tabs) {
      const isShown = each === tab;
      this.#buttons[each].setAttribute("aria-selected", String(isShown));
      this.#buttons[each].tabIndex = isShown ? 0 : -1;
      this.#panels[each].element.hidden = !isShown;
      if (!isShown) this.#panels[each].hide();
    }
    this.#shown = tab;
    this.#panels[tab].show();
    // By the arrow keys one goes from tab to tab; by a button of the bar one comes to write.
    if (isChosenHere || !this.#panels[tab].focus()) this.#buttons[tab].focus();
  }

  hide() {
    for (const tab of tabs) this.#panels[tab].hide();
    this.#shown = null;
  }

  #pressed(event, choose) {
    const isMirrored = getComputedStyle(event.currentTarget).direction === "rtl";
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] * (isMirrored ? -1 : 1);
    const to = { Home: 0, End: tabs.length - 1 }[event.key] ?? (step ? tabs.indexOf(this.#shown) + step : null);
    if (to === null) return;
    event.preventDefault();
    choose(tabs.at(to % tabs.length));
  }
}
