// A camera that is turned to the other one: phone.js, with devices of which one may not open.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeElement, load } from "./StandIns/dom.mjs";

globalThis.matchMedia = () => ({ matches: true });
const { Devices } = await import(`${process.env.PAGES}/devices.js`);
const { Phone } = await import(`${process.env.PAGES}/phone.js`);
const { learn } = await import(`${process.env.PAGES}/words.js`);
await learn("call");
const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** A phone in a call, with a camera at the front in use. `refusal`: what answers who asks for a camera, once it is set. */
async function held() {
  load();
  const scene = { opened: [], refusal: () => null };
  navigator.mediaDevices = Object.assign(new EventTarget(), {
    enumerateDevices: async () => ["front", "back"].map((deviceId) => ({ deviceId, kind: "videoinput" })),
    async getUserMedia({ video: { deviceId, facingMode } }) {
      const id = deviceId?.exact ?? (facingMode?.exact === "environment" ? "back" : "front");
      const name = scene.refusal(id, facingMode);
      if (name) throw new DOMException("no", name);
      scene.opened.push(id);
      const track = Object.assign(new EventTarget(), { kind: "video", stop() {}, getConstraints: () => ({}),
        getSettings: () => ({ deviceId: id, facingMode: id === "back" ? "environment" : "user" }) });
      return { getTracks: () => [track] };
    },
  });
  const devices = new Devices({ generated: false, wants: { camera: true, microphone: false } });
  devices.settle();
  await devices.open("camera");
  const flip = new FakeElement("button");
  const { createElement } = document;
  document.createElement = (name) => (name === "button" ? flip : createElement.call(document, name));
  new Phone(Object.assign(new EventTarget(), { hasEntered: true, roomName: "r" }), devices, {});
  document.createElement = createElement;
  await settled();
  const said = () => document.getElementById("announcement").textContent;
  const alert = () => document.getElementById("notice-text").textContent;
  const press = async () => {
    flip.focus();
    flip.dispatchEvent(new Event("click"));
    await settled();
  };
  return { scene, devices, flip, press, said, alert, id: () => devices.camera?.getSettings().deviceId };
}

test("a camera is turned, and back", async () => {
  const { press, said, id, flip } = await held();
  await press();
  assert.deepEqual([id(), said()], ["back", "The camera looks away from you"]);
  await press();
  assert.deepEqual([id(), said(), flip.hidden], ["front", "The camera looks at you", false]);
});

test("where the other doesn't open the one before is there again, and only why is said", async () => {
  const { scene, press, said, alert, id, flip } = await held();
  scene.refusal = (wanted) => (wanted === "back" ? "NotReadableError" : null);
  const hidden = [];
  Object.defineProperty(flip, "hidden", { get: () => hidden.at(-1) ?? false, set: (isHidden) => hidden.push(isHidden) });
  await press();
  assert.deepEqual([id(), said(), scene.opened], ["front", "", ["front", "front"]]);
  assert.match(alert(), /camera isn't responding/);
  assert.deepEqual([flip.disabled ?? false, flip.ariaDisabled, hidden.includes(true)], [false, null, false], "the button keeps the focus");
});

test("where none of them opens any more the camera is off, and stays so until one turns it on", async () => {
  const { scene, devices, press, said, id } = await held();
  scene.refusal = () => "NotReadableError";
  await press();
  assert.deepEqual([id(), devices.wants.camera, said()], [undefined, false, ""]);
});

test("cameras that don't say where they look are taken in turn, and one that doesn't open leaves the one before", async () => {
  const { scene, press, alert, id } = await held();
  scene.refusal = (wanted, facing) => (facing ? "OverconstrainedError" : null);
  await press();
  assert.equal(id(), "back");
  scene.refusal = (wanted, facing) => (facing ? "OverconstrainedError" : wanted === "front" ? "NotReadableError" : null);
  await press();
  assert.equal(id(), "back");
  assert.match(alert(), /camera isn't responding/);
});
