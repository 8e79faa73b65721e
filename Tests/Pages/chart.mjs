// Where the lines of a small chart go: chart.js.

import assert from "node:assert/strict";
import test from "node:test";

const { height, kept, path, top, width } = await import(`${process.env.PAGES}/chart.js`);

const points = (words) => words.split(/(?=[ML])/).filter(Boolean)
  .map((each) => [each[0], ...each.slice(1).split(" ").map(Number)]);

test("the newest reading is at the right edge, and none is left of the other", () => {
  const now = 1_000_000;
  const readings = Array.from({ length: kept }, (_, index) => ({ now: now - (kept - 1 - index) * 2000, sent: 1 }));
  const found = points(path(readings, "sent", 1, now));
  assert.deepEqual(found.map(([kind]) => kind), ["M", ...Array(kept - 1).fill("L")]);
  assert.equal(found.at(-1)[1], width);
  assert.equal(found[0][1], 0);
  // Readings that came late, as in a window that slept, stay within the chart.
  assert.ok(points(path([{ now: 0, sent: 1 }], "sent", 1, now)).every(([, x]) => x >= 0 && x <= width));
});

test("where nothing is known the line has a gap, and begins again behind it", () => {
  const readings = [1, undefined, 2, 3].map((sent, index) => ({ now: index * 2000, sent }));
  assert.deepEqual(points(path(readings, "sent", 10, 6000)).map(([kind]) => kind), ["M", "M", "L"]);
  assert.equal(path([{ now: 0 }], "sent", 10, 0), "");
});

test("a value is within the chart, the greater the higher, and none above the top", () => {
  const [low, high, above] = [0, 10, 1e9].map((sent) => points(path([{ now: 0, sent }], "sent", 10, 0))[0][2]);
  assert.ok(low > high && low < height && high > 0);
  assert.equal(above, high);
});

test("the top is a round number above all that is shown, and not so low that noise fills the chart", () => {
  for (const [most, wanted] of [[0, 100_000], [100_000, 100_000], [100_001, 200_000], [430_000, 500_000], [1_000_000, 1_000_000],
    [7_200_000, 10_000_000]]) {
    assert.equal(top([{ sent: most }, {}], ["sent", "target"]), wanted);
  }
});

test("a chart can be of another span and of another height", () => {
  const readings = [{ now: 0, loss: 0 }, { now: 600_000, loss: 0.02 }];
  const found = points(path(readings, "loss", top(readings, ["loss"], 0.01), 600_000, 600_000));
  assert.deepEqual(found.map(([, x]) => x), [0, width]);
  for (const [most, wanted] of [[0, 0.01], [0.011, 0.02], [0.3, 0.5]]) {
    assert.ok(Math.abs(top([{ loss: most }], ["loss"], 0.01) - wanted) < 1e-9, `${most}`);
  }
});
