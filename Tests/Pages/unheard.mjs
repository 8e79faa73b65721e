// What listens to one's own microphone: unheard.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./StandIns/clock.mjs";
import "./StandIns/connection.mjs";

let contexts = 0;
globalThis.AudioContext = class {
  state = "running";

  constructor() {
    contexts += 1;
  }

  createMediaStreamSource() {
    return { connect() {} };
  }

  close() {
    contexts -= 1;
  }
};
globalThis.AnalyserNode = class {
  fftSize = 1;

  getFloatTimeDomainData() {}
};
const { Unheard } = await import(`${process.env.PAGES}/unheard.js`);

test("however often one mutes and unmutes, the microphone has one listener, and none after the call", () => {
  const listeners = new Set();
  const microphone = new EventTarget();
  const { addEventListener } = microphone;
  microphone.addEventListener = (type, listener, options) => {
    listeners.add(listener);
    options?.signal?.addEventListener("abort", () => listeners.delete(listener));
    addEventListener.call(microphone, type, listener, options);
  };
  let isOn = true;
  const unheard = new Unheard({ microphone, isOn: () => isOn });
  for (let turn = 0; turn < 20; turn++) {
    isOn = turn % 2 === 0;
    unheard.take(true, 1000);
    assert.deepEqual([listeners.size, contexts], isOn ? [1, 1] : [0, 0]);
  }
  isOn = true;
  unheard.take(true, 1000);
  microphone.dispatchEvent(new Event("mute"));
  assert.equal(contexts, 1, "it listens once more, and to one thing");
  unheard.rest();
  assert.deepEqual([listeners.size, contexts], [0, 0]);
});
