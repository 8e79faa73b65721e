// An RTCPeerConnection as far as the page uses it: it sends nothing, and refuses what a browser refuses.

const refused = (name) => Object.assign(new Error(name), { name });

/** What a section has agreed on, once there is an answer. */
const codecs = [
  { payloadType: 96, mimeType: "video/VP8", clockRate: 90_000 },
  { payloadType: 98, mimeType: "video/VP9", clockRate: 90_000, sdpFmtpLine: "profile-id=0" },
];

class FakeSender {
  /** Names of codecs that `setParameters` refuses. */
  refuses = [];
  #encodings;
  #read = null;

  constructor(track, encodings) {
    this.track = track;
    this.#encodings = encodings;
    this.codecs = [];
  }

  get encodings() {
    return this.#encodings;
  }

  getParameters() {
    this.#read = { encodings: structuredClone(this.#encodings), codecs: structuredClone(this.codecs) };
    return this.#read;
  }

  /** Only of what was read last, and once (WebRTC, 5.2). */
  async setParameters(parameters) {
    if (parameters !== this.#read) throw refused("InvalidStateError");
    if (parameters.encodings.some(({ codec }) => codec && this.refuses.includes(codec.mimeType))) {
      throw refused("InvalidModificationError");
    }
    await null;
    this.#read = null;
    this.#encodings = structuredClone(parameters.encodings);
  }

  async replaceTrack(track) {
    this.track = track;
  }
}

export class FakeConnection extends EventTarget {
  static all = [];
  signalingState = "stable";
  connectionState = "new";
  localDescription = null;
  /** What `setRemoteDescription` waits for. */
  takesIn = Promise.resolve();
  #transceivers = [];

  constructor() {
    super();
    FakeConnection.all.push(this);
  }

  static get last() {
    return FakeConnection.all.at(-1);
  }

  addTransceiver(media, init = {}) {
    if (this.signalingState === "closed") throw refused("InvalidStateError");
    const track = typeof media === "string" ? null : media;
    const kind = track?.kind ?? media;
    const { direction = "sendrecv", sendEncodings } = init;
    const transceiver = {
      mid: null, direction, init,
      // As it was when it was added.
      contentHint: track?.contentHint,
      sender: new FakeSender(track, (sendEncodings ?? [{}]).map((encoding) => ({ active: true, ...encoding }))),
      receiver: { track: { kind } },
      stop() { this.direction = "stopped"; },
    };
    this.#transceivers.push(transceiver);
    return transceiver;
  }

  getTransceivers() {
    return [...this.#transceivers];
  }

  async createOffer() {
    if (this.signalingState === "closed") throw refused("InvalidStateError");
    return { type: "offer", sdp: "offered" };
  }

  async setLocalDescription(description) {
    if (description.type === "rollback") {
      this.signalingState = "stable";
      return;
    }
    for (const [index, each] of this.#transceivers.entries()) each.mid ??= String(index);
    this.signalingState = "have-local-offer";
    this.localDescription = description;
  }

  async setRemoteDescription() {
    await this.takesIn;
    this.signalingState = "stable";
    for (const { sender } of this.#transceivers) sender.codecs = codecs;
  }

  close() {
    this.signalingState = "closed";
  }
}
globalThis.RTCPeerConnection = FakeConnection;

globalThis.MediaStream = class {
  #tracks;

  constructor(tracks = []) {
    this.#tracks = new Set(tracks);
  }

  getTracks() {
    return [...this.#tracks];
  }

  getVideoTracks() {
    return this.getTracks().filter(({ kind }) => kind === "video");
  }

  addTrack(track) {
    this.#tracks.add(track);
  }

  removeTrack(track) {
    this.#tracks.delete(track);
  }
};
