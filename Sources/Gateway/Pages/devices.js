// One's own camera and microphone: which they are, whether they are wanted and allowed, and what comes out of them.

const picture = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };
const sound = { echoCancellation: true, autoGainControl: true };
const inputs = ["camera", "microphone"];
const kinds = { camera: "videoinput", microphone: "audioinput", speaker: "audiooutput" };

/**
 * | event | when |
 * |---|---|
 * | `change` | a track has come or gone, or something is wanted or allowed or no longer |
 * | `lost`, `detail` its kind | a device was unplugged or taken back while it was in use |
 * | `list` | there are other devices than before |
 */
export class Devices extends EventTarget {
  /** @type {MediaStreamTrack | null} */
  camera = null;
  /** @type {MediaStreamTrack | null} */
  microphone = null;
  /** Their ids, also while they are off. */
  last = {};
  /** What is to be sent; whether there is a device for it is another matter. */
  wants;

  /** Why a kind can't be turned on: an administrator has muted it, or doesn't allow it.
   * @type {{camera: "muted" | "forbidden" | null, microphone: "muted" | "forbidden" | null}} */
  blocked = { camera: null, microphone: null };

  #generated;
  #effects;
  #opening;
  #ear = null; // a copy of the microphone that hears while the microphone itself is muted

  /** @param {{generated: boolean, wants: {camera: boolean, microphone: boolean}, effects?: {noise: boolean, blur: boolean}}} options
   * `generated`: noise and a tone rather than devices. `effects`: whether noise is taken out of the sound, and whether what is behind
   * one is blurred, where the camera can. */
  constructor({ generated, wants, effects = { noise: true, blur: false } }) {
    super();
    this.#generated = generated;
    this.#effects = { ...effects };
    this.wants = wants;
    // Until the user is asked, and has answered, nothing is known of what is wanted.
    this.#opening = new Set(inputs.filter((kind) => wants[kind]));
    navigator.mediaDevices?.addEventListener("devicechange", () => this.#tell("list"));
  }

  get isPossible() {
    return this.#generated || navigator.mediaDevices !== undefined;
  }

  isOn(kind) {
    return this.wants[kind] && this[kind] !== null;
  }

  /** Whether the user is being asked for it, or will be at once. */
  isOpening(kind) {
    return this.#opening.has(kind);
  }

  /** Nothing more is opened until the user asks for it. */
  settle() {
    this.#opening.clear();
    this.#changed();
  }

  /**
   * What the microphone hears, also while it is muted: for the page alone, nothing of it is sent. The microphone's own
   * track is silent then, as everything that it feeds; so this is a copy.
   * @returns {MediaStreamTrack | null} ends with the microphone
   */
  get ear() {
    this.#ear ??= this.microphone?.clone() ?? null;
    if (this.#ear) this.#ear.enabled = true;
    return this.#ear;
  }

  /** Whether an effect is wanted. @param {"noise" | "blur"} effect */
  isWanted(effect) {
    return this.#effects[effect];
  }

  /** Whether the camera blurs what is behind one, or leaves it, as the page says: some always do, most never. */
  get canBlur() {
    return (this.camera?.getCapabilities?.().backgroundBlur ?? []).length === 2;
  }

  /** Whether it looks away from oneself, as the one at the back of a phone does. */
  get looksAway() {
    return this.camera?.getSettings().facingMode === "environment";
  }

  /** Switches an effect on or off. @param {"noise" | "blur"} effect @throws what the browser throws; then all is as it was */
  async apply(effect, isWanted) {
    const before = this.#effects[effect];
    this.#effects[effect] = isWanted;
    try {
      if (effect === "blur") await this.#blur(isWanted);
      else await this.#suppress(isWanted);
    } catch (error) {
      this.#effects[effect] = before;
      throw error;
    } finally {
      this.#changed();
    }
  }

  async #blur(isWanted) {
    if (this.canBlur) await this.camera.applyConstraints({ ...this.camera.getConstraints(), backgroundBlur: { exact: isWanted } });
  }

  async #suppress(isWanted) {
    const { microphone } = this;
    if (!microphone || this.#generated) return;
    try {
      await microphone.applyConstraints({ ...microphone.getConstraints(), noiseSuppression: isWanted });
    } catch {
      // Some can't while it is in use; it is opened again then.
    }
    if (this.microphone !== microphone || microphone.getSettings().noiseSuppression === isWanted) return;
    await this.open("microphone", { id: microphone.getSettings().deviceId, exact: true });
  }

  /** Says whether a kind is to be sent. A camera that isn't is let go, so that its light is off too; a microphone
   * only keeps silent. */
  want(kind, isWanted) {
    this.wants[kind] = isWanted && !this.blocked[kind];
    if (!this.wants[kind] && kind === "camera") this.#release(kind);
    this.#changed();
  }

  /** Says that a kind can't be turned on, and turns it off; or that it can, and leaves it off. */
  block(kind, reason) {
    if (this.blocked[kind] === reason) return;
    this.blocked[kind] = reason;
    this.want(kind, this.wants[kind]);
  }

  /**
   * Opens one of the two, or changes to another device of the kind. Where that fails the one before stays.
   * @param {"camera" | "microphone"} kind
   * @param {{id?: string, exact?: boolean, facing?: "user" | "environment"}} device the browser's choice unless given; `exact`: no
   *   other will do; `facing`: a camera that looks that way
   * @throws what getUserMedia throws
   */
  async open(kind, device = {}) {
    await this.#whileOpening([kind], async () => {
      let track;
      try {
        track = await this.#open(kind, device);
      } catch (error) {
        // Some can't open a second one beside the first.
        if (error.name !== "NotReadableError" || !this[kind]) throw error;
        const id = this.last[kind];
        this.#release(kind);
        track = await this.#open(kind, device).catch(async (other) => {
          this.#take(kind, await this.#open(kind, { id, exact: true }).catch(() => null));
          throw other;
        });
      }
      this.#take(kind, track);
    });
  }

  /** Opens both with one question to the user. @param {{camera?: string, microphone?: string}} ids
   * @throws what getUserMedia throws */
  async openBoth(ids) {
    await this.#whileOpening(inputs, async () => {
      if (this.#generated) {
        for (const kind of inputs) this.#take(kind, await generate(kind));
        return;
      }
      const stream = await navigator.mediaDevices.getUserMedia(
        { ...this.#constraints("camera", { id: ids.camera }), ...this.#constraints("microphone", { id: ids.microphone }) });
      this.#take("camera", stream.getVideoTracks()[0]);
      this.#take("microphone", stream.getAudioTracks()[0]);
    });
  }

  /** @param {"camera" | "microphone" | "speaker"} kind
   * @returns {Promise<MediaDeviceInfo[]>} all that there are; without ids, and maybe fewer, before the user has allowed any */
  async list(kind) {
    if (this.#generated || !navigator.mediaDevices) return [];
    const all = await navigator.mediaDevices.enumerateDevices();
    return all.filter((each) => each.kind === kinds[kind]);
  }

  async #whileOpening(kinds, open) {
    for (const kind of kinds) this.#opening.add(kind);
    this.#changed();
    try {
      await open();
    } finally {
      for (const kind of kinds) this.#opening.delete(kind);
      this.#changed();
    }
  }

  async #open(kind, device) {
    if (this.#generated) return generate(kind);
    // A device that was chosen earlier may be gone: then another one is better than none.
    return (await navigator.mediaDevices.getUserMedia(this.#constraints(kind, device))).getTracks()[0];
  }

  #constraints(kind, { id, exact = false, facing }) {
    const device = id ? { deviceId: exact ? { exact: id } : { ideal: id } } : {};
    if (kind === "microphone") return { audio: { ...sound, noiseSuppression: this.#effects.noise, ...device } };
    if (facing) device.facingMode = { exact: facing };
    if (this.#effects.blur) device.backgroundBlur = { ideal: true };
    return { video: { ...picture, ...device } };
  }

  #take(kind, track) {
    if (!track) return;
    this.#release(kind);
    if (kind === "camera" && !this.wants.camera) {
      track.stop(); // Turned off again while it was being opened.
      return;
    }
    this[kind] = track;
    this.last[kind] = track.getSettings().deviceId;
    track.addEventListener("ended", () => {
      if (this[kind] !== track) return;
      this.#release(kind);
      this.#changed();
      this.#tell("lost", kind);
    });
  }

  #release(kind) {
    this[kind]?.stop();
    this[kind] = null;
    if (kind === "camera") return;
    this.#ear?.stop();
    this.#ear = null;
  }

  #changed() {
    if (this.microphone) this.microphone.enabled = this.wants.microphone;
    this.#tell("change");
  }

  #tell(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

async function generate(kind) {
  const { generatedMicrophone, generatedCamera } = await import("/generated.js");
  return kind === "camera" ? generatedCamera() : generatedMicrophone();
}

/** Says fifteen times a second how loud a track is, 0 to 1. @returns a function that ends it */
export function meter(track, tell) {
  const context = new AudioContext();
  const analyser = new AnalyserNode(context, { fftSize: 1024 });
  context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const timer = setInterval(() => {
    // Silent until the page was pressed.
    if (context.state === "suspended" && navigator.userActivation?.hasBeenActive) context.resume();
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
