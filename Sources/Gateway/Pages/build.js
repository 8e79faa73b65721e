// Elements with what belongs to them, for parts of the page that are made when they are first opened.

/**
 * @param {string} name
 * @param {Object<string, string | number | boolean | null>} [attributes] true stands without a value, false and null not at all
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function build(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false && value !== null) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** A button that does something. @param {() => void} act @param {Parameters<typeof build>[1]} [attributes] */
export function button(label, act, attributes = {}) {
  const made = build("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", () => act());
  return made;
}
