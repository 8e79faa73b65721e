// Says when the sound begins after a silence, in the context's seconds.
registerProcessor("beep", class extends AudioWorkletProcessor {
  #quietSince = 0;

  process([[samples]]) {
    for (let index = 0; samples && index < samples.length; index += 1) {
      if (Math.abs(samples[index]) < 0.1) continue;
      const time = currentTime + index / sampleRate;
      if (time - this.#quietSince > 0.3) this.port.postMessage({ beep: time });
      this.#quietSince = time;
    }
    if (currentFrame % 4800 < 128) this.port.postMessage({ now: currentTime });
    return true;
  }
});
