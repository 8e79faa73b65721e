// Where lines stand that pass by in a call: passing.js, without a page.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./StandIns/dom.mjs";

const { clear } = await import(`${process.env.PAGES}/passing.js`);

const area = { top: 0, bottom: 700 };
const line = { left: 100, right: 300, height: 34 };
const kept = (left, top, right, bottom) => ({ left, top, right, bottom });

test("lines stand as far down as they can", () => {
  assert.equal(clear(line, area, []), 700);
  assert.equal(clear(line, area, [kept(0, 0, 390, 600)]), 700);
});

test("they stand above a name that is in their way, and leave one beside them alone", () => {
  assert.equal(clear(line, area, [kept(260, 670, 380, 694)]), 664);
  assert.equal(clear(line, area, [kept(0, 670, 90, 694), kept(310, 670, 380, 694)]), 700);
  assert.equal(clear(line, area, [kept(0, 670, 95, 694)]), 664, "too close");
});

test("between two names they stand only where they fit", () => {
  const names = [kept(0, 670, 390, 694), kept(0, 625, 390, 640), kept(0, 500, 390, 524)];
  assert.equal(clear(line, area, names), 619);
  assert.equal(clear({ ...line, height: 24 }, area, names), 664);
  assert.equal(clear({ ...line, height: 120 }, area, names), 494);
});

test("they stay where they are as long as that is clear", () => {
  assert.equal(clear(line, area, [], 400), 400);
  assert.equal(clear(line, area, [kept(0, 380, 390, 404)], 400), 700);
  assert.equal(clear(line, area, [], 730), 700, "the window was turned");
  assert.equal(clear(line, area, [], NaN), 700);
});

test("where all is in their way there is no place", () => {
  assert.equal(clear(line, area, [kept(0, 0, 390, 700)]), undefined);
  assert.equal(clear({ ...line, height: 701 }, area, []), undefined);
  const rows = Array.from({ length: 12 }, (_, row) => kept(0, row * 60, 390, row * 60 + 30));
  assert.equal(clear(line, area, rows), undefined);
});
