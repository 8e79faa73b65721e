// A page's own markup as far as its parts use it: what has an id, templates, and selectors of names, classes, ids and attributes.

import { readFileSync } from "node:fs";
import { FakeElement } from "./dom.mjs";

const empty = ["meta", "link", "img", "input"];
const ids = new Map();

class MarkedUp extends FakeElement {
  #isOpen = false;

  constructor(name, attributes = new Map()) {
    const classes = (attributes.get("class") ?? "").split(" ").filter(Boolean);
    super(name, ...classes);
    this.classes = classes;
    this.attributes = new Map(attributes);
    this.hidden = attributes.has("hidden");
    this.disabled = false;
    this.value = "";
    for (const [each, value] of attributes) {
      if (each.startsWith("data-")) this.dataset[each.slice(5).replace(/-./g, (letter) => letter[1].toUpperCase())] = value;
    }
    if (name === "template") this.content = new MarkedUp("fragment");
  }

  /** Of `details`, which says so in a moment. */
  get open() {
    return this.#isOpen;
  }

  set open(isOpen) {
    if (isOpen === this.#isOpen) return;
    this.#isOpen = isOpen;
    queueMicrotask(() => this.dispatchEvent(new Event("toggle")));
  }

  click() {
    this.dispatchEvent(new Event("click"));
    this.onclick?.();
  }

  cloneNode() {
    const copy = new MarkedUp(this.name, this.attributes);
    copy.textContent = this.textContent;
    copy.append(...this.children.map((each) => each.cloneNode()));
    return copy;
  }

  /** `isHovered`: the pointer is over it. */
  matches(selector) {
    if (selector === ":hover") return this.isHovered === true;
    return selector.split(",").some((each) => this.#fits(each.trim().split(/\s+/)));
  }

  #fits(steps) {
    const last = steps.at(-1);
    const fits = last.match(/[.#]?[\w-]+|\[[\w-]+\]/g).every((part) => (part[0] === "." ? this.classes.includes(part.slice(1))
      : part[0] === "#" ? this.attributes.get("id") === part.slice(1)
        : part[0] === "[" ? this.attributes.has(part.slice(1, -1)) : this.name === part));
    if (!fits || steps.length === 1) return fits;
    for (let above = this.parent; above instanceof MarkedUp; above = above.parent) if (above.#fits(steps.slice(0, -1))) return true;
    return false;
  }

  querySelectorAll(selector) {
    return this.children.flatMap((each) => (each instanceof MarkedUp
      ? [...(each.matches(selector) ? [each] : []), ...each.querySelectorAll(selector)] : []));
  }

  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? super.querySelector(selector);
  }
}

/** Lays out a page of the server's. @param {string} name such as `admin.html` */
export function markUp(name) {
  const text = readFileSync(`${process.env.PAGES}/${name}`, "utf8").replace(/[^]*<body>/, "").replace(/<\/body>[^]*/, "");
  ids.clear();
  const open = [document.body];
  for (const [, end, tag, rest] of text.matchAll(/<(\/?)([a-z][a-z0-9]*)([^>]*)>/g)) {
    if (end) {
      open.pop();
      continue;
    }
    const attributes = new Map([...rest.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)].map(([, key, value = ""]) => [key, value]));
    const made = new MarkedUp(tag, attributes);
    if (attributes.has("id")) ids.set(attributes.get("id"), made);
    open.at(-1).append(made);
    if (!empty.includes(tag) && !rest.endsWith("/")) open.push(made.content ?? made);
  }
  const { getElementById } = document;
  document.getElementById = (id) => ids.get(id) ?? getElementById.call(document, id);
  document.querySelectorAll = (selector) => document.body.children.flatMap((each) => [...(each.matches?.(selector) ? [each] : []),
    ...(each.querySelectorAll?.(selector) ?? [])]);
  document.documentElement = {};
  // Their buttons close it.
  for (const dialog of ids.values()) if (dialog.name === "dialog") dialog.showModal = () => (dialog.open = true);
}
