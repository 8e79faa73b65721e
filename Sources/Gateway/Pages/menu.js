// A button and the menu that it opens, with the keys that the ARIA authoring practices give to menus.

import { sign, text } from "/elements.js";

/**
 * @typedef {object} Group
 * @property {string} label
 * @property {{text: string, isChosen?: boolean, choose: () => void, role?: string}[]} items `role`: `menuitemradio`, one of the group,
 *   unless it is `menuitemcheckbox`, or `menuitem`, which does something
 */
export class Menu {
  static #all = [];

  #button;
  #element;
  #groups;

  /** @param {HTMLButtonElement} button @param {HTMLElement} element with role `menu`
   * @param {() => Group[]} groups what to choose from, asked whenever it is shown */
  constructor(button, element, groups) {
    this.#button = button;
    this.#element = element;
    this.#groups = groups;
    Menu.#all.push(this);
    button.addEventListener("click", () => (this.isOpen ? this.close() : this.open()));
    button.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
      event.preventDefault();
      this.open();
    });
    element.addEventListener("keydown", (event) => this.#pressed(event));
    document.addEventListener("pointerdown", ({ target }) => {
      if (this.isOpen && !element.contains(target) && !button.contains(target)) this.close({ refocus: false });
    });
    element.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !element.contains(relatedTarget) && relatedTarget !== button) this.close({ refocus: false });
    });
  }

  /** As when the call is over. */
  static closeAll() {
    for (const menu of Menu.#all) menu.close({ refocus: false });
  }

  get isOpen() {
    return !this.#element.hidden;
  }

  open() {
    this.#fill();
    this.#element.hidden = false;
    this.#button.setAttribute("aria-expanded", "true");
    // Where nothing of what it is for is chosen, such as a device that is gone, a choice of another kind is no place to begin.
    (this.#element.querySelector("[role=group]")?.querySelector('[aria-checked="true"]') ?? this.#items()[0])?.focus();
  }

  close({ refocus = true } = {}) {
    if (!this.isOpen) return;
    this.#element.hidden = true;
    this.#button.setAttribute("aria-expanded", "false");
    if (refocus) this.#button.focus();
  }

  /** Shows what there is to choose from now, if it is open. */
  refresh() {
    if (!this.isOpen) return;
    const index = this.#items().indexOf(document.activeElement);
    this.#fill();
    const items = this.#items();
    if (index >= 0) items[Math.min(index, items.length - 1)]?.focus();
  }

  #fill() {
    this.#element.replaceChildren(...this.#groups().map(({ label, items }) => {
      const group = document.createElement("div");
      group.setAttribute("role", "group");
      group.setAttribute("aria-label", label);
      const heading = text("p", label);
      heading.setAttribute("aria-hidden", "true");
      group.append(heading, ...items.map((item) => this.#item(item)));
      return group;
    }));
  }

  #item({ text: words, isChosen, choose, role = "menuitemradio" }) {
    const button = Object.assign(document.createElement("button"), { type: "button", tabIndex: -1 });
    button.setAttribute("role", role);
    if (role !== "menuitem") button.setAttribute("aria-checked", String(isChosen));
    button.append(sign("check"), text("span", words, { dir: "auto" }));
    button.addEventListener("click", () => {
      this.close();
      choose();
    });
    return button;
  }

  #items() {
    return [...this.#element.querySelectorAll("[role^=menuitem]")];
  }

  #pressed(event) {
    const items = this.#items();
    const index = items.indexOf(document.activeElement);
    const go = (to) => items.at(to % items.length)?.focus();
    switch (event.key) {
      case "ArrowDown": go(index + 1); break;
      case "ArrowUp": go(index - 1); break;
      case "Home": go(0); break;
      case "End": go(-1); break;
      case "Escape": this.close(); break;
      case "Tab": this.close(); return; // On to what follows the button.
      default:
        event.stopPropagation(); // No letter here is a key of the call's.
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
