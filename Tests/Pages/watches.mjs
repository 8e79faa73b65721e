// When something that is amiss is said: watches.js.

import assert from "node:assert/strict";
import { test } from "node:test";

const { Lasting, Lateness, Silence } = await import(`${process.env.PAGES}/watches.js`);

/** What it says at each second of a course of events. */
const course = (watch, holds) => holds.map((each, second) => (watch.take(each, second * 1000) ? "said" : "-"));
const times = (count, value) => Array(count).fill(value);

test("what lasts is said, until it has been over for a while", () => {
  const watch = new Lasting(3000, 2000);
  assert.deepEqual(course(watch, [...times(5, true), ...times(4, false)]),
    ["-", "-", "-", "said", "said", "said", "said", "-", "-"]);
});

test("what comes and goes is never said, and what has been said isn't taken back for a moment", () => {
  const watch = new Lasting(3000, 2000);
  const flicker = Array.from({ length: 60 }, (_, second) => second % 4 !== 3);
  assert.ok(course(watch, flicker).every((each) => each === "-"));
  const said = new Lasting(0, 2000);
  assert.deepEqual(course(said, [true, false, true, false, false, false]), ["said", "said", "said", "said", "said", "-"]);
});

test("what is over for other reasons begins again", () => {
  const watch = new Lasting(2000, 9000);
  course(watch, times(4, true));
  watch.reset();
  assert.deepEqual(course(watch, times(3, true)), ["-", "-", "said"]);
});

/** Beats at those times, in seconds; at which of them the page is held back. */
const held = (beats) => {
  const lateness = new Lateness(1000);
  return beats.filter((second) => lateness.take(second * 1000));
};
const steady = (from, count) => Array.from({ length: count }, (_, index) => from + index);

test("a page whose timers come late is held back, until they have come in time for a quarter of a minute", () => {
  assert.deepEqual(held(steady(0, 100)), []);
  assert.deepEqual(held(steady(0, 100).map((second) => second * 1.4)), [], "a little late");
  assert.deepEqual(held([...steady(0, 5), ...steady(10, 30)]), steady(10, 15), "one stop of five seconds");
  assert.deepEqual(held([0, 3, 6, 9]), [6, 9], "two seconds each time");
  assert.deepEqual(held(steady(0, 5).map((minute) => minute * 60)), [60, 120, 180, 240], "one beat a minute");
});

test("a machine that slept was not held back", () => {
  assert.deepEqual(held([0, 1, 2, 3600, 3601, 3602]), []);
  assert.deepEqual(held([0, 5, 3600, 3601]), [5], "and what was before is over");
});

/** After how many seconds it is said that nothing comes from a microphone; null: never. */
function said(peaks, isExpected = () => true) {
  const silence = new Silence();
  const found = peaks.findIndex((peak, second) => silence.take(peak, isExpected(second), 1000));
  return found < 0 ? null : found + 1;
}

test("a microphone from which nothing comes is said to be silent after eight seconds in which one may be expected to speak", () => {
  assert.equal(said(times(20, 0)), 8);
  assert.equal(said(times(20, 0), (second) => second % 2 === 0), 15, "others speak half of the time");
  assert.equal(said(times(60, 0), () => false), null);
});

test("a microphone in a silent room isn't, nor one that was heard before", () => {
  assert.equal(said(times(60, 2 ** -15)), null, "one step of sixteen bits");
  assert.equal(said([0, 0, 0.5, ...times(60, 0)]), null);
  const silence = new Silence();
  assert.equal(silence.isHeard, false);
  for (let second = 0; second < 9; second++) silence.take(0, true, 1000);
  assert.equal(silence.take(0.2, true, 1000), false, "and it is over once it is heard");
  assert.equal(silence.isHeard, true);
});
