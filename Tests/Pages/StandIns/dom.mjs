// A document as far as the page's parts use it. Nothing is laid out but what the page places itself, and observers see what there
// is to see when the test draws a frame.

const pixels = (length) => parseInt(length, 10) || 0;

export class FakeElement extends EventTarget {
  children = [];
  parent = null;
  attributes = new Map();
  dataset = {};
  style = { setProperty() {} };
  hidden = false;
  textContent = "";
  /** Whether it lies outside of the window. */
  isScrolledAway = false;
  #classes;

  constructor(name = "div", ...classes) {
    super();
    this.name = name;
    this.#classes = new Set(classes);
    this.classList = {
      add: (...names) => { for (const each of names) this.#classes.add(each); },
      remove: (...names) => { for (const each of names) this.#classes.delete(each); },
      toggle: (name, isOn) => (isOn ? this.#classes.add(name) : this.#classes.delete(name)),
    };
  }

  get isConnected() {
    return this === document.body || (this.parent?.isConnected ?? false);
  }

  checkVisibility() {
    return !this.hidden && (this.parent?.checkVisibility() ?? true);
  }

  get clientWidth() {
    return this.isConnected ? pixels(this.style.width) : 0;
  }

  get clientHeight() {
    return this.isConnected ? pixels(this.style.height) : 0;
  }

  get firstElementChild() {
    return this.children[0] ?? null;
  }

  append(...elements) {
    for (const each of elements) {
      if (typeof each === "string") {
        this.textContent += each;
        continue;
      }
      each.remove();
      each.parent = this;
      this.children.push(each);
      if (each.name === "link") queueMicrotask(() => each.onload?.()); // Every style sheet comes.
    }
  }

  replaceChildren(...elements) {
    for (const each of this.children) each.parent = null;
    this.children = [];
    this.append(...elements);
  }

  before(element) {
    this.parent.insertBefore(element, this);
  }

  after(element) {
    this.parent.insertBefore(element, this.nextElementSibling);
  }

  replaceWith(element) {
    this.after(element);
    this.remove();
  }

  contains(element) {
    return element === this || this.children.some((each) => each.contains(element));
  }

  insertBefore(element, before) {
    element.remove();
    element.parent = this;
    const place = this.children.indexOf(before);
    this.children.splice(place < 0 ? this.children.length : place, 0, element);
  }

  get nextElementSibling() {
    const all = this.parent?.children ?? [];
    return all[all.indexOf(this) + 1] ?? null;
  }

  /** With it the focus goes, as it does where it is put elsewhere. */
  remove() {
    if (document.activeElement !== document.body && this.contains(document.activeElement)) document.activeElement = document.body;
    if (this.parent) this.parent.children = this.parent.children.filter((each) => each !== this);
    this.parent = null;
  }

  querySelector(selector) {
    for (const each of this.children) {
      const isIt = selector.startsWith(".") ? each.#classes.has(selector.slice(1)) : each.name === selector;
      const found = isIt ? each : each.querySelector(selector);
      if (found) return found;
    }
    return null;
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  setAttribute(name, value) {
    this.attributes.set(name, value);
  }

  removeAttribute(name) {
    this.attributes.delete(name);
  }

  toggleAttribute(name, isOn) {
    if (isOn) this.attributes.set(name, "");
    else this.attributes.delete(name);
  }

  focus() {
    document.activeElement = this;
  }

  async play() {}
}

/** The template of a tile, as in index.html. */
export const tileTemplate = { content: { cloneNode() {
  const [content, figure] = [new FakeElement(), new FakeElement("figure", "tile")];
  figure.append(new FakeElement("video"));
  for (const name of ["expand", "pin", "tile-name", "avatar", "microphone-mark", "hand-mark", "tile-note", "quality"]) {
    figure.append(new FakeElement("span", name));
  }
  content.append(figure);
  return content;
} } };

class FakeDocument extends EventTarget {
  documentElement = new FakeElement("html");
  body = new FakeElement("body");
  hidden = false;
  activeElement = this.body;
  #elements = new Map();

  createElement(name) {
    return new FakeElement(name);
  }

  createElementNS(_, name) {
    return new FakeElement(name);
  }

  /** Elements of the page's own are always there. */
  getElementById(id) {
    if (!this.#elements.has(id)) {
      this.#elements.set(id, new FakeElement());
      this.body.append(this.#elements.get(id));
    }
    return this.#elements.get(id);
  }
}

/** The page as it is when it has been loaded: nothing looks at it yet. */
export function load() {
  Observer.all = [];
  globalThis.document = new FakeDocument();
  globalThis.devicePixelRatio = 1;
}

/** The tab goes behind another one, or comes back. */
export function hide(isHidden) {
  document.hidden = isHidden;
  document.dispatchEvent(new Event("visibilitychange"));
}

class Observer {
  static all = [];
  observed = new Map(); // element → what was last reported of it

  constructor(callback) {
    this.callback = callback;
    Observer.all.push(this);
  }

  observe(element) {
    if (!this.observed.has(element)) this.observed.set(element, null);
  }

  unobserve(element) {
    this.observed.delete(element);
  }

  look() {
    const entries = [];
    for (const [target, before] of this.observed) {
      const entry = this.entry(target);
      if (JSON.stringify(entry) === before) continue;
      this.observed.set(target, JSON.stringify(entry));
      entries.push({ target, ...entry });
    }
    if (entries.length > 0) this.callback(entries);
  }
}

globalThis.ResizeObserver = class extends Observer {
  entry({ clientWidth, clientHeight }) {
    return { contentRect: { width: clientWidth, height: clientHeight } };
  }
};

/** Reports each element that is observed once, and when it comes into the window or leaves it, as by going. */
globalThis.IntersectionObserver = class extends Observer {
  entry({ isConnected, isScrolledAway, clientWidth }) {
    return { isIntersecting: isConnected && !isScrolledAway && clientWidth > 0 };
  }
};

/** Frames are drawn for what is in view alone, and with them observers look. */
export function drawFrame() {
  if (document.hidden) return;
  for (const each of Observer.all) each.look();
}

/** How many elements are looked at, whether they are in view. */
export const inView = () => Observer.all.filter((each) => each instanceof IntersectionObserver)
  .reduce((sum, { observed }) => sum + observed.size, 0);

globalThis.requestAnimationFrame = (done) => done();
globalThis.window = globalThis;
globalThis.location = new URL("http://h/?room=r#token=t");
globalThis.history = { replaceState() {} };
for (const name of ["addEventListener", "removeEventListener"]) globalThis[name] ??= () => {};
Object.defineProperty(globalThis, "navigator", { value: { mediaDevices: {} }, configurable: true });
load();
