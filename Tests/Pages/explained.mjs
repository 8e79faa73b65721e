// Why a track comes as it does, in the page's words: explained.js, and what a tile says of it, messages.js.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { FakeElement, load } from "./StandIns/dom.mjs";

load();
const { Explained, isWorthShowing } = await import(`${process.env.PAGES}/explained.js`);
const { absence } = await import(`${process.env.PAGES}/messages.js`);

const schema = JSON.parse(readFileSync(process.env.SCHEMA, "utf8")).$defs;
const section = readFileSync(join(dirname(process.env.SCHEMA), "rest.md"), "utf8").split("\n## Explanations\n")[1].split("\n## ")[0];
/** By reason: the sentences that the server has for it; Tests/GatewayTests/ExplanationTests holds them to its own. */
const sentences = new Map([...section.matchAll(/^\| `([a-z-]+)` \| ([^`\n]+) \|$/gm)].map(([, reason, texts]) => [reason, texts.split("; ")]));

function said(list) {
  const find = (element) => (element.className === "explained-reason" ? [element.textContent] : element.children.flatMap(find));
  return find(list);
}

test("every reason of the protocol has its sentences in the documents", () => {
  assert.ok(schema.StreamReason.enum.length >= 12);
  assert.deepEqual([...sentences.keys()].sort(), [...schema.StreamReason.enum].sort());
});

test("each sentence stands on the page as the server says it, as a sentence", () => {
  for (const [reason, texts] of sentences) {
    for (const each of texts) {
      const list = new FakeElement();
      new Explained(list).show([{ key: "a", title: "Ada: camera", subscription: { reason, text: each, state: "active" } }], 0);
      assert.deepEqual(said(list), [`${each[0].toUpperCase()}${each.slice(1)}.`], reason);
    }
  }
});

test("what changes is said in the same place, and what is over is gone", () => {
  const list = new FakeElement();
  const explained = new Explained(list);
  const entry = (key, reason) => ({ key, title: key, subscription: { reason, text: sentences.get(reason)[0] } });
  explained.show([entry("a", "best"), entry("b", "bandwidth")], 0);
  const [first] = list.children;
  explained.show([entry("c", "codec"), entry("a", "muted")], 1000);
  assert.deepEqual(said(list), ["The codec isn't one that you can play.", "Muted by ada."]);
  assert.equal(list.children[1], first);
  explained.clear();
  assert.deepEqual(list.children, []);
});

test("of every reason why nothing comes something is shown, but where somebody is muted or all is well", () => {
  for (const reason of schema.StreamReason.enum) {
    assert.equal(isWorthShowing({ reason }), !["best", "muted"].includes(reason), reason);
    assert.equal(isWorthShowing({ reason, sent: {} }), true, reason);
  }
});

test("a tile has words for every state in which its track doesn't come, unless its viewer wants it so", () => {
  const reasons = schema.Stream.properties.reason.enum;
  assert.ok(reasons.length >= 5);
  const words = reasons.map((reason) => [reason, absence({ state: reason === "no-slot" ? "waiting" : "paused", reason })]);
  for (const [reason, text] of words) {
    if (reason === "off") assert.equal(text, "");
    else assert.match(text, /^[A-Z].*[^.]$/, reason);
  }
  assert.equal(new Set(words.map(([, text]) => text)).size, reasons.length);
  assert.equal(absence({ state: "active" }), "");
});
