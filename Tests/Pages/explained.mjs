// Why a track comes as it does, in the page's words: explained.js, and what a tile says of it, messages.js.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { FakeElement, load } from "./StandIns/dom.mjs";

load();
const { Explained, isWorthShowing } = await import(`${process.env.PAGES}/explained.js`);
const { absence } = await import(`${process.env.PAGES}/messages.js`);

const schema = JSON.parse(readFileSync(process.env.SCHEMA, "utf8")).$defs;
const section = readFileSync(join(dirname(process.env.SCHEMA), "rest.md"), "utf8").split("\n## Explanations\n")[1].split("\n## ")[0];
/** By reason: the sentences that the server has for it; Tests/GatewayTests/ExplanationTests holds them to its own. */
const sentences = new Map([...section.matchAll(/^\| `([a-z-]+)` \| ([^`\n]+) \|$/gm)].map(([, reason, texts]) => [reason, texts.split("; ")]));

function said(list) {
  const find = (element) => (element.className === "explained-reason" ? [element.textContent] : element.children.flatMap(find));
  return find(list);
}

test("every reason of the protocol has its sentences in the documents", () => {
  assert.ok(schema.StreamReason.enum.length >= 12);
  assert.deepEqual([...sentences.keys()].sort(), [...schema.StreamReason.enum].sort());
});

test("each sentence stands on the page as the server says it, as a sentence", () => {
  for (const [reason, texts] of sentences) {
    for (const each of texts) {
      const list = new FakeElement();
      new Explained(list).show([{ key: "a", title: "Ada: camera", subscription: { reason, text: each, state: "active" } }], 0);
      assert.deepEqual(said(list), [`${each[0].toUpperCase()}${each.slice(1)}.`], reason);
    }
  }
});

test("what changes is said in the same place, and what is over is gone", () => {
  const list = new FakeElement();
  const explained = new Explained(list);
  const entry = (key, reason) => ({ key, title: key, subscription: { reason, text: sentences.get(reason)[0] } });
  explained.show([entry("a", "best"), entry("b", "bandwidth")], 0);
  const [first] = list.children;
  explained.show([entry("c", "codec"), entry("a", "muted")], 1000);
  assert.deepEqual(said(list), ["The codec isn't one that you can play.", "Muted by ada."]);
  assert.equal(list.children[1], first);
  explained.clear();
  assert.deepEqual(list.children, []);
});

/** All elements below one. */
const below = (element) => element.children.flatMap((each) => [each, ...below(each)]);

/** A figure as one sees it: words and what they stand for, the lines of the chart, and what its edge and its description say. */
function seen(figure) {
  const all = below(figure);
  const pairs = all.filter(({ name }) => name === "div").map(({ children: [word, value] }) => [word.textContent, value.textContent]);
  const lines = all.filter(({ name }) => name === "path").map((line) => [line.getAttribute("class"), line.getAttribute("d")]);
  const chart = all.find(({ name }) => name === "svg");
  return {
    words: Object.fromEntries(pairs), lines: Object.fromEntries(lines), isHidden: chart.getAttribute("hidden") !== null,
    top: all.find(({ className }) => className === "chart-top").textContent, label: chart.getAttribute("aria-label"),
  };
}

/** What the server says of a path and of one that is sent over it. */
const path = { target: 1_230_000, estimated: 864_400, loss: 0.5, roundTrip: 0.9 };
const shown = {
  reason: "best", text: "this is the best there is", bitrate: 412_000, loss: 0.0234, roundTrip: 0.0426,
  sent: { encoding: 1, rid: "h", spatial: 0, temporal: 2, width: 640, height: 360, frameRate: 30 },
};

test("what the server says of a track and of its path stands in the figure, each in its unit", () => {
  const list = new FakeElement();
  const explained = new Explained(list);
  const show = (subscription, transport) => {
    explained.show([{ key: "a", title: "Ada: camera", subscription: { reason: "best", text: "best", ...subscription }, transport }], 0);
    return seen(list.children[0]).words;
  };
  assert.deepEqual(show(shown, path), {
    Target: "1.2 Mbit/s", Arrives: "864 kbit/s", Sent: "412 kbit/s", Layer: "640×360, 30/s, T2", Loss: "2.3 %", "Round trip": "43 ms" });
  // Each is of its own: what isn't known of the track is no other's, but the round trip, which is the path's.
  const nothing = { Target: "–", Arrives: "–", Sent: "–", Layer: "–", Loss: "–", "Round trip": "–" };
  assert.deepEqual(show({}, undefined), nothing);
  for (const [part, subscription, transport, word, words] of [
    ["target", {}, { target: 12_345_678 }, "Target", "12 Mbit/s"], ["estimate", {}, { estimated: 999_400 }, "Arrives", "999 kbit/s"],
    ["nothing arrives", {}, { estimated: 0 }, "Arrives", "0 kbit/s"], ["bitrate", { bitrate: 1_000_000 }, undefined, "Sent", "1.0 Mbit/s"],
    ["no loss", { loss: 0 }, { loss: 0.5 }, "Loss", "0.0 %"], ["all is lost", { loss: 1 }, undefined, "Loss", "100.0 %"],
    ["the path's round trip", {}, { roundTrip: 0.9 }, "Round trip", "900 ms"],
    ["a layer of a known name", { sent: { encoding: 1, rid: "h", temporal: 0 } }, undefined, "Layer", "h, T0"],
    ["a layer of none", { sent: { encoding: 0, temporal: 1, frameRate: 15 } }, undefined, "Layer", "encoding 0, 15/s, T1"],
  ]) {
    assert.deepEqual(show(subscription, transport), { ...nothing, [word]: words }, part);
  }
});

test("the chart has a line for what may be sent, what arrives and what is sent, each at its height and its time", () => {
  const list = new FakeElement();
  const explained = new Explained(list);
  const figure = (now, subscription, transport) => {
    explained.show([{ key: "a", title: "Ada: camera", subscription: { ...shown, ...subscription }, transport }], now);
    return seen(list.children[0]);
  };
  // 240 wide for 59 readings to the left, 52 high between two edges of 2: at the right edge, of 2 Mbit/s.
  const one = figure(0, {}, path);
  assert.deepEqual(one.lines, { "chart-target": "M240.0 22.0", "chart-estimated": "M240.0 31.5", "chart-bitrate": "M240.0 43.3" });
  assert.equal(one.top, "2.0 Mbit/s");
  assert.equal(one.label, "may be sent: 1.2 Mbit/s, arrives: 864 kbit/s, sent of this track: 412 kbit/s");
  // The pause that follows has no rate of its own, and the path's go on.
  const two = figure(59_000, { bitrate: undefined }, { target: 400_000, estimated: 200_000 });
  assert.deepEqual(two.lines, {
    "chart-target": "M120.0 22.0L240.0 43.6", "chart-estimated": "M120.0 31.5L240.0 48.8", "chart-bitrate": "M120.0 43.3" });
  assert.equal(two.label, "may be sent: 400 kbit/s, arrives: 200 kbit/s, sent of this track: not known");
  const three = figure(118_000, { bitrate: 1_000_000 }, { target: 2_000_001 });
  assert.equal(three.top, "5.0 Mbit/s", "all lines shrink where one outgrows the chart");
  assert.deepEqual(three.lines["chart-bitrate"], "M0.0 49.7M240.0 43.6");
  assert.equal(three.lines["chart-estimated"].split("M").length, 2, "what is known no more ends");
});

test("where no rate has ever been known there is no chart, and there is one with the first that is", () => {
  const list = new FakeElement();
  const explained = new Explained(list);
  const isHidden = (subscription, transport) => {
    explained.show([{ key: "a", title: "Ada: camera", subscription: { reason: "no-slot", text: "no free slot", ...subscription }, transport }], 0);
    return seen(list.children[0]).isHidden;
  };
  assert.equal(isHidden({}, undefined), true);
  assert.equal(isHidden({ loss: 0.1 }, { roundTrip: 0.1 }), true);
  assert.equal(isHidden({}, { estimated: 0 }), false);
  assert.equal(isHidden({}, undefined), false, "what was known is still drawn");
});

test("of every reason why nothing comes something is shown, but where somebody is muted or all is well", () => {
  for (const reason of schema.StreamReason.enum) {
    assert.equal(isWorthShowing({ reason }), !["best", "muted"].includes(reason), reason);
    assert.equal(isWorthShowing({ reason, sent: {} }), true, reason);
  }
});

test("a tile has words for every state in which its track doesn't come, unless its viewer wants it so", () => {
  const reasons = schema.Stream.properties.reason.enum;
  assert.ok(reasons.length >= 5);
  const words = reasons.map((reason) => [reason, absence({ state: reason === "no-slot" ? "waiting" : "paused", reason })]);
  for (const [reason, text] of words) {
    if (reason === "off") assert.equal(text, "");
    else assert.match(text, /^[A-Z].*[^.]$/, reason);
  }
  assert.equal(new Set(words.map(([, text]) => text)).size, reasons.length);
  assert.equal(absence({ state: "active" }), "");
});
