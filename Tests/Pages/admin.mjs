// The page of administration from its beginning: admin.js, with a server as the test wants it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pass } from "./StandIns/clock.mjs";
import "./StandIns/dom.mjs";
import { markUp } from "./StandIns/markup.mjs";

markUp("admin.html");
globalThis.Option = class { constructor(text, value) { Object.assign(this, { text, value }); } };
const element = (id) => document.getElementById(id);
element("language").replaceChildren = () => {};
const listeners = new Map();
globalThis.addEventListener = (type, listener) => listeners.set(type, listener);
let loads = 0;
globalThis.location = { hash: "", pathname: "/admin", search: "", origin: "http://h", reload: () => (loads += 1) };

const settled = async () => {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const encoder = new TextEncoder();
const asked = [];
let stream;
let refusal = null;
globalThis.fetch = async (url, { signal }) => {
  asked.push(url.search);
  if (refusal) return new Response(JSON.stringify({ type: `urn:roost:problem:${refusal}` }), { status: 503 });
  return new Response(new ReadableStream({ start(controller) {
    stream = controller;
    signal.addEventListener("abort", () => controller.error(signal.reason));
  } }));
};
async function say(type, data) {
  stream.enqueue(encoder.encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`));
  await settled();
}
const figures = { version: "1.0", uptime: 10, rooms: 0, participants: 0, received: 0, sent: 0, workers: [], items: [], hasMore: false };

await import(`${process.env.PAGES}/admin.js`);
const words = await import(`${process.env.PAGES}/words.js`);

async function signedIn() {
  element("token").value = "a.b.c";
  element("sign-in").dispatchEvent(new Event("submit"));
  await settled();
}

async function search(text) {
  element("rooms-search").value = text;
  element("rooms-search").dispatchEvent(new Event("input"));
}

test("each field that is searched by says so where it is empty", () => {
  const found = ["rooms-search", "people-search", "events-search"].map((id) => element(id).placeholder);
  assert.deepEqual(found, Array(3).fill(words.say("admin.search")));
  assert.notEqual(found[0], "admin.search");
});

test("what was searched for a moment before one signs out is not asked for behind it", async () => {
  await signedIn();
  await say("server", figures);
  assert.equal(element("signed-in").hidden, false);
  const { length } = asked;
  await search("a");
  element("sign-out").click();
  pass(1000);
  await settled();
  assert.deepEqual([asked.length, element("signed-in").hidden, element("notice").hidden], [length, true, true]);
});

test("a server that is about to stop is said to be so as long as it is, whatever is searched for", async () => {
  await signedIn();
  await say("server", figures);
  await say("draining", { deadline: new Date(Date.now() + 600_000).toISOString() });
  await say("server", figures);
  const about = element("server-about").textContent;
  refusal = "draining";
  await search("a");
  pass(300);
  await settled();
  assert.deepEqual([element("notice").hidden, element("notice-text").textContent], [false, words.say("admin.problem.draining")]);
  assert.equal(element("server-about").textContent, about);
  assert.equal(element("signed-in").hidden, false);
  // Another one goes on, of which nothing such is known.
  refusal = null;
  pass(1000);
  await settled();
  await say("server", figures);
  assert.deepEqual([element("notice").hidden, element("server-about").textContent !== about], [true, true]);
  element("sign-out").click();
});

test("another link into the same page is followed", () => {
  location.hash = "#other";
  listeners.get("hashchange")();
  assert.equal(loads, 0);
  location.hash = "#token=a.b.c";
  listeners.get("hashchange")();
  assert.equal(loads, 1);
});
