// What administration asks of the server: rest.js.

import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.location = new URL("http://h/admin");
const { REST } = await import(`${process.env.PAGES}/rest.js`);

const bytes = (name) => Buffer.from(name);
const names = (items) => items.map(({ identity }) => identity);

/**
 * Answers as docs/rest.md has it: a page begins behind the name that `after` stands for, and may end early.
 * @param {string[]} present identities; @param {number} longest of a page, whatever is asked for
 */
function server(present, longest = Infinity) {
  const asked = [];
  globalThis.fetch = async (url) => {
    const after = url.searchParams.get("after");
    const limit = Number(url.searchParams.get("limit"));
    assert.match(after ?? "a", /^[\w-]+$/);
    assert.ok(limit >= 1 && limit <= 100, `limit ${limit}`);
    const rest = present.map(bytes).sort(Buffer.compare).filter((each) => !after || Buffer.compare(each, Buffer.from(after, "base64url")) > 0);
    const items = rest.slice(0, Math.min(limit, longest)).map((each) => ({ identity: String(each) }));
    asked.push([url.pathname, names(items)]);
    const next = items.length < rest.length ? { next: bytes(items.at(-1).identity).toString("base64url") } : {};
    return { ok: true, status: 200, json: async () => ({ items, ...next }) };
  };
  return asked;
}

const inOrder = (present) => present.map(bytes).sort(Buffer.compare).map((each) => ({ identity: String(each) }));

test("those alone are explained who are asked about, wherever they stand in the list", async () => {
  const present = ["ada", "bob", "cid", "dan", "eve", "a b/c", "ß", "🏳️‍🌈", "ÿ>>?", "\u{10ffff}"];
  const people = inOrder(present);
  for (let chosen = 0; chosen < 2 ** present.length; chosen++) {
    const isAsked = ({ identity }) => Boolean(chosen & (1 << present.indexOf(identity)));
    const asked = server(present);
    const found = await new REST("t").explain("a/b", people, isAsked);
    assert.deepEqual(names(found), names(people.filter(isAsked)));
    assert.deepEqual(asked.flatMap(([, items]) => items), names(people.filter(isAsked)), "nothing else was asked for");
    assert.ok(asked.every(([path]) => path === "/v1/rooms/a%2Fb/explain"));
  }
});

test("neighbours are explained together, a hundred at a time, also where a page ends early", async () => {
  const present = Array.from({ length: 250 }, (_, index) => `p${String(index).padStart(3, "0")}`);
  const isAsked = ({ identity }) => identity >= "p010" && identity < "p240";
  for (const [longest, pages] of [[Infinity, 3], [30, 8]]) {
    const asked = server(present, longest);
    assert.equal((await new REST("t").explain("r", inOrder(present), isAsked)).length, 230);
    assert.equal(asked.length, pages);
  }
});

test("one who has joined since the list was made takes no one's place for long", async () => {
  const people = inOrder(["ada", "cid", "dan"]);
  server(["ada", "bob", "cid", "dan"]);
  assert.deepEqual(names(await new REST("t").explain("r", people, ({ identity }) => identity === "cid")), ["bob"]);
  server(["ada", "dan"]);
  assert.deepEqual(names(await new REST("t").explain("r", people, ({ identity }) => identity === "dan")), ["dan"]);
});
