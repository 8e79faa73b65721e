// A list that follows what it is shown: rows stay where they are, so that a button keeps the focus while others come and go.

/**
 * @template Item
 * @typedef {object} Kind
 * @property {(item: Item) => string} key
 * @property {(row: HTMLElement, item: Item) => void} make when a row is new
 * @property {(row: HTMLElement, item: Item) => void} update
 */
export class List {
  #element;
  #template;
  #kind;
  #rows = new Map();

  /** @param {HTMLElement} element @param {HTMLTemplateElement} template of one row @param {Kind} kind */
  constructor(element, template, kind) {
    this.#element = element;
    this.#template = template;
    this.#kind = kind;
  }

  show(items) {
    const keys = new Set(items.map((item) => this.#kind.key(item)));
    // Those that go go first: whatever is moved would lose the focus.
    for (const [key, row] of this.#rows) {
      if (keys.has(key)) continue;
      row.remove();
      this.#rows.delete(key);
    }
    let place = this.#element.firstElementChild;
    for (const item of items) {
      const key = this.#kind.key(item);
      let row = this.#rows.get(key);
      if (!row) {
        row = this.#template.content.firstElementChild.cloneNode(true);
        this.#kind.make(row, item);
        this.#rows.set(key, row);
      }
      if (row === place) place = row.nextElementSibling;
      else this.#element.insertBefore(row, place);
      this.#kind.update(row, item);
    }
  }
}
