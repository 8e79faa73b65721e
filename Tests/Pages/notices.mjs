// Where the focus goes with a notice: notices.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./StandIns/dom.mjs";

const { hideNotice, notice } = await import(`${process.env.PAGES}/notices.js`);
const part = (id) => document.getElementById(id);
for (const id of ["notice-text", "notice-action", "notice-close"]) part("notice").append(part(id));
const close = () => part("notice-close").dispatchEvent(new Event("click"));

test("a notice that is closed, or whose button is pressed, leaves the focus on the call, or in the lobby on its way in", () => {
  for (const [isInCall, id] of [[true, "call"], [false, "join-button"]]) {
    part("call").hidden = !isInCall;
    notice("words");
    part("notice-close").focus();
    close();
    assert.deepEqual([part("notice").hidden, document.activeElement], [true, part(id)]);
    notice("words", { label: "Do it", action: () => assert.equal(document.activeElement, part(id), "what it does may take the focus on") });
    part("notice-action").focus();
    part("notice-action").onclick();
    assert.deepEqual([part("notice").hidden, document.activeElement], [true, part(id)]);
  }
});

test("where the page is another one, its own first place gets the focus", () => {
  for (const id of ["call", "join-button", "waiting"]) part(id).hidden = true;
  for (const [isChosen, id] of [[true, "room-title"], [false, "rooms-search"]]) {
    part("room-title").hidden = !isChosen;
    notice("words");
    part("notice-close").focus();
    close();
    assert.equal(document.activeElement, part(id));
  }
  for (const id of ["join-button", "waiting"]) part(id).hidden = false;
});

test("one that goes while the focus is elsewhere leaves it there", () => {
  part("call").hidden = false;
  notice("words", { topic: "door" });
  part("chat-text").focus();
  hideNotice("another");
  assert.equal(part("notice").hidden, false);
  hideNotice("door");
  assert.deepEqual([part("notice").hidden, document.activeElement], [true, part("chat-text")]);
});
