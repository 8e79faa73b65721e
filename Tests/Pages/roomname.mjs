import assert from "node:assert/strict";
import { test } from "node:test";

const { roomName } = await import(`${process.env.PAGES}/roomname.js`);

test("a room's name is three words and a number of two digits, and hardly ever the same", () => {
  const names = Array.from({ length: 500 }, roomName);
  for (const name of names) assert.match(name, /^[a-z]{3,10}-[a-z]{3,10}-[a-z]{3,10}-[1-9][0-9]$/);
  // Of three million two are alike in one run of twenty-five, and four pairs in one of millions.
  assert.ok(new Set(names).size >= 497);
  for (const part of [0, 1, 2]) assert.ok(new Set(names.map((name) => name.split("-")[part])).size > 25, `word ${part}`);
});
