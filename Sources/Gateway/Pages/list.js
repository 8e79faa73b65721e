// A list that follows what it is shown: rows stay where they are as far as can be, so that a button keeps the focus while others come and go.

/**
 * @template Item
 * @typedef {object} Kind
 * @property {(item: Item) => string} key
 * @property {(row: HTMLElement, item: Item) => void} make when a row is new
 * @property {(row: HTMLElement, item: Item) => void} update
 * @property {boolean} [isSteady] while it has the focus or the pointer its rows change no places, so that none slips away from under a hand
 */
export class List {
  #element;
  #template;
  #kind;
  #rows = new Map(); // by their keys, as they stand
  #isAsked = false; // for another order
  #isTapped = false; // a finger was last at it, and has gone: to the style sheet it stays until one taps elsewhere

  /** @param {HTMLElement} element @param {HTMLTemplateElement} template of one row @param {Kind} kind */
  constructor(element, template, kind) {
    this.#element = element;
    this.#template = template;
    this.#kind = kind;
    element.addEventListener("pointerover", ({ pointerType }) => (this.#isTapped = pointerType === "touch"));
  }

  /** Another order is asked for: what is shown next has it, wherever the pointer is. */
  reorder() {
    this.#isAsked = true;
  }

  show(items) {
    const focused = this.#element.contains(document.activeElement) ? document.activeElement : null;
    const isHeld = this.#kind.isSteady && !this.#isAsked && (focused || (this.#element.matches(":hover") && !this.#isTapped));
    this.#isAsked = false;
    const wanted = new Map(items.map((item) => [this.#kind.key(item), item]));
    const order = isHeld ? new Set([...[...this.#rows.keys()].filter((key) => wanted.has(key)), ...wanted.keys()]) : wanted.keys();
    this.#place([...order], wanted);
    for (const [key, row] of this.#rows) this.#kind.update(row, wanted.get(key));
    // Its row has changed its place.
    if (focused?.isConnected && document.activeElement !== focused) focused.focus({ preventScroll: true });
  }

  #place(order, wanted) {
    const before = this.#rows;
    // Those that go go first: whatever is moved would lose the focus.
    for (const [key, row] of before) if (!wanted.has(key)) row.remove();
    this.#rows = new Map(order.map((key) => [key, before.get(key) ?? this.#make(wanted.get(key))]));
    const places = new Map(order.map((key, place) => [key, place]));
    const resting = ascending([...before.keys()].filter((key) => wanted.has(key)).map((key) => places.get(key)));
    let next = null;
    for (const [place, row] of [...[...this.#rows.values()].entries()].reverse()) {
      if (!resting.has(place)) this.#element.insertBefore(row, next);
      next = row;
    }
  }

  #make(item) {
    const row = this.#template.content.firstElementChild.cloneNode(true);
    this.#kind.make(row, item);
    return row;
  }
}

/** As many of the numbers as can be that stand one above the other: what has these places need not move. @param {number[]} numbers */
function ascending(numbers) {
  const ends = []; // of rows of one number, of two, and so on, each with the lowest end that one can have
  const before = []; // what stands before each
  for (const [place, number] of numbers.entries()) {
    const higher = ends.findIndex((end) => numbers[end] > number);
    const length = higher < 0 ? ends.length : higher;
    before[place] = ends[length - 1];
    ends[length] = place;
  }
  const found = new Set();
  for (let place = ends.at(-1); place !== undefined; place = before[place]) found.add(numbers[place]);
  return found;
}
