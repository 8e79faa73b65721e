// Listens to one's own microphone, for the page alone, until it is heard for the first time since it was turned on.

import { Silence } from "/watches.js";

const every = 500; // ms; what is looked at is longer, so that nothing is missed

export class Unheard {
  #devices;
  #track = null;
  #followed = null; // ends what is heard of that track
  #silence = new Silence();
  #end = null;
  #peak = 0;
  #context = null;

  /** @param {import("/devices.js").Devices} devices */
  constructor(devices) {
    this.#devices = devices;
  }

  /** @param {boolean} isExpected whether one may be expected to speak @param {number} span ms since the last time
   * @returns {boolean} whether nothing comes from it */
  take(isExpected, span) {
    const track = this.#devices.isOn("microphone") ? this.#devices.microphone : null;
    if (track !== this.#track) this.#follow(track);
    if (!track || this.#silence.isHeard) return false;
    // Where the browser doesn't let the page listen yet, silence means nothing.
    const isSilent = this.#silence.take(this.#peak, isExpected && this.#context?.state === "running", span);
    this.#peak = 0;
    if (this.#silence.isHeard) this.#stop();
    return isSilent;
  }

  #follow(track) {
    this.rest();
    this.#track = track;
    this.#listen();
    this.#followed = new AbortController();
    // As when it has a switch of its own, or the system takes its sound away.
    track?.addEventListener("mute", () => this.#listen(), { signal: this.#followed.signal });
  }

  #listen() {
    this.#stop();
    this.#silence = new Silence();
    if (!this.#track) return;
    const context = new AudioContext();
    const analyser = new AnalyserNode(context, { fftSize: 32_768 });
    context.createMediaStreamSource(new MediaStream([this.#track])).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    const timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      for (const each of samples) this.#peak = Math.max(this.#peak, Math.abs(each));
    }, every);
    this.#context = context;
    this.#end = () => {
      clearInterval(timer);
      context.close();
    };
  }

  #stop() {
    this.#end?.();
    this.#end = this.#context = null;
    this.#peak = 0;
  }

  /** Outside a call no one is expected to speak. */
  rest() {
    this.#followed?.abort();
    this.#track = null;
    this.#stop();
  }
}
