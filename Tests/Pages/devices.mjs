// One's own camera and microphone: what is asked of them for noise, background and direction: devices.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./StandIns/connection.mjs";
import "./StandIns/dom.mjs";

const { Devices } = await import(`${process.env.PAGES}/devices.js`);

class FakeTrack extends EventTarget {
  enabled = true;
  isStopped = false;
  applied = [];

  /** @param {(constraints: object, settings: object) => void} apply as the browser does it */
  constructor(kind, constraints, settings, apply = () => {}) {
    super();
    Object.assign(this, { kind, constraints, settings, apply });
  }

  getSettings() {
    return this.settings;
  }

  getConstraints() {
    return this.constraints;
  }

  getCapabilities() {
    return this.capabilities ?? {};
  }

  async applyConstraints(constraints) {
    this.applied.push(constraints);
    this.apply(constraints, this.settings);
  }

  stop() {
    this.isStopped = true;
  }
}

/** Devices of a browser that opens what it is asked for; `apply` is what it does with constraints of a track in use. */
function browser({ apply, capabilities, effects } = {}) {
  const asked = [];
  const tracks = [];
  navigator.mediaDevices = Object.assign(new EventTarget(), {
    async getUserMedia(wanted) {
      asked.push(wanted);
      const opened = Object.entries(wanted).map(([kind, constraints]) => {
        const facing = constraints.facingMode?.exact;
        const track = new FakeTrack(kind, constraints,
          { deviceId: constraints.deviceId?.exact ?? `first ${kind}`, noiseSuppression: constraints.noiseSuppression, facingMode: facing }, apply);
        track.capabilities = kind === "video" ? capabilities : undefined;
        return track;
      });
      tracks.push(...opened);
      return { getTracks: () => opened, getVideoTracks: () => opened.filter(({ kind }) => kind === "video"),
        getAudioTracks: () => opened.filter(({ kind }) => kind === "audio") };
    },
  });
  const devices = new Devices({ generated: false, wants: { camera: true, microphone: true }, effects });
  return { devices, asked, tracks };
}

test("noise is taken out unless one has said no, and the background is left alone unless one has said yes", async () => {
  const { devices, asked } = browser();
  await devices.openBoth({});
  assert.equal(asked[0].audio.noiseSuppression, true);
  assert.equal(asked[0].video.backgroundBlur, undefined);
  const other = browser({ effects: { noise: false, blur: true } });
  await other.devices.openBoth({});
  assert.equal(other.asked[0].audio.noiseSuppression, false);
  assert.deepEqual(other.asked[0].video.backgroundBlur, { ideal: true });
});

test("a microphone in use that takes the change goes on; one that doesn't is opened again, the same one", async () => {
  const willing = browser({ apply: ({ noiseSuppression }, settings) => (settings.noiseSuppression = noiseSuppression) });
  await willing.devices.openBoth({});
  await willing.devices.apply("noise", false);
  assert.deepEqual([willing.asked.length, willing.devices.microphone.getSettings().noiseSuppression], [1, false]);
  for (const apply of [() => {}, () => { throw new DOMException("in use", "InvalidStateError"); }]) {
    const { devices, asked, tracks } = browser({ apply });
    await devices.openBoth({});
    await devices.apply("noise", false);
    assert.deepEqual(asked[1].audio.deviceId, { exact: "first audio" });
    assert.equal(asked[1].audio.noiseSuppression, false);
    assert.deepEqual(tracks.filter(({ kind }) => kind === "audio").map(({ isStopped }) => isStopped), [true, false]);
    assert.equal(asked[1].video, undefined, "the camera is left alone");
  }
});

test("the one before stays, open or opened again, where another one doesn't open; and only why is thrown", async () => {
  for (const [refusal, opened] of [["OverconstrainedError", []], ["NotAllowedError", []], ["NotReadableError", ["first audio"]]]) {
    const { devices, asked } = browser();
    await devices.openBoth({});
    const { getUserMedia } = navigator.mediaDevices;
    navigator.mediaDevices.getUserMedia = async (wanted) => {
      if (wanted.audio.deviceId.exact === "other") throw new DOMException("no", refusal);
      return getUserMedia(wanted);
    };
    await assert.rejects(devices.open("microphone", { id: "other", exact: true }), { name: refusal });
    assert.deepEqual(asked.slice(1).map(({ audio }) => audio.deviceId.exact), opened);
    assert.deepEqual([devices.isOn("microphone"), devices.microphone.getSettings().deviceId], [true, "first audio"]);
  }
});

test("which device was open last is known while it is off", async () => {
  const { devices } = browser();
  await devices.openBoth({});
  await devices.open("camera", { id: "back", exact: true });
  devices.want("camera", false);
  assert.deepEqual([devices.camera, devices.last], [null, { camera: "back", microphone: "first audio" }]);
});

test("what the browser refuses is as it was", async () => {
  const { devices, asked } = browser();
  await devices.openBoth({});
  navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("no", "NotReadableError"); };
  await assert.rejects(devices.apply("noise", false), { name: "NotReadableError" });
  assert.equal(devices.isWanted("noise"), true);
  assert.equal(asked.length, 1);
});

test("a background is blurred where the camera can do both, by the other constraints that it has", async () => {
  for (const [backgroundBlur, canBlur] of [[[true, false], true], [[true], false], [[false], false], [undefined, false]]) {
    const { devices, tracks } = browser({ capabilities: { backgroundBlur } });
    assert.equal(devices.canBlur, false, "without a camera");
    await devices.openBoth({});
    assert.equal(devices.canBlur, canBlur, String(backgroundBlur));
    await devices.apply("blur", true);
    const { applied, constraints } = tracks.find(({ kind }) => kind === "video");
    assert.deepEqual(applied, canBlur ? [{ ...constraints, backgroundBlur: { exact: true } }] : []);
    assert.ok(!canBlur || applied[0].width);
  }
});

test("a camera is asked for by where it looks, and one knows where that is", async () => {
  const { devices, asked } = browser();
  await devices.openBoth({});
  assert.equal(devices.looksAway, false);
  await devices.open("camera", { facing: "environment" });
  assert.deepEqual(asked[1].video.facingMode, { exact: "environment" });
  assert.equal(devices.looksAway, true);
  await devices.open("camera", { facing: "user" });
  assert.equal(devices.looksAway, false);
});
