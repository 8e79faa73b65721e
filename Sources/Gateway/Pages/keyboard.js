// Shortcuts of a single key, which can be switched off, and the help that lists them.

import { element } from "/elements.js";
import { remember, remembered } from "/visit.js";

const keys = { m: "microphone", v: "camera", s: "screen", i: "statistics-toggle", c: "invite", Q: "leave", "?": "help-open" };

/** @param {import("/call.js").Call} call @param {import("/readings.js").Readings} readings */
export function listenForKeys(call, readings) {
  element("help-open").addEventListener("click", () => element("help").showModal());
  element("single-keys").checked = remembered.keys !== false;
  element("single-keys").addEventListener("change", (event) => remember({ keys: event.target.checked }));
  call.addEventListener("leave", () => element("help").close());
  document.addEventListener("keydown", (event) => {
    if (element("call").hidden || element("help").open || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (!element("notice").hidden) element("notice-close").click();
      else if (readings.isOpen) readings.close();
      return;
    }
    if (remembered.keys === false || event.repeat || event.target.closest("input, select, textarea")) return;
    const button = element(keys[event.key]);
    if (button && !button.hidden) button.click();
  });
}
