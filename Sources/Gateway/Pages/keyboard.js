// Shortcuts of a single key, which can be switched off. The help lists them: help.js.

import { element } from "/elements.js";
import { notice } from "/notices.js";
import { remembered } from "/visit.js";
import { say } from "/words.js";

const keys = { m: "microphone", v: "camera", s: "screen", h: "hand", r: "react", p: "people-toggle", t: "chat-toggle",
  i: "statistics-toggle", c: "invite", q: "leave", "?": "help-open" };

/** What keys do that have no button of their own. @type {Map<string, () => void>} */
export const acts = new Map();

/** What Escape closes: the first of these that is open. @type {{isOpen: boolean, close: () => void}[]} */
export const panels = [];

export function listenForKeys() {
  element("help-open").addEventListener("click", () =>
    import("/help.js").then(({ openHelp }) => openHelp(), () => notice(say("problem.unreachable"))));
  document.addEventListener("keydown", (event) => {
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey || event.isComposing;
    if (element("call").hidden || document.querySelector("dialog[open]") || hasModifier) return;
    if (event.key === "Escape") {
      if (!element("notice").hidden) element("notice-close").click();
      else panels.find(({ isOpen }) => isOpen)?.close();
      return;
    }
    if (remembered.keys === false || event.repeat || event.target.closest("input, select, textarea")) return;
    // Whatever Caps Lock makes of it. Leaving alone takes Shift, so that no slip does it; "?" is where the keyboard has it.
    const letter = event.key.toLowerCase();
    if (letter !== "?" && event.shiftKey !== (letter === "q")) return;
    const button = element(keys[letter]);
    const act = button && !button.hidden ? () => button.click() : acts.get(letter);
    if (!act) return;
    event.preventDefault(); // Else the letter is written in the field that gets the focus.
    act();
  });
}
