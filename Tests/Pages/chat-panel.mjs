// What is made of the messages that are shown: chat-panel.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pass } from "./StandIns/clock.mjs";
import { FakeElement } from "./StandIns/dom.mjs";

const { ChatPanel } = await import(`${process.env.PAGES}/chat-panel.js`);
const { learn } = await import(`${process.env.PAGES}/words.js`);
await learn("call");

/** Messages as the chat has them. */
class FakeChat extends EventTarget {
  canWrite = true;
  entries = [];

  /** Someone says something, within what stands folded behind an entry if there is one. */
  says(entry, text) {
    entry.folded.push({ key: text, text, time: 0 });
    if (entry.folded.length > 20) entry.folded.shift();
    entry.more += 1;
    entry.version += 1;
    this.dispatchEvent(new Event("change"));
    pass(250);
  }
}

const entry = (more) => ({ key: "k", text: "first", time: 0, sender: "bob", name: "Bob", isOwn: false, state: "sent", folded: [], more: 0,
  version: 0, ...more });

function opened(...entries) {
  const chat = new FakeChat();
  chat.entries = entries;
  const panel = new ChatPanel(chat);
  document.body.append(panel.element);
  panel.show();
  return { chat, panel };
}

test("what is folded isn't made while it is closed, and is once it is opened", () => {
  const flood = entry();
  const { chat, panel } = opened(flood);
  let made = 0;
  const { createElement } = document;
  document.createElement = (name) => {
    made += 1;
    return new FakeElement(name);
  };
  for (let number = 0; number < 30; number++) chat.says(flood, `http://a/${")".repeat(3990)}`);
  document.createElement = createElement;
  // Each time the message itself, with what says how many more there are.
  assert.ok(made <= 30 * 12, `${made} elements`);
  const details = panel.element.querySelector("details");
  assert.deepEqual(details.children.map(({ name }) => name), ["summary"]);

  details.open = true;
  details.dispatchEvent(new Event("toggle"));
  assert.equal(details.children.length, 21);
  details.dispatchEvent(new Event("toggle"));
  assert.equal(details.children.length, 21);
  chat.says(flood, "one more");
  const next = panel.element.querySelector("details");
  assert.notEqual(next, details);
  assert.deepEqual([next.open, next.children.length, next.children.at(-1).textContent], [true, 21, "one more"]);
});

test("a text of many lines moves in a place of its own, which one can come to; others show whole", () => {
  for (const [text, isTall] of [["a\n".repeat(40), true], ["word ".repeat(800), false], [`${"a\n".repeat(29)}a`, false]]) {
    const { panel } = opened(entry({ text }));
    const words = panel.element.querySelector("article").querySelector("p");
    assert.deepEqual([words.getAttribute("class"), words.getAttribute("tabindex")], isTall ? ["words tall", 0] : ["words", null]);
  }
});

test("who says nothing of itself stands in other letters than those who do", () => {
  const { panel } = opened(entry({ sender: "", name: "Sender not shown" }), entry({ name: "Sender not shown" }));
  const names = [];
  const look = (element) => {
    if (element.name === "bdi") names.push([element.textContent, element.getAttribute("class")]);
    element.children.forEach(look);
  };
  look(panel.element);
  assert.deepEqual(names, [["Sender not shown", "name hint"], ["Sender not shown", "name"]]);
});

test("what one follows by a press leaves the focus at the messages", () => {
  const { chat, panel } = opened(entry());
  const list = panel.element.querySelector("div");
  const newer = panel.element.querySelector("button");
  Object.assign(list, { scrollHeight: 1000, scrollTop: 0 });
  chat.entries.push(entry({ key: "l", sender: "eve" }));
  chat.dispatchEvent(new Event("change"));
  pass(250);
  assert.equal(newer.hidden, false);
  newer.focus();
  newer.dispatchEvent(new Event("click"));
  assert.deepEqual([newer.hidden, list.scrollTop], [true, 1000]);
  assert.equal(document.activeElement, list);
});

test("what one was writing as the call ended is none of the next", () => {
  const { chat, panel } = opened();
  const field = panel.element.querySelector("textarea");
  field.value = "between us";
  chat.dispatchEvent(new Event("clear"));
  assert.equal(field.value, "");
});
