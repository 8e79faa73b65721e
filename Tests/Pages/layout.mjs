import assert from "node:assert/strict";
import { test } from "node:test";

import { FakeElement, tileTemplate } from "./StandIns/dom.mjs";
const { arrange, capacity, prominent, promote } = await import(`${process.env.PAGES}/layout.js`);
const { Stage } = await import(`${process.env.PAGES}/tiles.js`);

const view = { mode: "grid", page: 0, speaker: null, corner: null, isRightToLeft: false };

function tile(more = {}) {
  return { group: "camera", own: false, element: { style: {}, classList: { add() {}, remove() {} } }, ...more };
}

const tiles = (count) => Array.from({ length: count }, () => tile());

function boxes(all) {
  return all.filter(({ isAway }) => !isAway).map(({ element: { style } }) => {
    const [x, y] = style.transform.match(/-?\d+/g).map(Number);
    return { x, y, width: parseInt(style.width, 10), height: parseInt(style.height, 10) };
  });
}

const area = ({ width, height }) => width * height;

/** None is outside, none over another. */
function judge(all, wide, high, words) {
  for (const [index, a] of all.entries()) {
    assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.width <= wide && a.y + a.height <= high, words);
    for (const b of all.slice(index + 1)) {
      const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      assert.ok(apart, `${words}: ${JSON.stringify([a, b])}`);
    }
  }
}

test("tiles neither overlap nor leave their area, however many there are and however one looks at them", () => {
  for (const [wide, high] of [[1280, 720], [390, 700], [844, 306], [320, 200], [2560, 1300]]) {
    for (const mode of ["grid", "speaker", "sidebar"]) {
      for (let count = 1; count <= 60; count += count < 13 ? 1 : 9) {
        for (const [screens, pins] of [[0, 0], [1, 0], [0, 2], [1, 1]]) {
          const all = [...tiles(count), ...tiles(screens).map((each) => Object.assign(each, { group: "screen" }))];
          for (const each of all.slice(0, pins)) each.isPinned = true;
          const words = `${mode}: ${count} and ${screens}, ${pins} pinned, in ${wide} × ${high}`;
          const { pages } = arrange(all, wide, high, { ...view, mode });
          const seen = new Set();
          for (let page = 0; page < pages; page++) {
            assert.equal(arrange(all, wide, high, { ...view, mode, page }).page, page, words);
            judge(boxes(all), wide, high, words);
            for (const each of all) if (!each.isAway) seen.add(each);
          }
          assert.equal(seen.size, all.length, `${words}: each on some page`);
        }
      }
    }
  }
});

test("the last row is centred", () => {
  const all = tiles(3);
  arrange(all, 1280, 900);
  const [first, second, third] = boxes(all);
  assert.ok(first.y === second.y && third.y > first.y);
  assert.ok(Math.abs(third.x + third.width / 2 - 640) <= 2);
});

test("what fits is on one page, and more is on pages whose tiles can be made out, with room for their buttons", () => {
  for (const [wide, high] of [[1280, 720], [390, 700]]) {
    const most = capacity({ width: wide - 20, height: high - 20 }, high > wide ? 3 / 4 : 9 / 16);
    assert.ok(most >= 15 && most < 50, `${most} in ${wide}`);
    assert.equal(arrange(tiles(most), wide, high).pages, 1);
    const all = tiles(most + 1);
    assert.equal(arrange(all, wide, high).pages, 2);
    assert.ok(boxes(all).every(({ y, width, height }) => width >= 100 && y + height <= high - 54));
    assert.equal(all.filter(({ element }) => element.hidden).length, all.length - boxes(all).length);
    assert.equal(arrange(all, wide, high, { ...view, page: 9 }).page, 1, "there are no more than that");
  }
  assert.equal(capacity({ width: 10_000, height: 10_000 }, 9 / 16), 49);
  assert.equal(capacity({ width: 10, height: 10 }, 9 / 16), 1);
});

test("who speaks is large: above the others in one layout, beside them in the other, and like them in a grid", () => {
  const all = tiles(5);
  const ratio = (mode) => {
    arrange(all, 1280, 720, { ...view, mode, speaker: all[3] });
    const sizes = boxes(all);
    const rest = sizes.filter((_, index) => index !== 3);
    return [Math.min(...rest.map((each) => area(sizes[3]) / area(each))), rest, sizes[3]];
  };
  const [above, row, top] = ratio("speaker");
  assert.ok(above > 8 && row.every(({ y }) => y >= top.y + top.height), `${above}`);
  const [beside, column, left] = ratio("sidebar");
  assert.ok(beside > 8 && column.every(({ x }) => x >= left.x + left.width), `${beside}`);
  assert.ok(Math.abs(ratio("grid")[0] - 1) < 0.01);
});

test("what is pinned is large, several too, before screens and before who speaks", () => {
  const all = [...tiles(4), tile({ group: "screen" })];
  const names = (found) => found.map((each) => all.indexOf(each));
  const large = (mode, speaker = null) => names(prominent(all, { ...view, mode, speaker }));
  assert.deepEqual([large("grid"), large("speaker", all[1]), large("sidebar")], [[4], [4], [4]]);
  all[0].isPinned = all[2].isPinned = true;
  assert.deepEqual([large("grid"), large("speaker", all[1])], [[0, 2], [0, 2]]);
  arrange(all, 1280, 720, view);
  const sizes = boxes(all);
  assert.ok(Math.min(area(sizes[0]), area(sizes[2])) > 3 * Math.max(area(sizes[1]), area(sizes[3]), area(sizes[4])));
  const people = tiles(3);
  people[0].own = true;
  assert.deepEqual(prominent(people, { ...view, mode: "speaker" }), [people[1]], "not oneself");
  assert.deepEqual(prominent(people, { ...view, mode: "speaker", speaker: people[2] }), [people[2]]);
  assert.deepEqual(prominent(people, { ...view, mode: "speaker", speaker: tile() }), [people[1]], "who has gone");
});

test("in a call of two one's own picture floats in the corner where it was put, over the other's", () => {
  const [self, other] = [tile({ own: true }), tile()];
  const where = (more = {}) => {
    assert.equal(arrange([self, other], 1280, 720, { ...view, ...more }).floating, self);
    const [{ x, y, width, height }, large] = boxes([self, other]);
    assert.ok(large.width * large.height > 8 * width * height);
    return [x > 640 ? "right" : "left", y > 360 ? "bottom" : "top"].join();
  };
  assert.equal(where(), "right,bottom");
  assert.equal(where({ isRightToLeft: true }), "left,bottom");
  for (const right of [false, true]) {
    for (const bottom of [false, true]) {
      for (const isRightToLeft of [false, true]) {
        assert.equal(where({ corner: { right, bottom }, isRightToLeft }), [right ? "right" : "left", bottom ? "bottom" : "top"].join());
      }
    }
  }
  assert.equal(arrange([self, other, tile()], 1280, 720).floating, null);
  assert.equal(arrange([self, Object.assign(tile(), { group: "screen" })], 1280, 720).floating, null);
  other.isPinned = true;
  assert.equal(arrange([self, other], 1280, 720).floating, null);
});

test("one's own picture that is hidden takes no place", () => {
  const all = [tile({ own: true, isHidden: true }), ...tiles(2)];
  arrange(all, 1280, 720);
  assert.ok(all[0].isAway && all[0].element.hidden);
  assert.equal(boxes(all).length, 2);
});

test("from right to left everything is where it would be in a mirror", () => {
  const all = [...tiles(4), tile({ group: "screen" })];
  arrange(all, 1280, 720, view);
  const before = boxes(all);
  arrange(all, 1280, 720, { ...view, isRightToLeft: true });
  for (const [index, { x, y, width }] of boxes(all).entries()) {
    assert.ok(Math.abs(1280 - before[index].x - width - x) <= 2 && y === before[index].y && width === before[index].width);
  }
});

test("who speaks on another page takes the place of who was silent for longest, and of none that is one's own, pinned or looked at", () => {
  const all = tiles(6);
  for (const [index, each] of all.entries()) Object.assign(each, { isAway: index > 3, spokeAt: [0, 5, 3, 4, 9, 9][index] });
  all[0].own = true;
  all[2].isPinned = true;
  const order = [...all];
  assert.equal(promote(order, all[5]), true);
  assert.deepEqual(order, [all[0], all[1], all[2], all[5], all[4], all[3]]);
  all[3].hasFocus = true;
  const again = [...all];
  assert.equal(promote(again, all[5]), true);
  assert.equal(again.indexOf(all[5]), 1);
  assert.equal(promote(order, all[1]), false, "it is there");
  all[4].isHidden = true;
  assert.equal(promote(order, all[4]), false);
  assert.equal(promote([all[5]], all[5]), false, "there is none to give way");
});

test("an area without size has no places", () => {
  assert.equal(arrange(tiles(1), 10, 700), null);
});

test("a screen fills the whole screen also where the page has it already, and leaves it by the same press", () => {
  const done = [];
  document.fullscreenEnabled = true;
  document.exitFullscreen = async () => done.push("left");
  const tile = new Stage(new FakeElement(), tileTemplate).tile("PA_1 screen", { own: false, group: "screen" });
  tile.element.requestFullscreen = async () => done.push("filled");
  const press = () => tile.element.querySelector(".expand").dispatchEvent(new Event("click"));
  for (const full of [null, document.documentElement, tile.element]) {
    document.fullscreenElement = full;
    press();
  }
  assert.deepEqual(done, ["filled", "filled", "left"]);
});

test("where the browser fills the screen with pictures alone a shared one does, once there is one; where it never does there is no button", () => {
  document.fullscreenEnabled = false;
  for (const isPossible of [true, false]) {
    const tile = new Stage(new FakeElement(), tileTemplate).tile("PA_1 screen", { own: false, group: "screen" });
    const [expand, video] = [".expand", "video"].map((name) => tile.element.querySelector(name));
    const done = [];
    video.webkitEnterFullscreen = () => done.push("filled");
    assert.equal(expand.hidden, true, "nothing has come");
    video.webkitSupportsFullscreen = isPossible;
    video.dispatchEvent(new Event("loadeddata"));
    assert.equal(expand.hidden, !isPossible);
    if (isPossible) expand.dispatchEvent(new Event("click"));
    assert.equal(done.length, isPossible ? 1 : 0);
  }
  document.fullscreenEnabled = true;
});
