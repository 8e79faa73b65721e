/**
 * The connection for media: its sections, what is published over it, and the offers that say so, one after the other.
 * @module negotiation
 */

import { affordableCodecs, Publication } from "./publication.js";
import { RoostError } from "./signalling.js";

export class Negotiation {
  /** @type {RTCPeerConnection | null} */
  connection = null;
  #signalling;
  #options;
  #listener;
  #publications = new Set();
  #abandoned = null; // rejects when the connection is closed
  #abandon = () => {};
  #unknown = { audio: 0, video: 0 }; // sections that the server had not heard of when the session was resumed
  #queue = Promise.resolve();
  #affordable = null; // a promise of the codecs that this machine may be asked for
  #renewal = null; // everything is being offered once more, to a new session

  /**
   * @param {import("./signalling.js").Signalling} signalling
   * @param {{slots: number, codecs?: string[], configuration?: RTCConfiguration}} options
   * @param {object} listener is called with `answered()` when the connection has taken an answer in, `connection(state)` and
   *   `error(error)`
   */
  constructor(signalling, options, listener) {
    this.#signalling = signalling;
    this.#options = options;
    this.#listener = listener;
  }

  /** @type {Publication[]} */
  get publications() {
    return [...this.#publications];
  }

  /** What comes in a section. @returns {MediaStreamTrack | undefined} */
  receiver(mid) {
    return this.connection.getTransceivers().find((each) => each.mid === mid)?.receiver.track;
  }

  // -- from one session to the next

  /** A session begins: with a connection of its own, and slots. */
  begin(iceServers) {
    const abandon = this.#abandon;
    this.connection?.close();
    this.connection = this.#make(iceServers);
    abandon(new RoostError("session-gone", "the session was over before it was done", "now"));
    this.#addSlots(this.#options.slots, this.#options.slots);
  }

  /** Offers what was published to the session before this one. @param {() => Promise<void>} then what else it has to hear */
  renew(then) {
    for (const publication of this.#publications) publication.moveTo(this.connection);
    this.#renewal = this.#offer().then(then);
    this.#queue = Promise.allSettled([this.#queue, this.#renewal]);
    this.#renewal.catch((error) => this.#listener.error(error));
  }

  /** A session goes on: with the slots and the tracks that the server knows. */
  resume({ slots, tracks }) {
    this.#unknown = { audio: 0, video: 0 };
    const known = new Set(slots.map(({ mid }) => mid));
    for (const { mid, direction, receiver } of this.connection.getTransceivers()) {
      if (direction === "recvonly" && !known.has(mid)) this.#unknown[receiver.track.kind]++;
    }
    for (const publication of this.#publications) publication.answered(tracks);
  }

  /** A connection that is closed leaves unanswered what it is being asked. */
  close() {
    this.connection?.close();
    this.#abandon(new RoostError("closed", "the call has ended", "after"));
  }

  #make(iceServers) {
    this.#abandoned = new Promise((_, reject) => (this.#abandon = reject));
    this.#abandoned.catch(() => {});
    const connection = new RTCPeerConnection({ iceServers, bundlePolicy: "max-bundle", ...this.#options.configuration });
    connection.addEventListener("icecandidate", ({ candidate }) => {
      if (candidate?.candidate && connection === this.connection) {
        this.#signalling.send({ type: "candidate", candidate: candidate.candidate, mid: candidate.sdpMid });
      }
    });
    connection.addEventListener("connectionstatechange", () => {
      if (connection !== this.connection) return;
      this.#listener.connection(connection.connectionState);
      // The way to the server has broken: another may work.
      if (connection.connectionState === "failed") {
        this.negotiate({ iceRestart: true }).catch((error) => this.#listener.error(error));
      }
    });
    return connection;
  }

  // -- what is published

  /** Adds tracks; the next offer says so. @param {MediaStreamTrack[]} tracks @returns {Publication[]} */
  add(tracks, sources, encrypted) {
    const stream = new MediaStream(tracks);
    const added = tracks.map((track) => new Publication(this.connection, track, stream, sources[track.kind] ?? "unknown"));
    for (const publication of added) {
      publication.encrypted = encrypted;
      publication.request = (message) => this.#signalling.request(message);
      this.#publications.add(publication);
    }
    return added;
  }

  /** Takes one away; the next offer says so. */
  drop(publication) {
    this.#publications.delete(publication);
    if (this.connection.signalingState !== "closed") publication.transceiver.stop();
  }

  /** The server has taken a track of one's own from the room, as when publishing is no longer allowed. */
  withdrawn(id) {
    for (const publication of this.#publications) if (publication.id === id) publication.id = undefined;
  }

  /** Mutes a publication or unmutes it. @throws {RoostError} where an administrator's mute stands */
  async mute(publication, muted) {
    publication.muted = muted;
    // Muted at once; unmuted when the server agrees, so that nothing seems to be sent that no one gets.
    if (muted && publication.track) publication.track.enabled = false;
    try {
      await this.#sayMuted(publication, muted);
    } catch (error) {
      if (publication.muted === muted) publication.muted = true;
      throw error;
    }
    if (publication.track && publication.muted === muted) publication.track.enabled = !muted;
  }

  /** To the session that is, however often another takes its place. */
  async #sayMuted(publication, muted) {
    for (;;) {
      await this.#renewal?.catch(() => {}); // Has been reported.
      if (!publication.id) await this.#queue;
      if (!publication.id) return; // The next offer says it.
      try {
        await this.#signalling.request({ type: "mute", track: publication.id, muted });
        return;
      } catch (error) {
        // A track that has just been taken from the room reaches no one.
        if (error.code === "unknown-track" && muted) return;
        if (error.code !== "session-gone") throw error;
      }
    }
  }

  /** Advice may come right behind the answer; its publication has its id, and the section its codecs, once the connection has that. */
  hearAdvice(message) {
    this.#queue = this.#queue.then(() => {
      for (const publication of this.#publications) if (publication.id === message.track) this.#advise(publication, message);
    });
  }

  async #advise(publication, { layers, codecs = [] }) {
    const wanted = publication.kind === "video" ? (this.#options.codecs ?? await (this.#affordable ??= affordableCodecs())) : [];
    publication.advised(layers, codecs, wanted);
  }

  // -- offers and answers

  /** The server asks for more sections, or for another way to it. */
  addWanted({ audio, video, reason }) {
    if (this.connection.signalingState === "closed") return; // One has left, and the server is about to hear of it.
    // Those that are on their way already answer what is asked once more.
    this.#addSlots(Math.max(0, audio - this.#unknown.audio), Math.max(0, video - this.#unknown.video));
    this.#unknown = { audio: 0, video: 0 };
    this.negotiate({ iceRestart: reason === "iceRestart" }).catch((error) => this.#listener.error(error));
  }

  /** An answer has come: the server knows all sections. */
  answered() {
    this.#unknown = { audio: 0, video: 0 };
  }

  /** One offer after the other, each with everything that has changed by then. @returns when the connection has its answer */
  negotiate(options = {}) {
    const next = this.#queue.then(() => this.#offer(options));
    this.#queue = next.catch(() => {});
    return next;
  }

  /** Does something once the offers before it have their answers. */
  after(step) {
    this.#queue = this.#queue.then(step).catch(() => {});
  }

  #addSlots(audio, video) {
    for (let index = 0; index < Math.max(audio, video); index++) {
      if (index < audio) this.connection.addTransceiver("audio", { direction: "recvonly" });
      if (index < video) this.connection.addTransceiver("video", { direction: "recvonly" });
    }
  }

  async #offer(options = {}) {
    const { connection } = this;
    const abandoned = this.#abandoned;
    const done = (step) => Promise.race([step, abandoned]);
    try {
      await done(connection.setLocalDescription(await done(connection.createOffer(options))));
      // One that was added meanwhile has an offer of its own.
      const offered = this.publications.filter(({ mid }) => mid !== null);
      const tracks = offered.map(({ mid, source, name, muted, encrypted, layers }) => (
        { mid, source, name, muted, encrypted, ...(layers.length && { layers }) }));
      const answer = await this.#signalling.request({ type: "offer", sdp: connection.localDescription.sdp, tracks });
      await done(connection.setRemoteDescription({ type: "answer", sdp: answer.sdp }));
      for (const publication of this.#publications) publication.answered(answer.tracks);
      for (const [index, publication] of offered.entries()) {
        publication.heard(tracks[index].layers ?? []);
        publication.sayLayers(); // It may have changed while the offer was on its way.
      }
      this.#listener.answered();
      for (const { mid, code } of answer.declined) this.#decline(mid, code);
    } catch (error) {
      // Another session has begun meanwhile, and this is part of its offer.
      if (connection !== this.connection) return this.#renewal;
      if (connection.signalingState === "have-local-offer") {
        await done(connection.setLocalDescription({ type: "rollback" }));
      }
      throw error;
    }
  }

  #decline(mid, code) {
    const publication = [...this.#publications].find((each) => each.mid === mid);
    if (!publication) return; // A slot fewer.
    this.#publications.delete(publication);
    this.#listener.error(new RoostError("declined", `the server can't carry this ${publication.source}: ${code}`));
  }
}
