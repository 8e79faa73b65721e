// What the parts of administration share: admin-desk.js; and what is looked at of a track: admin-thumbnail.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pass } from "./StandIns/clock.mjs";
import { FakeElement } from "./StandIns/dom.mjs";

const { desk, finder, problem, query } = await import(`${process.env.PAGES}/admin-desk.js`);
const { Picture } = await import(`${process.env.PAGES}/admin-thumbnail.js`);
const { learn, say } = await import(`${process.env.PAGES}/words.js`);
await learn("call", "admin");

const settled = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test("what is searched for is what the server takes: 128 bytes and no control characters", () => {
  for (const [typed, asked] of [
    [" ada ", "ada"], ["a\tb\u0085c", "a b c"], ["\t", undefined], ["x".repeat(200), "x".repeat(128)], ["\u{1f600}".repeat(60), "\u{1f600}".repeat(32)],
    [`x${"\u{1f600}".repeat(60)}`, `x${"\u{1f600}".repeat(31)}`], ["\u4f1a".repeat(60), "\u4f1a".repeat(42)],
  ]) assert.equal(query({ value: typed }, { value: "" }).search, asked);
});

test("a search that isn't asked for yet is forgotten", () => {
  const [search, sort] = [new FakeElement(), new FakeElement()];
  let asked = 0;
  const forget = finder(search, sort, () => (asked += 1));
  search.dispatchEvent(new Event("input"));
  pass(1000);
  assert.equal(asked, 1);
  search.dispatchEvent(new Event("input"));
  forget();
  pass(1000);
  assert.equal(asked, 1);
});

test("a server that is about to stop is said to be so, in the page's own words", () => {
  assert.equal(problem({ status: 503, type: "draining", message: "no" }), say("admin.problem.draining"));
  assert.equal(problem({ status: 503, type: "full", message: "no" }), "no");
});

test("a second click while a picture comes asks for no second one, of which everyone would hear", async (context) => {
  let [asked, answer] = [0];
  context.after(() => delete globalThis.VideoDecoder);
  globalThis.VideoDecoder = { isConfigSupported: async () => ({ supported: false }) };
  desk.rest = { thumbnail: () => {
    asked += 1;
    return new Promise((resolve) => (answer = () => resolve({ codec: "vp8", width: 1, height: 1 })));
  } };
  const opener = new FakeElement("button");
  const picture = new Picture(new FakeElement("figure"), opener);
  const take = () => picture.take("r", { identity: "ada" }, { id: "TR_1" });
  take();
  take();
  await settled();
  assert.equal(asked, 1);
  document.getElementById("notice").hidden = true;
  answer();
  await settled();
  // What comes of the first is shown, or why it can't be.
  assert.equal(document.getElementById("notice-text").textContent, say("admin.picture.codec", { codec: "vp8" }));
  take();
  assert.equal(asked, 2);
});
