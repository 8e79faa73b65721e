// One's own camera and microphone: which they are, and what comes out of them.

import { generatedMicrophone, generatedCamera } from "/generated.js";

const picture = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };
const sound = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };

/** `change` whenever a track comes or goes. */
export class Devices extends EventTarget {
  /** @type {MediaStreamTrack | null} */
  camera = null;
  /** @type {MediaStreamTrack | null} */
  microphone = null;

  #generated;

  /** @param {{generated: boolean}} options `generated`: noise and a tone rather than devices. */
  constructor({ generated }) {
    super();
    this.#generated = generated;
  }

  get isPossible() {
    return this.#generated || navigator.mediaDevices !== undefined;
  }

  /**
   * Opens one of the two, or changes to another device of the kind.
   * @param {"camera" | "microphone"} kind
   * @param {string} [id] of a device; the browser's choice unless given
   * @throws what getUserMedia throws
   */
  async open(kind, id) {
    const track = this.#generated ? await generate(kind) : await capture(kind, id);
    this.close(kind);
    this[kind] = track;
    track.addEventListener("ended", () => {
      // Unplugged, or taken back by the user.
      if (this[kind] === track) this.close(kind);
    });
    this.dispatchEvent(new Event("change"));
    return track;
  }

  /** Lets a device go, so that its light goes out. */
  close(kind) {
    if (!this[kind]) return;
    this[kind].stop();
    this[kind] = null;
    this.dispatchEvent(new Event("change"));
  }

  /** @returns {Promise<MediaDeviceInfo[]>} those that there are */
  async list(kind) {
    if (this.#generated || !navigator.mediaDevices) return [];
    const wanted = kind === "camera" ? "videoinput" : "audioinput";
    return (await navigator.mediaDevices.enumerateDevices()).filter((each) => each.kind === wanted);
  }
}

function generate(kind) {
  return kind === "camera" ? generatedCamera() : generatedMicrophone();
}

async function capture(kind, id) {
  // A device that was chosen earlier may be gone: then another one is better than none.
  const device = id ? { deviceId: { ideal: id } } : {};
  const stream = await navigator.mediaDevices.getUserMedia(
    kind === "camera" ? { video: { ...picture, ...device } } : { audio: { ...sound, ...device } },
  );
  return stream.getTracks()[0];
}

/** Says fifteen times a second how loud a track is, 0 to 1. @returns a function that ends it */
export function meter(track, tell) {
  const context = new AudioContext();
  const analyser = new AnalyserNode(context, { fftSize: 1024 });
  context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
    // From -60 dB to -10 dB.
    tell(Math.min(Math.max((10 * Math.log10(power + 1e-9) + 60) / 50, 0), 1));
  }, 66);
  return () => {
    clearInterval(timer);
    context.close();
  };
}
