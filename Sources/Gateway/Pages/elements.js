// Small things that every part of the page needs.

import { say } from "/words.js";

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

/** Puts the focus on a button, or, where there is no room for it, on the one whose menu has it. */
export function focusOn(button) {
  (button.checkVisibility?.() === false ? element("more") : button).focus();
}

export const nameOf = (participant) => participant.name || participant.identity || say("all.someone");

/** Fetches a style sheet that the page has had no need of; its rules come after those of the page. @param {string} name @returns {Promise<void>} once it holds */
export function styled(name) {
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: name });
  return new Promise((done) => {
    link.onload = link.onerror = () => done();
    document.body.append(link);
  });
}
