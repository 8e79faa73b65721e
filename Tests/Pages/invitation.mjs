// What the tab keeps of a link for many, and of the token that it gives: invitation.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./StandIns/dom.mjs";

globalThis.location = new URL("http://h/?room=r");
const place = "roost-invitation";
const kept = new Map();
globalThis.sessionStorage = {
  getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text), removeItem: (key) => kept.delete(key),
};
const address = () => location.pathname + location.search; // As the page has it where nothing in it can be written in two ways.
const stored = () => JSON.parse(kept.get(place) ?? "null");
let opened = 0;
globalThis.fetch = async (_, { body }) => ({ ok: true, json: async () => ({ token: `token-${++opened}-${JSON.parse(body).invitation}` }) });
let count = 0;

/** The page as it is loaded with what the tab has kept. */
const loaded = () => import(`${process.env.PAGES}/invitation.js?${++count}`);

test("a link gives another token where the first was over before one has been in, also after a reload", async () => {
  kept.set(place, JSON.stringify({ secret: "link", address: address() }));
  const first = await loaded();
  assert.equal(first.invitation(), null);
  assert.equal(await first.openInvitation("Ada"), "token-1-link");
  const again = await loaded();
  assert.equal(again.invitation(), "token-1-link");
  assert.equal(again.dropToken(), true);
  assert.equal(again.invitation(), null);
  assert.equal(await again.openInvitation("Ada"), "token-2-link");
});

test("once one is in the tab keeps the token alone, as the server renews it", async () => {
  kept.set(place, JSON.stringify({ secret: "link", address: address() }));
  const page = await loaded();
  const token = await page.openInvitation("Ada");
  page.keepToken();
  assert.deepEqual(stored(), { token, secret: null, address: address() });
  page.keep("renewed");
  assert.equal(stored().token, "renewed");
  assert.equal(page.dropToken(), false, "there is no other token");
  assert.equal(page.invitation(), "renewed");
  assert.equal((await loaded()).invitation(), "renewed");
});

test("a link is kept for its own address, and gives nothing where there is none", async () => {
  kept.set(place, JSON.stringify({ secret: "link", address: "/?room=another" }));
  const page = await loaded();
  assert.equal(page.hasInvitation, false);
  assert.equal(await page.openInvitation("Ada"), null);
  page.keepToken();
  assert.equal(page.dropToken(), false);
  assert.equal(page.invitation(), null);
});

test("a link is kept however the name of its room is written in the address", async (context) => {
  const before = location;
  context.after(() => (globalThis.location = before));
  globalThis.location = new URL("http://h/?room=team%20stand~up*");
  const first = await loaded();
  kept.delete(place);
  first.keep("token");
  globalThis.location = new URL("http://h/?room=team+stand%7Eup%2A");
  assert.equal((await loaded()).invitation(), "token");
  globalThis.location = new URL("http://h/?room=team+stand");
  assert.equal((await loaded()).invitation(), null);
});
