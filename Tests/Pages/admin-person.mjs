// What is looked at of one participant: admin-person.js, with a server that answers when the test says so.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeElement } from "./StandIns/dom.mjs";

// What is said in passing goes by itself, and no test waits for it.
const { setTimeout: later } = globalThis;
globalThis.setTimeout = (act, time) => later(act, time).unref();

const { desk } = await import(`${process.env.PAGES}/admin-desk.js`);
const { Closer, Gets } = await import(`${process.env.PAGES}/admin-person.js`);
const { learn } = await import(`${process.env.PAGES}/words.js`);
await learn("admin");

const settled = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const eve = { id: "PA_eve", identity: "eve", name: "Eve" };
const sources = ["microphone", "camera", "screen_share", "screen_share_audio"];

/** A server that knows what eve may do, and the part of the page that shows it. `held`: answers to looks, where the test gives them itself. */
function looked() {
  const server = { permissions: { canPublish: true, canSubscribe: true, canPublishData: true, canUpdateOwnMetadata: false }, sent: [], looks: 0, held: null };
  desk.rest = {
    participant: async () => {
      server.looks += 1;
      const found = structuredClone({ permissions: server.permissions });
      if (server.held) await new Promise((answer) => server.held.push(answer));
      return found;
    },
    permit: async (room, identity, change) => {
      server.sent.push(change);
      server.permissions = { ...server.permissions, ...change };
      if (!server.permissions.canPublishSources?.length) delete server.permissions.canPublishSources;
      return structuredClone({ permissions: server.permissions });
    },
  };
  const place = new FakeElement();
  const closer = new Closer(place);
  const show = (isOpened = false) => closer.show("r", eve, { of: () => [] }, isOpened);
  const labels = place.children.map((each) => each.querySelector("fieldset") ?? each).find(({ name }) => name === "fieldset").children;
  const [microphone, camera, screen, sound, subscribe, messages] = labels.map((each) => each.querySelector("input")).filter(Boolean);
  const turn = async (box, isOn) => {
    box.checked = isOn;
    box.dispatchEvent(new Event("change"));
    await settled();
  };
  return { server, show, turn, boxes: { microphone, camera, screen, sound, subscribe, messages } };
}

test("what was read before a box was changed doesn't undo the change on the page", async () => {
  const { server, show, turn, boxes: { camera } } = looked();
  show(true);
  await settled();
  assert.deepEqual([camera.checked, camera.disabled], [true, false]);
  server.held = [];
  show(true);
  await settled();
  const [late] = server.held;
  server.held = null;
  await turn(camera, false);
  assert.deepEqual(server.sent, [{ canPublish: true, canPublishSources: ["microphone", "screen_share", "screen_share_audio"] }]);
  late();
  await settled();
  assert.equal(camera.checked, false);
  server.permissions = { ...server.permissions, canPublishSources: undefined };
  show(true);
  await settled();
  assert.equal(camera.checked, true, "what is read behind it says how things are");
});

test("one box changes one thing of what holds by then, and leaves sources alone that have no box", async () => {
  const { server, show, turn, boxes: { camera, microphone, messages } } = looked();
  show(true);
  await settled();
  // Another one has changed it meanwhile.
  server.permissions = { ...server.permissions, canPublishData: false, canPublishSources: ["camera", "unknown"] };
  await turn(camera, false);
  assert.deepEqual(server.sent, [{ canPublish: true, canPublishSources: ["unknown"] }]);
  assert.deepEqual([microphone.checked, messages.checked], [false, false]);
  await turn(microphone, true);
  assert.deepEqual(server.sent.at(-1), { canPublish: true, canPublishSources: ["unknown", "microphone"] });
  server.permissions = { ...server.permissions, canSubscribe: false };
  await turn(messages, true);
  assert.deepEqual(server.sent.at(-1), { canPublishData: true });
  server.permissions = { ...server.permissions, canPublish: false, canPublishSources: undefined };
  await turn(camera, true);
  assert.deepEqual(server.sent.at(-1), { canPublish: true, canPublishSources: ["camera"] });
  await turn(camera, false);
  assert.deepEqual(server.sent.at(-1), { canPublish: false, canPublishSources: [] });
  server.permissions = { ...server.permissions, canPublish: true, canPublishSources: sources.slice(1) };
  await turn(microphone, true);
  assert.deepEqual(server.sent.at(-1), { canPublish: true, canPublishSources: [] });
});

test("boxes that are changed one behind the other change one thing each", async () => {
  const { server, show, turn, boxes: { camera, microphone, messages } } = looked();
  show(true);
  await settled();
  server.held = [];
  for (const box of [camera, microphone, messages]) await turn(box, false);
  while (server.held.length > 0) {
    server.held.shift()();
    await settled();
  }
  assert.deepEqual(server.permissions, { canPublish: true, canSubscribe: true, canPublishData: false, canUpdateOwnMetadata: false,
    canPublishSources: ["screen_share", "screen_share_audio"] });
  assert.deepEqual([camera.checked, microphone.checked, messages.checked], [false, false, false]);
});

test("what another changes is seen within seconds while it is open", async (context) => {
  const { now } = performance;
  context.after(() => (performance.now = now));
  let time = 1000;
  performance.now = () => time;
  const { server, show, boxes: { camera } } = looked();
  show(true);
  await settled();
  server.permissions = { ...server.permissions, canPublish: false };
  for (let turn = 0; turn < 4; turn++) {
    time += 2000;
    show();
    await settled();
  }
  assert.deepEqual([server.looks, camera.checked], [3, false]);
});

test("that nothing can be explained is said once, and again when it could in between", async () => {
  const gets = new Gets(new FakeElement());
  const notice = document.getElementById("notice");
  const refused = async () => { throw Object.assign(new Error("no"), { status: 403 }); };
  const said = [];
  for (const explain of [refused, refused, refused, async () => undefined, refused]) {
    desk.rest = { explain };
    notice.hidden = true;
    await gets.show("r", eve);
    said.push(!notice.hidden);
  }
  assert.deepEqual(said, [true, false, false, false, true]);
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
