// Browsers let a page make no sound before something in it was pressed.

import { hideNotice, notice } from "/notices.js";
import { say } from "/words.js";

const presses = ["click", "keydown"];
const acts = new Set();
let stage = null;

/** @param {() => void} act is done once, at the next press: of whatever, but a key that is none to the browser */
export function whenPressed(act) {
  acts.add(act);
  for (const type of presses) document.addEventListener(type, pressed, true);
}

function pressed() {
  if (navigator.userActivation?.isActive === false) return;
  for (const type of presses) document.removeEventListener(type, pressed, true);
  const due = [...acts];
  acts.clear();
  for (const act of due) act();
}

/** Says that it takes a press until others are heard; any will do, also once another notice has taken that one's place.
 * @param {import("/tiles.js").Stage} silent */
export function playWhenPressed(silent) {
  notice(say("call.click"), { label: say("call.sound"), topic: "sound" });
  stage = silent;
  whenPressed(play);
}

function play() {
  hideNotice("sound");
  stage.playAll();
}
