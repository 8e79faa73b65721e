import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.requestAnimationFrame = (done) => done();
const { arrange } = await import(`${process.env.PAGES}/layout.js`);

function tile(more = {}) {
  return { group: "camera", own: false, element: { style: {}, classList: { add() {}, remove() {} } }, ...more };
}

function boxes(tiles) {
  return tiles.map(({ element: { style } }) => {
    const [x, y] = style.transform.match(/-?\d+/g).map(Number);
    return { x, y, width: parseInt(style.width, 10), height: parseInt(style.height, 10) };
  });
}

test("tiles neither overlap nor leave their area, however many there are", () => {
  for (const [wide, high] of [[1280, 720], [390, 700], [844, 390]]) {
    for (let count = 1; count <= 13; count++) {
      for (const screens of [0, 1]) {
        const tiles = Array.from({ length: count + screens }, (_, index) => tile(index < screens ? { group: "screen" } : {}));
        arrange(tiles, wide, high);
        const all = boxes(tiles);
        for (const [index, a] of all.entries()) {
          assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.width <= wide && a.y + a.height <= high, `${count} in ${wide}`);
          for (const b of all.slice(index + 1)) {
            const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
            assert.ok(apart, `${count} in ${wide}: ${JSON.stringify([a, b])}`);
          }
        }
      }
    }
  }
});

test("the last row is centred", () => {
  const tiles = [tile(), tile(), tile()];
  arrange(tiles, 1280, 900);
  const [first, second, third] = boxes(tiles);
  assert.ok(first.y === second.y && third.y > first.y);
  assert.ok(Math.abs(third.x + third.width / 2 - 640) <= 2);
});
