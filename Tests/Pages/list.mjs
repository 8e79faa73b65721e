// Lists that follow what they are shown: list.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeElement } from "./StandIns/dom.mjs";

const { List } = await import(`${process.env.PAGES}/list.js`);

class Row extends FakeElement {
  constructor() {
    super("li");
    this.append(new FakeElement("button"));
  }
}

const template = { content: { firstElementChild: { cloneNode: () => new Row() } } };
const away = new FakeElement();
document.body.append(away);

/** A list in which these stand; `moved` are those that were put somewhere since. */
function listed(keys, more = {}) {
  const element = new FakeElement("ul");
  document.body.append(element);
  const list = new List(element, template, { key: (key) => key, make: (row, key) => (row.key = key), update: (row) => (row.updates = (row.updates ?? 0) + 1), ...more });
  element.matches = (selector) => selector === ":hover" && element.isHovered === true;
  list.show([...keys]);
  const moved = [];
  const insertBefore = element.insertBefore.bind(element);
  element.insertBefore = (row, before) => {
    moved.push(row.key);
    insertBefore(row, before);
  };
  const shown = () => element.children.map(({ key }) => key).join("");
  const button = (key) => element.children.find((row) => row.key === key).querySelector("button");
  return { element, list, moved, shown, button };
}

test("as few rows as can be change their places", () => {
  for (const [before, after, most] of [
    ["abcd", "bcda", "a"], ["abcd", "dabc", "d"], ["abcd", "abcd", ""], ["abcd", "acbd", "c"], ["abcdef", "cdefab", "ba"], ["abcd", "axbd", "x"], ["", "ab", "ba"],
  ]) {
    const { list, moved, shown } = listed(before);
    list.show([...after]);
    assert.equal(shown(), after);
    assert.equal(moved.length, most.length, `${before} to ${after}: ${moved}`);
  }
});

test("any order becomes any other, with some gone and some new", () => {
  let seed = 1;
  const random = (most) => (seed = (seed * 16_807) % 2_147_483_647) % most;
  const { list, shown } = listed("");
  for (let turn = 0; turn < 300; turn++) {
    const letters = [..."abcdefghij"].filter(() => random(3) > 0).map((letter) => [random(1000), letter]).sort(([one], [other]) => one - other)
      .map(([, letter]) => letter);
    list.show(letters);
    assert.equal(shown(), letters.join(""));
  }
});

test("the focus stays with its row wherever that goes, and without the page being scrolled to it", () => {
  const { list, shown, button } = listed("abc");
  const how = [];
  for (const key of "abc") {
    const focus = button(key).focus.bind(button(key));
    button(key).focus = (options) => {
      how.push(options);
      focus();
    };
  }
  button("c").focus();
  const focused = document.activeElement;
  list.show([..."cab"]);
  assert.deepEqual([shown(), document.activeElement === focused, how.length], ["cab", true, 2]);
  list.show([..."ba"]);
  assert.deepEqual([shown(), document.activeElement], ["ba", document.body]);
  assert.deepEqual(how.slice(1).filter((options) => !options?.preventScroll), []);
  away.focus();
});

test("of a steady list no row changes its place under a hand, until the hand leaves or asks for another order", () => {
  const { element, list, shown, button } = listed("abc", { isSteady: true });
  const others = listed("abc");
  button("b").focus();
  const { updates } = button("b").parent;
  list.show([..."cba"]);
  assert.deepEqual([shown(), button("b").parent.updates], ["abc", updates + 1]);
  // Who comes stands behind them, who goes is gone.
  list.show([..."xca"]);
  assert.equal(shown(), "acx");
  away.focus();
  element.isHovered = true;
  list.show([..."cxa"]);
  assert.equal(shown(), "acx");
  list.reorder();
  list.show([..."cxa"]);
  assert.equal(shown(), "cxa");
  list.show([..."axc"]);
  assert.equal(shown(), "cxa");
  element.isHovered = false;
  list.show([..."axc"]);
  assert.equal(shown(), "axc");
  others.button("b").focus();
  others.list.show([..."cba"]);
  assert.equal(others.shown(), "cba");
});

test("a finger that has gone holds no order, though the style of what it tapped stays", () => {
  const { element, list, shown } = listed("abc", { isSteady: true });
  const over = (pointerType) => element.dispatchEvent(Object.assign(new Event("pointerover"), { pointerType }));
  element.isHovered = true;
  over("touch");
  list.show([..."cab"]);
  assert.equal(shown(), "cab");
  over("mouse");
  list.show([..."abc"]);
  assert.equal(shown(), "cab");
});
