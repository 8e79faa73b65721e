// The help: which keys there are, and whether they are used.

import { build, button } from "/build.js";
import { element, styled } from "/elements.js";
import { remember, remembered } from "/visit.js";
import { learn, onLanguage, say } from "/words.js";

await Promise.all([learn("call"), styled("/help.css")]);

/** Keys by what is on them, or by the key of their name, and what they do. */
const rows = [
  [["M"], "help.mute"],
  [["key.space"], "help.space"],
  [["V"], "help.camera"],
  [["S"], "help.screen"],
  [["H"], "help.hand"],
  [["R"], "help.react"],
  [["P"], "help.people"],
  [["T"], "help.chat"],
  [["C"], "help.invite"],
  [["I"], "help.statistics"],
  [["L"], "layout.help.layout"],
  [["key.enter"], "layout.help.pin"],
  [["key.page-up", "key.page-down"], "layout.help.pages"],
  [["←", "→", "↑", "↓"], "layout.help.corner"],
  [["F"], "layout.help.full"],
  [["F6"], "help.parts"],
  [["key.shift", "Q"], "help.leave"],
  [["?"], "help.help"],
];

let isFilled = false;
onLanguage(() => (isFilled = false));

/** Shows it; it is filled when it is opened for the first time. */
export function openHelp() {
  const dialog = element("help");
  if (!isFilled) fill(dialog);
  isFilled = true;
  dialog.showModal();
}

function fill(dialog) {
  const keys = rows.map(([names, meaning]) => build("div", {},
    build("dt", {}, ...names.flatMap((name) => [build("kbd", {}, name.startsWith("key.") ? say(name) : name), " "])),
    build("dd", {}, say(meaning))));
  const use = build("input", { id: "single-keys", type: "checkbox", checked: remembered.keys !== false });
  use.addEventListener("change", () => remember({ keys: use.checked }));
  const closing = button(say("all.close"), () => dialog.close(), { class: "primary" });
  dialog.replaceChildren(build("h2", { id: "help-title" }, say("help.keys")), build("dl", { class: "keys" }, ...keys),
    build("label", { class: "check" }, use, " ", say("help.use")), build("p", { class: "hint" }, say("help.listening")),
    build("form", { method: "dialog" }, closing));
}
