// Camera and microphone on and off: switches.js with devices that open when the user allows it, sending.js and hosts.js with a room.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./StandIns/connection.mjs";
import { load, tileTemplate } from "./StandIns/dom.mjs";

const { Devices } = await import(`${process.env.PAGES}/devices.js`);
const { Hosts } = await import(`${process.env.PAGES}/hosts.js`);
const { Sending } = await import(`${process.env.PAGES}/sending.js`);
const { Stage } = await import(`${process.env.PAGES}/tiles.js`);
const { Switches } = await import(`${process.env.PAGES}/switches.js`);
const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

class FakeTrack extends EventTarget {
  enabled = true;
  isStopped = false;

  constructor(kind) {
    super();
    this.kind = kind;
  }

  getSettings() {
    return {};
  }

  stop() {
    this.isStopped = true;
  }
}

/** A page whose user is asked for devices, and answers when the test says so: each of `asked` is allowed by a call. */
function page() {
  load();
  // The sign in each button.
  const { getElementById } = document;
  document.getElementById = (id) => {
    const found = getElementById.call(document, id);
    if (/camera$|microphone$/.test(id) && !found.querySelector("use")) found.append(document.createElement("use"));
    return found;
  };
  const asked = [];
  navigator.mediaDevices = Object.assign(new EventTarget(), {
    getUserMedia: (wanted) => new Promise((resolve) => {
      const tracks = Object.keys(wanted).map((kind) => new FakeTrack(kind));
      asked.push(Object.assign(() => resolve({ getTracks: () => tracks }), { tracks }));
    }),
  });
  const devices = new Devices({ generated: false, wants: { camera: false, microphone: false } });
  const switches = new Switches(devices);
  const control = (id) => {
    const { attributes } = document.getElementById(id);
    return [attributes.get("aria-pressed"), attributes.has("data-pending")];
  };
  const notice = () => (document.getElementById("notice").hidden ? "" : document.getElementById("notice-text").textContent);
  return { asked, devices, switches, control, notice };
}

class FakeCall extends EventTarget {
  #handlers = [];
  hasEntered = true;
  name = "me";

  constructor(room) {
    super();
    this.room = room;
  }

  on(type, handle) {
    this.#handlers.push([type, handle]);
  }

  happens(type, detail) {
    for (const [each, handle] of this.#handlers) if (each === type) handle(detail);
  }
}

for (const kind of ["camera", "microphone"]) {
  test(`while the user is being asked for the ${kind} a second press takes it back, and a third asks for nothing more`, async () => {
    const { asked, devices, switches, control } = page();
    const first = switches.toggle(kind);
    assert.deepEqual(control(kind), ["false", true]);
    await switches.toggle(kind);
    assert.deepEqual([control(kind), asked.length], [["false", false], 1]);
    await switches.toggle(kind);
    assert.deepEqual([control(kind), asked.length], [["false", true], 1]);
    await switches.toggle(kind);
    asked[0]();
    await first;
    const [track] = asked[0].tracks;
    assert.deepEqual([control(kind), devices.isOn(kind), track.isStopped || !track.enabled], [["false", false], false, true]);
    const again = switches.toggle(kind);
    asked[1]?.();
    await again;
    assert.equal(devices.isOn(kind), true);
  });
}

test("an unmute that the server refuses leaves the microphone off, as others have it, and says why", async () => {
  const { asked, devices, switches, control, notice } = page();
  const publication = { muted: false };
  const refuses = new Set();
  const room = { me: { id: "PA_0", identity: "me", tracks: [] }, participants: new Map(),
    publish: async ([track]) => [Object.assign(publication, { track, id: "TR_0" })],
    mute: async (each, muted) => {
      each.muted = muted;
      if (!refuses.has(muted)) return;
      each.muted = true;
      throw Object.assign(new Error("no"), { code: "rate-limited" });
    } };
  new Sending(new FakeCall(room), devices, new Stage(document.getElementById("stage"), tileTemplate));
  const on = switches.toggle("microphone");
  asked[0]();
  await on;
  await settled();
  assert.deepEqual([publication.muted, control("microphone")], [false, ["true", false]]);
  await switches.toggle("microphone");
  await settled();
  refuses.add(false);
  await switches.toggle("microphone");
  await settled();
  assert.deepEqual([publication.muted, control("microphone")], [true, ["false", false]]);
  assert.match(notice(), /too much at once/);
  refuses.clear();
  await switches.toggle("microphone");
  await settled();
  assert.deepEqual([publication.muted, control("microphone")], [false, ["true", false]]);
});

test("what a host allows again is offered until it is on, and no longer than the call lasts", async () => {
  const { asked, devices, switches, notice } = page();
  const track = { source: "microphone", mutedByAdmin: false };
  const call = new FakeCall({ me: { id: "PA_0", tracks: [track] } });
  let listeners = 0;
  const { addEventListener, removeEventListener } = devices;
  const all = new Set();
  devices.addEventListener = (type, listener) => {
    all.add(listener);
    listeners = all.size;
    addEventListener.call(devices, type, listener);
  };
  devices.removeEventListener = (type, listener) => {
    all.delete(listener);
    listeners = all.size;
    removeEventListener.call(devices, type, listener);
  };
  new Hosts(call, devices, switches);
  const mutes = (isMuted) => {
    track.mutedByAdmin = isMuted;
    call.happens("event", { participant: call.room.me });
  };
  for (let turn = 0; turn < 5; turn++) {
    mutes(true);
    assert.equal(listeners, 0);
    mutes(false);
    assert.deepEqual([listeners, notice()], [1, "You can unmute now."]);
  }
  const on = switches.toggle("microphone");
  asked[0]();
  await on;
  assert.deepEqual([listeners, notice()], [0, ""]);
  mutes(true);
  mutes(false);
  call.hasEntered = false;
  call.dispatchEvent(new Event("leave"));
  assert.equal(listeners, 0);
});
