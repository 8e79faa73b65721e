"use strict";
// People in a room, or the two ends of a direct connection, as many to a page as a test wants: `calls` by name.
// What a room's participants say and hear goes by signaller.js, without the library of the server's own pages.

const calls = {};

/** One connection and what is received over it. */
class Call {
  connection = null;
  /** When what happened: click, joined, answered, connected. */
  times = {};
  /** mid → Watch; audio and video of one stream share theirs. */
  watches = {};
  #streams = new Map();

  open(configuration = {}) {
    this.connection = new RTCPeerConnection({ bundlePolicy: "max-bundle", ...configuration });
    this.connection.ontrack = ({ transceiver, streams: [stream] }) => {
      if (!this.#streams.has(stream)) this.#streams.set(stream, new Watch(stream));
      this.watches[transceiver.mid] = this.#streams.get(stream);
    };
    this.connection.onconnectionstatechange = () => (this.times[this.connection.connectionState] ??= clock());
  }

  /** Sends a stream's tracks, at the size that they have. */
  async send(stream) {
    for (const track of stream.getTracks()) {
      const sender = this.add(track, stream);
      if (track.kind !== "video") continue;
      const parameters = sender.getParameters();
      parameters.degradationPreference = "maintain-resolution";
      if (parameters.encodings.length === 0) parameters.encodings = [{}];
      parameters.encodings[0].maxBitrate = 2_500_000;
      await sender.setParameters(parameters);
    }
  }

  /** Has the encoder begin each layer of the video with a key frame now, which only Chromium can. */
  async makeKeyFrame() {
    const sender = this.connection.getSenders().find(({ track }) => track?.kind === "video");
    const parameters = sender.getParameters();
    await sender.setParameters(parameters, { encodingOptions: parameters.encodings.map(() => ({ keyFrame: true })) });
  }

  add(track, stream) {
    return this.connection.addTransceiver(track, { direction: "sendonly", streams: [stream] }).sender;
  }

  receive(pairs) {
    for (let pair = 0; pair < pairs; pair += 1) {
      this.connection.addTransceiver("audio", { direction: "recvonly" });
      this.connection.addTransceiver("video", { direction: "recvonly" });
    }
  }

  /** The watch that has seen a picture. */
  get watch() {
    return Object.values(this.watches).find((each) => each.frames.length > 0) ?? null;
  }

  close() {
    this.connection.close();
  }
}

/** A participant of a room. */
class Participant extends Call {
  #signaller = new Signaller();
  /** track id → {identity, source} */
  tracks = {};
  /** mid → track id */
  assigned = {};
  /** track id → mid, of those that it sends. */
  published = {};
  #change = Promise.resolve();
  errors = [];
  /** Called as a track's stream is paused, and as it goes on. */
  onstream = () => {};
  /** Whether the frames that it sends are encrypted end to end. */
  encrypted = false;

  /**
   * Joins and offers once: what is sent, and `pairs` of sections to receive in.
   * `bundlePolicy`: Chromium with `max-bundle` makes no offer in which every section is stopped.
   * `relay`: {address, port} that stands in the answer's candidates in the server's place.
   */
  async join({ url, room, token, stream = null, pairs = 4, relay = null, bundlePolicy = "max-bundle" }) {
    this.times.click = clock();
    this.#signaller.onmessage = (message) => this.#take(message);
    const joined = await this.#signaller.join(url, room, token);
    this.times.joined = clock();
    for (const participant of joined.participants) this.#know(participant);

    this.open({ iceServers: joined.iceServers, bundlePolicy });
    if (stream) await this.send(stream);
    this.receive(pairs);
    await this.negotiate(relay);
  }

  /** Offers every section as it is now, and takes the answer. */
  async negotiate(relay = null) {
    await this.connection.setLocalDescription();
    const tracks = this.connection.getTransceivers()
      .filter(({ sender, currentDirection }) => sender.track && currentDirection !== "stopped")
      .map(({ mid, sender }) => ({
        mid,
        source: sender.track.kind === "video" ? "camera" : "microphone",
        encrypted: this.encrypted,
      }));
    const answer = await this.#signaller.offer(this.connection, tracks);
    this.times.answered = clock();
    await this.connection.setRemoteDescription({ type: "answer", sdp: relay ? moved(answer.sdp, relay) : answer.sdp });
    for (const { mid, track } of answer.tracks) this.published[track] = mid;
    this.#assign(answer.slots);
  }

  /** Asks the server for something; answers with what it says. */
  request(message) {
    return this.#signaller.request(message);
  }

  /** Stops every section; the connection stays, with nothing in it. */
  async stopAll() {
    for (const transceiver of this.connection.getTransceivers()) transceiver.stop();
    this.watches = {};
    this.assigned = {};
    await this.negotiate();
  }

  /** Sends and receives again over the connection whose sections were all stopped. */
  async startAgain({ stream, pairs }) {
    await this.send(stream);
    this.receive(pairs);
    await this.negotiate();
  }

  /** Whose track each section plays, by mid. */
  get shown() {
    return Object.fromEntries(
      Object.entries(this.assigned).map(([mid, track]) => [mid, this.tracks[track] ?? null]));
  }

  /** By stream: whose camera and microphone are announced for it, and the badge that it shows. */
  get pairs() {
    const found = new Map();
    for (const [mid, track] of Object.entries(this.shown)) {
      const watch = this.watches[mid];
      if (!watch) continue;
      if (!found.has(watch)) found.set(watch, { camera: null, microphone: null, badge: watch.badge() });
      if (track) found.get(watch)[track.source] = track.identity;
    }
    return [...found.values()];
  }

  /** The watch of the section that plays somebody's camera. */
  watchOf(identity) {
    const found = Object.entries(this.shown)
      .find(([, track]) => track?.identity === identity && track.source === "camera");
    return found ? (this.watches[found[0]] ?? null) : null;
  }

  async leave() {
    await this.#signaller.request({ type: "leave" });
    this.close();
  }

  #take(message) {
    if (message.type === "event") {
      const { participant, track } = message.event;
      if (participant) this.#know(participant);
      if (participant && track) this.tracks[track.id] = { identity: participant.identity, source: track.source };
    } else if (message.type === "slots") {
      this.#assign(message.assignments);
    } else if (message.type === "publish") {
      this.#watched(message);
    } else if (message.type === "stream") {
      this.onstream(message);
    } else if (message.type === "error") {
      this.errors.push(message);
    }
  }

  /** Sends those encodings alone that are watched. */
  #watched({ track, layers }) {
    // One after the other: parameters that were read before another change are refused.
    this.#change = this.#change.then(async () => {
      const transceiver = this.connection.getTransceivers().find(({ mid }) => mid !== null && mid === this.published[track]);
      if (!transceiver) return;
      const parameters = transceiver.sender.getParameters();
      for (const encoding of parameters.encodings) {
        encoding.active = layers.find(({ rid }) => rid === encoding.rid)?.active ?? encoding.active;
      }
      await transceiver.sender.setParameters(parameters);
    }).catch((error) => this.errors.push({ code: "parameters", message: String(error) }));
  }

  #know({ identity, tracks = [] }) {
    for (const track of tracks) this.tracks[track.id] = { identity, source: track.source };
  }

  #assign(slots) {
    for (const { mid, track } of slots) {
      if (track) this.assigned[mid] = track;
      else delete this.assigned[mid];
    }
  }
}

/** An answer with one candidate only, at another address. */
function moved(sdp, { address, port }) {
  const lines = sdp.split("\r\n").filter((line) => !line.startsWith("a=candidate:"));
  const section = lines.findIndex((line) => line.startsWith("a=ice-pwd:"));
  lines.splice(section + 1, 0, `a=candidate:1 1 udp 2130706431 ${address} ${port} typ host`);
  return lines.join("\r\n");
}

/** One end of a connection without a server; the test carries the descriptions over. */
class Direct extends Call {
  /** Into the sections that there are, both ways. */
  add(track, stream) {
    return this.connection.addTrack(track, stream);
  }

  async offer(stream) {
    this.open();
    await this.send(stream);
    await this.connection.setLocalDescription();
    return this.#gathered();
  }

  async answer(sdp, stream) {
    this.open();
    await this.connection.setRemoteDescription({ type: "offer", sdp });
    if (stream) await this.send(stream);
    await this.connection.setLocalDescription();
    return this.#gathered();
  }

  async accept(sdp) {
    await this.connection.setRemoteDescription({ type: "answer", sdp });
  }

  async #gathered() {
    while (this.connection.iceGatheringState !== "complete") {
      await new Promise((resolve) =>
        this.connection.addEventListener("icegatheringstatechange", resolve, { once: true }));
    }
    return this.connection.localDescription.sdp;
  }
}
