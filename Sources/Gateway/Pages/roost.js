/**
 * A client of Roost's native protocol: a WebSocket for messages, an RTCPeerConnection for media.
 *
 *     const room = new Room({ url: location.origin, room: "demo", token });
 *     room.addEventListener("media", ({ detail }) => show(detail.participant, detail.stream));
 *     await room.connect();
 *     await room.publish(await navigator.mediaDevices.getUserMedia({ audio: true, video: true }));
 *
 * How it works:
 * - The client always offers, the server answers; so two offers never cross. One is in flight at a time.
 * - Beside what it sends, the client offers receive-only sections ahead of need, as pairs of audio and video:
 *   the slots. The server puts tracks into them and takes them out by message, without renegotiation, and asks
 *   for more by `offerWanted`.
 * - The two sections of a slot carry one msid stream id for life, and a participant's microphone and camera go into
 *   one slot; so the browser keeps lips and voice together, whichever participant is in it.
 *
 * - A WebSocket that breaks costs nothing: media flows on, and signalling.js has the session go on over another one. Only
 *   where the server has given the session up it is joined again, with a new RTCPeerConnection and the same publications.
 *
 * Nothing here touches the page. docs/roost-js.md has an example, docs/signalling.md the messages.
 * @module roost
 */

import { affordableCodecs, Publication } from "./publication.js";
import { RoostError, Signalling } from "./signalling.js";
export { Publication, RoostError };

/**
 * @typedef {import("./publication.js").Track} Track
 * @typedef {import("./publication.js").Participant} Participant
 * @typedef {import("./publication.js").Permissions} Permissions
 * @typedef {"camera" | "screen"} Group what is played together: camera and microphone, or a screen and its sound
 */

/** A `view` says so much at most (docs/signalling.md). */
const viewsAtOnce = 64;

/**
 * One participant's session in one room. Events are CustomEvents with these details:
 *
 * | event | detail |
 * |---|---|
 * | `joined` | `{participant, room, participants, gone, …}`: the state on arrival, also after a lost session; `gone` were there before |
 * | `state` | "connected" or "reconnecting": whether the server hears and tells; media flows meanwhile |
 * | `event` | `{id, time, type, participant?, track?, reason?, recording?}`: what happens in the room afterwards |
 * | `media` | `{participant, group, stream, tracks}`: what plays now of a participant; no `tracks` when nothing does |
 * | `speakers` | `[{participant, level}]`: who speaks, the loudest first |
 * | `quality` | `{participant, quality}`: "excellent", "good", "poor" or "lost" |
 * | `stream` | `{track, state, reason}`: why a track comes or doesn't |
 * | `data` | `{from, payload, topic}` |
 * | `token` | `{token}`: the server has renewed the access token, for applications that keep it |
 * | `draining` | `{deadline}`: the server is about to stop; RFC 3339 |
 * | `connection` | RTCPeerConnection's `connectionState` |
 * | `error` | a RoostError that ends nothing |
 * | `closed` | `{reason, code, error?}`: the end; nothing comes after it |
 */
export class Room extends EventTarget {
  /** The others, by id. @type {Map<string, Participant>} */
  participants = new Map();
  /** Oneself; null before `connect`. @type {Participant | null} */
  me = null;
  /** Whether the server records the room. */
  isRecorded = false;

  #options;
  #signalling;
  #connection = null;
  #abandoned = null; // rejects when the connection is closed
  #abandon = () => {};
  #tracks = new Map(); // track id → {track, participant}
  #assigned = new Map(); // mid → track id or null, as the server said last
  #slots = new Map(); // mid → track id, as it plays
  #settleAt = 0; // what is assigned names tracks up to this event
  #unknown = { audio: 0, video: 0 }; // sections that the server had not heard of when the session was resumed
  #playing = new Map(); // participant id and group → {participant, group, stream}
  #publications = new Set();
  #preferences = new Map(); // track id → subscribe or unsubscribe
  #views = new Map(); // track id → how it is shown
  #negotiation = Promise.resolve();
  #affordable = null; // a promise of the codecs that this machine may be asked for
  #renewal = null; // everything is being offered once more, to a new session

  /**
   * @param {object} options
   * @param {string} options.url where the server is, as in "https://relay.example"
   * @param {string} options.room the room's name
   * @param {string | (() => string | Promise<string>)} options.token an access token for it, or who gives one whenever it is
   *   joined: a string serves as long as it is valid, and is renewed by the server while in the room
   * @param {number} [options.patience] seconds for which a server is looked for that has gone; 300 unless given
   * @param {number} [options.slots] pairs that are offered at first; 4 unless given
   * @param {string[]} [options.codecs] for pictures, better than the browser's first, the best first, as in ["AV1", "VP9"]: one is used
   *   while everyone in the room takes it; VP9 unless given, where this machine encodes it without effort
   * @param {RTCConfiguration} [options.configuration] joined with what the server says
   */
  constructor(options) {
    super();
    this.#options = { slots: 4, patience: 300, ...options };
    this.#signalling = new Signalling(this.#options, {
      joined: (message) => this.#joined(message),
      resumed: (message) => this.#resumed(message),
      message: (message) => this.#receive(message),
      state: (state) => this.#emit("state", state),
      ended: (end) => {
        this.#close();
        this.#emit("closed", end);
      },
    });
  }

  /** The RTCPeerConnection, for statistics; null before `connect`. */
  get connection() {
    return this.#connection;
  }

  /** What is being sent. @type {Publication[]} */
  get publications() {
    return [...this.#publications];
  }

  /** What plays in a section of the connection. @returns {{track: Track, participant: Participant} | null} */
  trackAt(mid) {
    const known = this.#tracks.get(this.#slots.get(mid));
    return known ? { track: known.track, participant: this.participants.get(known.participant) } : null;
  }

  /**
   * Joins.
   * @returns the state of the room, as in the event `joined`
   * @throws {RoostError}
   */
  async connect() {
    const joined = await this.#signalling.join();
    await this.#negotiate();
    return joined;
  }

  /**
   * Sends tracks; those of one call are played together.
   * @param {MediaStream | MediaStreamTrack[]} media
   * @param {{audio?: string, video?: string}} [sources] what they are: a camera and a microphone unless given
   * @param {{encrypted?: boolean}} [options] `encrypted`: a transform of the page's encrypts the frames end to end, so the server adds
   *   nothing to them
   * @returns {Promise<Publication[]>} one for each track
   * @throws {RoostError} where the server can't carry any of it
   */
  async publish(media, sources = { video: "camera", audio: "microphone" }, { encrypted = false } = {}) {
    const tracks = media instanceof MediaStream ? media.getTracks() : media;
    const stream = new MediaStream(tracks);
    const added = tracks.map((track) => new Publication(this.#connection, track, stream, sources[track.kind] ?? "unknown"));
    for (const publication of added) {
      publication.encrypted = encrypted;
      publication.request = (message) => this.#signalling.request(message);
      this.#publications.add(publication);
    }
    try {
      await this.#negotiate();
    } catch (error) {
      for (const publication of added) this.#drop(publication);
      throw error;
    }
    const taken = added.filter((publication) => publication.id);
    if (taken.length === 0 && added.length > 0) throw new RoostError("declined", "nothing of it can be carried");
    return taken;
  }

  /** Stops sending; the MediaStreamTrack itself goes on. @param {Publication[]} publications */
  async unpublish(publications) {
    for (const publication of publications) this.#drop(publication);
    await this.#negotiate();
  }

  /** What everyone sees of a publication, such as whether an administrator has muted it. @returns {Track | null} */
  trackOf({ id }) {
    return this.me?.tracks.find((track) => track.id === id) ?? null;
  }

  /**
   * Mutes a publication or unmutes it; everyone sees that.
   * @throws {RoostError} `not-allowed`: an administrator's mute stands, and the publication stays muted
   */
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
      if (!publication.id) await this.#negotiation;
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

  /** Changes what others see of oneself. @param {{name?: string, metadata?: string, attributes?: object}} change */
  async update(change) {
    await this.#signalling.request({ type: "update", ...change });
  }

  /**
   * Says something to others.
   * @param {string} payload base64
   * @param {{topic?: string, reliable?: boolean, destinations?: string[]}} [options] to all unless given
   */
  async sendData(payload, options = {}) {
    await this.#signalling.request({ type: "data", payload, reliable: true, ...options });
  }

  /** Asks for a track, as for one that had to wait. @param {string} track its id */
  async subscribe(track, options = {}) {
    await this.#prefer({ type: "subscribe", track, ...options });
  }

  async unsubscribe(track) {
    await this.#prefer({ type: "unsubscribe", track });
  }

  /**
   * Says how tracks are shown, so that no more is sent than that; whether they play stays as it is.
   * @param {{track: string, quality?: "off" | "low" | "medium" | "high", maxWidth?: number, maxHeight?: number,
   *   maxFrameRate?: number, priority?: number}[]} tracks widths and heights in device pixels
   */
  async view(tracks) {
    for (const each of tracks) this.#views.set(each.track, each);
    await this.#sayViews(tracks);
  }

  async #sayViews(tracks) {
    const requests = [];
    for (let first = 0; first < tracks.length; first += viewsAtOnce) {
      requests.push(this.#signalling.request({ type: "view", tracks: tracks.slice(first, first + viewsAtOnce) }));
    }
    await Promise.all(requests);
  }

  /**
   * Asks what one gets of each track, and why; once a second at most.
   * @returns {Promise<{transport?: object, subscriptions: object[]}>} as `Explanation` of docs/roost.d.ts
   */
  async explain() {
    const { transport, subscriptions } = await this.#signalling.request({ type: "explain" });
    return { transport, subscriptions };
  }

  async #prefer(preference) {
    this.#preferences.set(preference.track, preference);
    await this.#signalling.request(preference);
  }

  /** Looks for another way to the server, as after a change of network. */
  restartIce() {
    return this.#negotiate({ iceRestart: true });
  }

  /** Says goodbye. `closed` follows. */
  leave() {
    this.#signalling.leave();
    this.#close();
  }

  // -- coming, coming back, going

  /** The session begins, or another one in place of that which the server has given up. */
  #joined(message) {
    const isRenewal = this.#connection !== null;
    const before = this.participants;
    const preferences = new Map(this.#preferences);
    const views = new Map(this.#views);
    this.#forget([...this.#tracks.keys()]);
    this.#preferences = preferences;
    this.#views = views;
    this.me = message.participant;
    this.isRecorded = message.room?.recorded ?? false;
    this.participants = new Map();
    for (const participant of message.participants) this.#know(participant);
    this.#assigned.clear();
    this.#settleAt = 0;
    const abandon = this.#abandon;
    this.#connection?.close();
    this.#connection = this.#makeConnection(message.iceServers);
    abandon(new RoostError("session-gone", "the session was over before it was done", "now"));
    this.#addSlots(this.#options.slots, this.#options.slots);
    this.#emit("joined", { ...message, gone: [...before.values()].filter(({ id }) => !this.participants.has(id)) });
    if (!isRenewal) return;
    for (const publication of this.#publications) publication.moveTo(this.#connection);
    this.#renewal = this.#offerAgain();
    this.#negotiation = Promise.allSettled([this.#negotiation, this.#renewal]);
    this.#renewal.catch((error) => this.#report(error));
  }

  async #offerAgain() {
    await this.#offer();
    for (const [track, preference] of this.#preferences) if (this.#tracks.has(track)) await this.#signalling.request(preference);
    await this.#sayViews([...this.#views.values()].filter(({ track }) => this.#tracks.has(track)));
  }

  /** A connection that is closed leaves unanswered what it is being asked. */
  #close() {
    this.#connection?.close();
    this.#abandon(new RoostError("closed", "the call has ended", "after"));
  }

  #makeConnection(iceServers) {
    this.#abandoned = new Promise((_, reject) => (this.#abandon = reject));
    this.#abandoned.catch(() => {});
    const connection = new RTCPeerConnection({ iceServers, bundlePolicy: "max-bundle", ...this.#options.configuration });
    connection.addEventListener("icecandidate", ({ candidate }) => {
      if (candidate?.candidate && connection === this.#connection) {
        this.#signalling.send({ type: "candidate", candidate: candidate.candidate, mid: candidate.sdpMid });
      }
    });
    connection.addEventListener("connectionstatechange", () => {
      if (connection !== this.#connection) return;
      this.#emit("connection", connection.connectionState);
      // The way to the server has broken: another may work.
      if (connection.connectionState === "failed") this.restartIce().catch((error) => this.#report(error));
    });
    return connection;
  }

  /** What was missed comes next; only what is named by the message itself is taken here. */
  #resumed({ lastEvent, slots, tracks }) {
    this.#settleAt = lastEvent;
    this.#assigned.clear();
    this.#unknown = { audio: 0, video: 0 };
    const known = new Set(slots.map(({ mid }) => mid));
    for (const { mid, direction, receiver } of this.#connection.getTransceivers()) {
      if (direction === "recvonly" && !known.has(mid)) this.#unknown[receiver.track.kind]++;
    }
    for (const publication of this.#publications) publication.answered(tracks);
    this.#assign(slots);
  }

  // -- offers and answers

  #addSlots(audio, video) {
    for (let index = 0; index < Math.max(audio, video); index++) {
      if (index < audio) this.#connection.addTransceiver("audio", { direction: "recvonly" });
      if (index < video) this.#connection.addTransceiver("video", { direction: "recvonly" });
    }
  }

  /** One offer after the other, each with everything that has changed by then. */
  #negotiate(options = {}) {
    const next = this.#negotiation.then(() => this.#offer(options));
    this.#negotiation = next.catch(() => {});
    return next;
  }

  async #offer(options = {}) {
    const connection = this.#connection;
    const abandoned = this.#abandoned;
    const done = (step) => Promise.race([step, abandoned]);
    try {
      await done(connection.setLocalDescription(await done(connection.createOffer(options))));
      // One that was added meanwhile has an offer of its own.
      const offered = [...this.#publications].filter(({ mid }) => mid !== null);
      const tracks = offered.map(({ mid, source, name, muted, encrypted, layers }) => (
        { mid, source, name, muted, encrypted, ...(layers.length && { layers }) }));
      const answer = await this.#signalling.request({ type: "offer", sdp: connection.localDescription.sdp, tracks });
      await done(connection.setRemoteDescription({ type: "answer", sdp: answer.sdp }));
      for (const publication of this.#publications) publication.answered(answer.tracks);
      for (const [index, publication] of offered.entries()) {
        publication.heard(tracks[index].layers ?? []);
        publication.sayLayers(); // It may have changed while the offer was on its way.
      }
      this.#settle();
      for (const { mid, code } of answer.declined) this.#decline(mid, code);
    } catch (error) {
      // Another session has begun meanwhile, and this is part of its offer.
      if (connection !== this.#connection) return this.#renewal;
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
    this.#report(new RoostError("declined", `the server can't carry this ${publication.source}: ${code}`));
  }

  #drop(publication) {
    this.#publications.delete(publication);
    if (this.#connection.signalingState !== "closed") publication.transceiver.stop();
  }

  // -- slots

  /** Takes down what the server says of slots, in the order in which it does. */
  #assign(slots) {
    for (const { mid, track } of slots) this.#assigned.set(mid, track);
    // After the answer that made the sections, should one be on its way into the connection.
    this.#negotiation = this.#negotiation.then(() => this.#settle()).catch(() => {});
  }

  /** Brings what plays in line with what the server assigned. */
  #settle() {
    // Names tracks that are still to be announced.
    if (this.#signalling.lastEvent < this.#settleAt) return;
    const changed = new Set();
    for (const mid of new Set([...this.#slots.keys(), ...this.#assigned.keys()])) {
      const [before, track] = [this.#slots.get(mid) ?? null, this.#assigned.get(mid) ?? null];
      if (before === track) continue;
      if (track) this.#slots.set(mid, track);
      else this.#slots.delete(mid);
      for (const id of [before, track]) {
        const key = this.#key(id);
        if (key) changed.add(key);
      }
    }
    for (const key of changed) this.#play(key);
  }

  /** Names what a track is played with. */
  #key(id) {
    const known = this.#tracks.get(id);
    return known && `${known.participant} ${group(known.track)}`;
  }

  /** Puts into a participant's stream what the slots have of it, and says so. */
  #play(key) {
    const [id, name] = key.split(" ");
    const entry = this.#playing.get(key) ?? { participant: id, group: name, stream: new MediaStream() };
    const tracks = [];
    const wanted = new Set();
    for (const [mid, track] of this.#slots) {
      if (this.#key(track) !== key) continue;
      const receiver = this.#connection.getTransceivers().find((each) => each.mid === mid)?.receiver;
      if (!receiver) continue;
      tracks.push(this.#tracks.get(track).track);
      wanted.add(receiver.track);
    }
    for (const each of entry.stream.getTracks()) if (!wanted.has(each)) entry.stream.removeTrack(each);
    for (const each of wanted) entry.stream.addTrack(each);
    if (tracks.length > 0) this.#playing.set(key, entry);
    else this.#playing.delete(key);
    const participant = this.participants.get(id) ?? { id, identity: "", tracks: [] };
    this.#emit("media", { participant, group: name, stream: entry.stream, tracks });
  }

  // -- messages

  #receive(message) {
    switch (message.type) {
      case "event":
        this.#follow(message.event);
        break;
      case "answer":
        this.#unknown = { audio: 0, video: 0 };
        // What plays changes once the connection has taken it in.
        for (const { mid, track } of message.slots) this.#assigned.set(mid, track);
        break;
      case "slots":
        this.#assign(message.assignments);
        break;
      case "offerWanted":
        this.#addWanted(message);
        break;
      case "publish":
        this.#hearAdvice(message);
        break;
      case "speakers":
        this.#emit("speakers", message.speakers);
        break;
      case "quality":
        for (const each of message.participants) this.#emit("quality", each);
        break;
      case "stream":
      case "data":
      case "token":
      case "draining":
        this.#emit(message.type, message);
        break;
      case "error":
        this.#report(message.error);
        break;
      default: // A newer server says more than is known here.
    }
  }

  /** Advice may come right behind the answer; its publication has its id, and the section its codecs, once the connection has that. */
  #hearAdvice(message) {
    this.#negotiation = this.#negotiation.then(() => {
      for (const publication of this.#publications) if (publication.id === message.track) this.#advise(publication, message);
    });
  }

  async #advise(publication, { layers, codecs = [] }) {
    const wanted = publication.kind === "video" ? (this.#options.codecs ?? await (this.#affordable ??= affordableCodecs())) : [];
    publication.advised(layers, codecs, wanted);
  }

  #addWanted({ audio, video, reason }) {
    if (this.#connection.signalingState === "closed") return; // One has left, and the server is about to hear of it.
    // Those that are on their way already answer what is asked once more.
    this.#addSlots(Math.max(0, audio - this.#unknown.audio), Math.max(0, video - this.#unknown.video));
    this.#unknown = { audio: 0, video: 0 };
    this.#negotiate({ iceRestart: reason === "iceRestart" }).catch((error) => this.#report(error));
  }

  #know(participant) {
    this.participants.set(participant.id, participant);
    for (const track of participant.tracks) this.#tracks.set(track.id, { track, participant: participant.id });
  }

  /** The participant that an event is about, in its state after the event; a track's events only name its publisher. */
  #after({ type, participant, track }) {
    if (!participant || !track) return participant;
    const known = participant.id === this.me?.id ? this.me : this.participants.get(participant.id);
    if (!known) return undefined;
    const isOver = type === "track.unpublished";
    const tracks = known.tracks.flatMap((each) => (each.id !== track.id ? each : isOver ? [] : track));
    if (!isOver && !tracks.includes(track)) tracks.push(track);
    return { ...known, tracks };
  }

  #follow(event) {
    const { type, track } = event;
    if (event.recording) this.isRecorded = event.recording.active;
    const participant = this.#after(event);
    if (participant && participant.id === this.me?.id) {
      this.me = participant;
      if (type === "track.unpublished") this.#withdrawn(track.id);
    } else if (type === "participant.left") {
      this.#forget([...this.#tracks].filter(([, known]) => known.participant === participant.id).map(([id]) => id));
      this.participants.delete(participant.id);
    } else if (participant) {
      this.#know(participant);
      if (type === "track.unpublished") this.#forget([track.id]);
    }
    if (event.id === this.#settleAt) this.#assign([]);
    this.#emit("event", event);
  }

  /** The server has taken a track of one's own from the room, as when publishing is no longer allowed. */
  #withdrawn(id) {
    for (const publication of this.#publications) if (publication.id === id) publication.id = undefined;
  }

  /** Tracks are over; the server may say later that their slots are empty. */
  #forget(ids) {
    const keys = new Set(ids.map((id) => this.#key(id)));
    for (const [mid, track] of this.#slots) if (ids.includes(track)) this.#slots.delete(mid);
    for (const [mid, track] of this.#assigned) if (ids.includes(track)) this.#assigned.set(mid, null);
    for (const id of ids) this.#preferences.delete(id);
    for (const id of ids) this.#views.delete(id);
    for (const key of keys) if (this.#playing.has(key)) this.#play(key);
    for (const id of ids) this.#tracks.delete(id);
  }

  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #report(error) {
    this.#emit("error", error);
  }
}

/** @returns {Group} */
function group(track) {
  return track.source === "screen_share" || track.source === "screen_share_audio" ? "screen" : "camera";
}
