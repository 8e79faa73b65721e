// What is looked at of one participant: admin-person.js, with a server that answers when the test says so.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeElement } from "./StandIns/dom.mjs";

// What is said in passing goes by itself, and no test waits for it.
const { setTimeout: later } = globalThis;
globalThis.setTimeout = (act, time) => later(act, time).unref();
document.head = { append: (link) => queueMicrotask(() => link.onload()) };

const { desk } = await import(`${process.env.PAGES}/admin-desk.js`);
const { Closer, Gets } = await import(`${process.env.PAGES}/admin-person.js`);
const { learn } = await import(`${process.env.PAGES}/words.js`);
await learn("admin");

const settled = () => new Promise((resolve) => setImmediate(resolve));
const eve = { id: "PA_eve", identity: "eve", name: "Eve" };
const permissions = (more) => ({ canPublish: true, canSubscribe: true, canPublishData: true, canUpdateOwnMetadata: false, ...more });

test("what was read before a box was changed doesn't undo the change on the page", async () => {
  const reads = [];
  const sent = [];
  desk.rest = {
    participant: () => new Promise((answer) => reads.push((found) => answer({ permissions: found }))),
    permit: async (room, identity, change) => {
      sent.push(change);
      return { permissions: permissions(change) };
    },
  };
  const place = new FakeElement();
  const closer = new Closer(place);
  const open = () => closer.show("r", eve, { of: () => [] }, true);
  const labels = place.children.map((each) => each.querySelector("fieldset") ?? each).find(({ name }) => name === "fieldset").children;
  const camera = labels.map((each) => each.querySelector("input")).filter(Boolean)[1];

  open();
  reads.shift()(permissions());
  await settled();
  assert.deepEqual([camera.checked, camera.disabled], [true, false]);

  open();
  camera.checked = false;
  camera.dispatchEvent(new Event("change"));
  await settled();
  assert.deepEqual(sent, [{ canPublish: true, canPublishSources: ["microphone", "screen_share", "screen_share_audio"] }]);
  reads.shift()(permissions());
  await settled();
  assert.equal(camera.checked, false);

  open();
  reads.shift()(permissions());
  await settled();
  assert.equal(camera.checked, true, "what is read behind it says how things are");
});

test("who has signed out meanwhile asks for nothing, and reads of no error", async () => {
  const gets = new Gets(new FakeElement());
  document.getElementById("notice").hidden = true;
  desk.rest = null;
  await gets.show("r", eve);
  assert.equal(document.getElementById("notice").hidden, true);
  let asked = 0;
  desk.rest = { explain: async () => { asked += 1; } };
  await gets.show("r", eve);
  assert.equal(asked, 1);
});
