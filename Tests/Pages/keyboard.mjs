// Keys of the call: keyboard.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./StandIns/dom.mjs";

const { acts, listenForKeys } = await import(`${process.env.PAGES}/keyboard.js`);
document.querySelector = () => null;
const pressed = [];
// Elements that a page doesn't have aren't there: what is pressed has a name.
const { getElementById } = document;
document.getElementById = (id) => (id ? getElementById.call(document, id) : undefined);
for (const id of ["leave", "microphone", "help-open"]) document.getElementById(id).click = () => pressed.push(id);
acts.set("l", () => pressed.push("layout"));
listenForKeys();

/** What a key does. */
function press(key, more = {}) {
  pressed.length = 0;
  const event = new Event("keydown");
  Object.defineProperty(event, "target", { value: { closest: () => null } });
  document.dispatchEvent(Object.assign(event, { key, shiftKey: false, ...more }));
  return pressed.join();
}

test("one leaves by Shift and Q alone, with Caps Lock or without", () => {
  assert.deepEqual([press("Q", { shiftKey: true }), press("q", { shiftKey: true })], ["leave", "leave"]);
  assert.deepEqual([press("q"), press("Q")], ["", ""]);
});

test("all others do what they do with Caps Lock too, and nothing with Shift", () => {
  assert.deepEqual([press("m"), press("M"), press("l"), press("L")], ["microphone", "microphone", "layout", "layout"]);
  assert.deepEqual([press("M", { shiftKey: true }), press("l", { shiftKey: true })], ["", ""]);
  assert.deepEqual([press("?", { shiftKey: true }), press("?")], ["help-open", "help-open"], "wherever the keyboard has it");
});
