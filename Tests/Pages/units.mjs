// Figures with their units: units.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./StandIns/dom.mjs";

load();
const { milliseconds, percent, rate } = await import(`${process.env.PAGES}/units.js`);
const { learn } = await import(`${process.env.PAGES}/words.js`);
await learn("call");

test("a rate is in the unit that its figure has three digits of", () => {
  const seen = [0, 999, 420_000, 999_499, 999_500, 1_000_000, 2_449_000, 9_949_000, 9_950_000, 12_400_000].map((bits) => rate(bits));
  assert.deepEqual(seen, ["0 kbit/s", "1 kbit/s", "420 kbit/s", "999 kbit/s", "1.0 Mbit/s", "1.0 Mbit/s", "2.4 Mbit/s", "9.9 Mbit/s",
    "10 Mbit/s", "12 Mbit/s"]);
});

test("what isn't known is left empty", () => {
  assert.deepEqual([rate(undefined), percent(undefined), milliseconds(undefined)], ["", "", ""]);
  assert.deepEqual([percent(0.0123), milliseconds(0.0457)], ["1.2 %", "46 ms"]);
});
