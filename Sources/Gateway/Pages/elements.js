// Small things that every part of the page needs.

/** @param {string} id of an element of the page's own, which is always there */
export const element = (id) => document.getElementById(id);

/** A new element with text in it. What people call themselves goes into a page in no other way. */
export function text(name, content, properties = {}) {
  return Object.assign(document.createElement(name), { textContent: content }, properties);
}

/** A sign of the sprite. */
export function sign(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

/** A name in a sentence: it keeps its direction to itself. */
export const isolated = (name) => `\u2068${name}\u2069`;

export const nameOf = (participant) => participant.name || participant.identity || "Someone";
