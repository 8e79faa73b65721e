// Why a track comes as it does, in the page's words: explained.js with why.js, and what a tile says of it, messages.js.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { FakeElement, load } from "./StandIns/dom.mjs";

load();
const { Explained, isWorthShowing } = await import(`${process.env.PAGES}/explained.js`);
const { absence } = await import(`${process.env.PAGES}/messages.js`);
const { learn } = await import(`${process.env.PAGES}/words.js`);
await learn("call");

const schema = JSON.parse(readFileSync(process.env.SCHEMA, "utf8")).$defs;
const section = readFileSync(join(dirname(process.env.SCHEMA), "rest.md"), "utf8").split("\n## Explanations\n")[1].split("\n## ")[0];
/** By reason: the sentences that the server has for it; Tests/GatewayTests/ExplanationTests holds them to its own. */
const sentences = new Map([...section.matchAll(/^\| `([a-z-]+)` \| ([^`\n]+) \|$/gm)].map(([, reason, texts]) => [reason, texts.split("; ")]));

const narrow = { transport: { target: 420_000 }, page: "The connection carries 420 kbit/s." };
const wanted = { quality: "high", priority: 128 };
/** By sentence of the server: what comes with it, and what the page says in its place. */
const pages = {
  "the connection isn't up yet": { page: "The connection isn't up yet." },
  "no free slot": { page: "There is no room for one more." },
  "the codec isn't one that you can play": { page: "This browser can't play it." },
  "turned off": { wanted: { ...wanted, quality: "off" }, page: "Turned off." },
  "muted by ada": { page: "Muted." },
  "muted by an administrator": { page: "Muted." },
  "nothing comes from ada": { page: "Nothing comes from the sender." },
  "your connection carries 420 kbit/s": narrow,
  "your connection carries 420 kbit/s, and carried too little a moment ago": narrow,
  "waiting for the next key frame from ada": { page: "Waiting for the next whole picture." },
  "the tile is 320 pixels wide": { wanted: { ...wanted, maxWidth: 320, maxHeight: 180 }, page: "The tile is 320 pixels wide." },
  "the tile is 180 pixels high": { wanted: { ...wanted, maxHeight: 180 }, page: "The tile is 180 pixels high." },
  "low quality was asked for": { wanted: { ...wanted, quality: "low", maxWidth: 320 }, page: "Low quality was asked for." },
  "15 pictures a second were asked for": { wanted: { ...wanted, maxFrameRate: 15 }, page: "15 pictures a second were asked for." },
  "ada sends only 360p": { sent: { encoding: 0, temporal: 2, width: 640, height: 360 }, page: "The sender sends only 360p." },
  "ada sends nothing better": { page: "The sender sends nothing better." },
  "this is the best there is": { page: "This is the best there is." },
  "the server can't say at the moment": { page: "The server can't say at the moment." },
};

/** What the page has of one subscription. */
function entry(key, reason, text = sentences.get(reason)[0]) {
  const { transport, page, ...more } = pages[text];
  return { key, title: key, transport, subscription: { reason, text, state: "active", ...more } };
}

function said(list) {
  const find = (element) => (element.className === "explained-reason" ? [element.textContent] : element.children.flatMap(find));
  return find(list);
}

test("every reason of the protocol has its sentences in the documents", () => {
  assert.ok(schema.StreamReason.enum.length >= 12);
  assert.deepEqual([...sentences.keys()].sort(), [...schema.StreamReason.enum].sort());
});

test("of each sentence that the server has the page says the same in words of its own", () => {
  assert.deepEqual(Object.keys(pages).sort(), [...sentences.values()].flat().sort());
  for (const [reason, texts] of sentences) {
    for (const each of texts) {
      const list = new FakeElement();
      new Explained(list).show([entry("Ada: camera", reason, each)], 0);
      assert.deepEqual(said(list), [pages[each].page], each);
    }
  }
});

test("figures that aren't known are left out, and so are those of which it isn't known whether they are the bound", () => {
  const list = new FakeElement();
  const explained = new Explained(list);
  const shows = (subscription) => {
    explained.show([{ key: "a", title: "a", subscription }], 0);
    return said(list)[0];
  };
  assert.equal(shows({ reason: "bandwidth" }), "The connection has no room for more.");
  assert.equal(shows({ reason: "view" }), "It is shown no larger and no faster.");
  assert.equal(shows({ reason: "view", wanted: { ...wanted, maxWidth: 320, maxFrameRate: 15 } }), "It is shown no larger and no faster.");
  assert.equal(shows({ reason: "of a newer server" }), "The server can't say at the moment.");
});

test("what changes is said in the same place, and what is over is gone", () => {
  const list = new FakeElement();
  const explained = new Explained(list);
  explained.show([entry("a", "best"), entry("b", "bandwidth")], 0);
  const [first] = list.children;
  explained.show([entry("c", "codec"), entry("a", "muted")], 1000);
  assert.deepEqual(said(list), ["This browser can't play it.", "Muted."]);
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
