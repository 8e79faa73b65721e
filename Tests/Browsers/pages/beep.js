// Says how long ago, in seconds of the context, a sound began after a silence.
registerProcessor("beep", class extends AudioWorkletProcessor {
  #quietSince = 0;

  process([[samples]]) {
    for (let index = 0; samples && index < samples.length; index += 1) {
      if (Math.abs(samples[index]) < 0.1) continue;
      const time = currentTime + index / sampleRate;
      if (time - this.#quietSince > 0.3) this.port.postMessage((samples.length - index) / sampleRate);
      this.#quietSince = time;
    }
    return true;
  }
});
