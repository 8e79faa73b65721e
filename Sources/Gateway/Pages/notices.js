// What the page has to say: in passing, or until it is closed.

import { element, text } from "/elements.js";

const most = 3;

/** For a moment, and by screen readers when they have time for it. */
export function say(words) {
  const line = text("p", words);
  const status = element("status");
  status.append(line);
  while (status.children.length > most) status.firstElementChild.remove();
  setTimeout(() => line.remove(), 5000);
}

/** Until it is closed, at the top of the page, and at once by screen readers. */
export function notice(words, label = null, action = null) {
  element("notice-text").textContent = words;
  const button = element("notice-action");
  button.hidden = !label;
  button.textContent = label ?? "";
  button.onclick = () => {
    hideNotice();
    action?.();
  };
  element("notice").hidden = false;
}

export function hideNotice() {
  element("notice").hidden = true;
}

element("notice-close").addEventListener("click", hideNotice);
