// What the page of administration keeps of each participant: admin-history.js.

import assert from "node:assert/strict";
import { test } from "node:test";

const { History, span } = await import(`${process.env.PAGES}/admin-history.js`);

const person = (id, received = 1) => ({ id, received, sent: 2, loss: 0.1, roundTrip: 0.02 });

test("readings of the last ten minutes are kept, oldest first", () => {
  const history = new History();
  for (let now = 0; now <= 2 * span; now += 2000) history.take([person("PA_1", now)], now);
  const readings = history.of("PA_1");
  assert.equal(readings.length, span / 2000 + 1);
  assert.deepEqual(readings[0], { now: span, received: span, sent: 2, loss: 0.1, roundTrip: 0.02 });
  assert.equal(readings.at(-1).now, 2 * span);
});

test("while nothing was read nothing is known, and a line has a gap there", () => {
  const history = new History();
  history.take([person("PA_1")], 0);
  history.take([person("PA_1")], 4000);
  history.take([person("PA_1")], 60_000);
  assert.deepEqual(history.of("PA_1").map(({ now, received }) => [now, received]), [[0, 1], [4000, 1], [4000, undefined], [60_000, 1]]);
});

test("those who have left are forgotten in time, and of very many those who were read longest ago", () => {
  const history = new History();
  history.take([person("PA_gone"), person("PA_here")], 0);
  history.take([person("PA_here")], span + 1);
  assert.deepEqual(history.of("PA_gone"), []);
  assert.equal(history.of("PA_here").length, 1);
  const many = Array.from({ length: 600 }, (_, index) => person(`PA_${index}`));
  history.take(many, span + 2000);
  assert.deepEqual(history.of("PA_here"), []);
  assert.deepEqual([history.of("PA_0").length, history.of("PA_599").length], [0, 1]);
});

test("a participant of whom little is known has what is known", () => {
  const history = new History();
  history.take([{ id: "PA_1", received: 0, sent: 0 }], 7);
  assert.deepEqual(history.of("PA_1"), [{ now: 7, received: 0, sent: 0, loss: undefined, roundTrip: undefined }]);
});
