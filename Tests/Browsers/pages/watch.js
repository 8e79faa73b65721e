"use strict";
// What comes out of a stream that is received, and when. Times are milliseconds since 1970.

const clock = () => performance.timeOrigin + performance.now();

class Watch {
  /** When each picture was shown. */
  frames = [];
  /** From when on they had which height. */
  heights = [];
  /** When the picture turned from dark to bright, and silence to sound. */
  flashes = [];
  beeps = [];
  #isListening = false;
  #element = document.createElement("video");

  constructor(stream) {
    this.stream = stream;
    this.#element.autoplay = this.#element.playsInline = true;
    this.#element.srcObject = stream;
    document.body.append(this.#element);
    this.#element.play().catch(() => {});
    const shown = (_, { height } = {}) => {
      this.frames.push(clock());
      if (height !== this.heights.at(-1)?.height) this.heights.push({ time: clock(), height });
      this.#element.requestVideoFrameCallback(shown);
    };
    this.#element.requestVideoFrameCallback(shown);
  }

  /** The first picture at or after a moment. */
  firstFrame(since = 0) {
    return this.frames.find((time) => time >= since) ?? null;
  }

  /** The number of the badge that is in the picture; null without a picture. */
  badge() {
    if (this.frames.length === 0) return null;
    const canvas = document.createElement("canvas");
    canvas.width = 4;
    canvas.height = 3;
    const paint = canvas.getContext("2d", { willReadFrequently: true });
    paint.drawImage(this.#element, 0, 0, 4, 3);
    return [0, 1, 2, 3].reduce((sum, bar) => sum + (paint.getImageData(bar, 1, 1, 1).data[1] > 128) * 2 ** bar, 0);
  }

  /** From now on the flashes and beeps are noted. */
  async listen() {
    if (this.#isListening) return;
    this.#isListening = true;
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 8;
    const paint = canvas.getContext("2d", { willReadFrequently: true });
    let wasBright = true;
    const look = () => {
      const now = clock();
      paint.drawImage(this.#element, 0, 0, 8, 8);
      const isBright = paint.getImageData(4, 4, 1, 1).data[1] > 128;
      if (isBright && !wasBright) this.flashes.push(now);
      wasBright = isBright;
      this.#element.requestVideoFrameCallback(look);
    };
    this.#element.requestVideoFrameCallback(look);

    const context = await sources.audio();
    await context.audioWorklet.addModule("beep.js");
    const listener = new AudioWorkletNode(context, "beep", { numberOfOutputs: 0 });
    // Not by the context's own time: without a sound card that runs slower than life.
    listener.port.onmessage = ({ data }) => this.beeps.push(clock() - 1000 * data);
    context.createMediaStreamSource(this.stream).connect(listener);
  }
}
