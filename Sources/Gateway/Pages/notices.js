// What the page has to say: to screen readers alone, in passing, or until it is closed.

import { element, text } from "/elements.js";

const most = 3;
const shownFor = 5000; // ms

/** By screen readers alone, where others see it at the control. */
export function announce(words) {
  const line = element("announcement");
  // The same words again are a change only if they have gone in between.
  line.textContent = "";
  requestAnimationFrame(() => (line.textContent = words));
}

/** For a moment, and by screen readers when they have time for it. */
export const tell = (words) => pass(text("p", words));

/** A line in passing. */
export function pass(line) {
  const status = element("status");
  status.append(line);
  // What is only to be seen goes first.
  while (status.children.length > most) (status.querySelector("[aria-hidden]") ?? status.firstElementChild).remove();
  setTimeout(() => line.remove(), shownFor);
}

/** Takes away what was said in passing. */
export function hush() {
  element("status").replaceChildren();
}

let shown = null; // the topic of the notice that is shown
/** Where who was at a notice goes on: at the first of these that is to be seen, of the page of calls or of administration. */
const places = ["call", "join-button", "waiting", "room-title", "rooms-search", "token"];

/**
 * Until it is closed, at the top of the page, and at once by screen readers.
 * @param {{label?: string, action?: () => void, topic?: string}} [options] a button, and what the notice is about
 */
export function notice(words, { label = null, action = null, topic = "" } = {}) {
  element("notice-text").textContent = words;
  const button = element("notice-action");
  button.hidden = !label;
  button.textContent = label ?? "";
  button.onclick = () => {
    hideNotice();
    action?.();
  };
  element("notice").hidden = false;
  shown = topic;
}

/** @param {string} [topic] only a notice about that */
export function hideNotice(topic = shown) {
  if (topic !== shown) return;
  const hadFocus = element("notice").contains(document.activeElement);
  element("notice").hidden = true;
  element("notice").style.top = "";
  if (hadFocus) places.map(element).find((each) => each?.checkVisibility())?.focus();
}

/** Changes what stands above a notice: it moves down for it and stays there, so that no button slips away from beneath a finger. */
export function beneath(change) {
  const box = element("notice");
  const { top } = box.getBoundingClientRect();
  box.style.top = "";
  change();
  if (!box.hidden && box.getBoundingClientRect().top < top) box.style.top = `${top}px`;
}

element("notice-close").addEventListener("click", () => hideNotice());
