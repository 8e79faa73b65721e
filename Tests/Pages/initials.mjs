import assert from "node:assert/strict";
import { test } from "node:test";

const { hue, initials } = await import(`${process.env.PAGES}/initials.js`);

test("initials are the first letters of the first word and the last", () => {
  for (const [name, expected] of [
    ["Ada Lovelace", "AL"], ["Ada King Lovelace", "AL"], ["ada", "A"], ["A (guest)", "AG"], ["  Ada   ", "A"],
    ["(Ada)", "A"], ["42 is it", "4I"], ["ß", "ß"], ["éa Ö", "ÉÖ"], ["🏳️‍🌈", "🏳️‍🌈"], ["", ""], ["Ada ( -", "A"],
  ]) assert.equal(initials(name), expected, name);
});

test("an identity's hue is the same for everybody, and others' lie apart", () => {
  assert.equal(hue("ada"), hue("ada"));
  const hues = Array.from({ length: 12 }, (_, index) => hue(`guest-${index}`));
  for (const each of hues) assert.ok(Number.isInteger(each) && each >= 0 && each < 360);
  assert.ok(new Set(hues).size > 10);
  for (const [index, each] of hues.slice(1).entries()) {
    const distance = Math.abs(each - hues[index]);
    assert.ok(Math.min(distance, 360 - distance) > 20, `guest-${index}`);
  }
});
