/**
 * A client of Roost's native protocol: a WebSocket for messages, an RTCPeerConnection for media.
 *
 *     const room = new Room({ url: location.origin, room: "demo", token });
 *     room.addEventListener("media", ({ detail }) => show(detail.participant, detail.stream));
 *     await room.connect();
 *     await room.publish(await navigator.mediaDevices.getUserMedia({ audio: true, video: true }));
 *
 * How it works:
 * - The client always offers, the server answers; so two offers never cross. One is in flight at a time (negotiation.js).
 * - Beside what it sends, the client offers receive-only sections ahead of need, as pairs of audio and video:
 *   the slots. The server puts tracks into them and takes them out by message, without renegotiation, and asks
 *   for more by `offerWanted`. What plays follows that (playback.js), and knows nothing of how one joined.
 * - The two sections of a slot carry one msid stream id for life, and a participant's microphone and camera go into
 *   one slot; so the browser keeps lips and voice together, whichever participant is in it.
 * - A WebSocket that breaks costs nothing: media flows on, and signalling.js has the session go on over another one. Only
 *   where the server has given the session up it is joined again, with a new RTCPeerConnection and the same publications.
 *
 * Nothing here touches the page. docs/roost-js.md has an example, docs/signalling.md the messages. The types of roost.d.ts are
 * made of the comments here.
 * @module roost
 */

import { Negotiation } from "./negotiation.js";
import { Playback } from "./playback.js";
import { Preferences } from "./preferences.js";
import { Publication } from "./publication.js";
import { Roster } from "./roster.js";
import { RoostError, Signalling } from "./signalling.js";
export { Publication, RoostError };

// The types that comments here name are those of types.js.

/** Messages that are events as they come. */
const passedOn = new Set(["stream", "data", "token", "draining"]);

/** One participant's session in one room. Its events are CustomEvents, whose details are those of `RoomEvents`. */
export class Room extends EventTarget {
  #signalling;
  #negotiation;
  #roster = new Roster();
  #playback;
  #preferences;

  /** @param {RoomOptions} options */
  constructor(options) {
    super();
    const all = { ...options, slots: options.slots ?? 4, patience: options.patience ?? 300 };
    this.#signalling = new Signalling(all, {
      waiting: (message) => this.#emit("waiting", message),
      joined: (message) => this.#joined(message),
      resumed: (message) => this.#resumed(message),
      message: (message) => this.#receive(message),
      state: (state) => this.#emit("state", state),
      ended: (end) => {
        this.#negotiation.close();
        this.#emit("closed", end);
      },
    });
    this.#preferences = new Preferences(this.#signalling);
    this.#negotiation = new Negotiation(this.#signalling, all, {
      answered: () => this.#settle(),
      connection: (state) => this.#emit("connection", state),
      error: (error) => this.#emit("error", error),
    });
    this.#playback = new Playback(this.#roster, (mid) => this.#negotiation.receiver(mid), (media) => this.#emit("media", media));
  }

  /** The others, by id. @type {Map<string, Participant>} */
  get participants() {
    return this.#roster.participants;
  }

  /** Oneself; null before `connect`. @type {Participant | null} */
  get me() {
    return this.#roster.me;
  }

  /** Whether the server records the room. @type {boolean} */
  get isRecorded() {
    return this.#roster.isRecorded;
  }

  /** Those who wait to be let in; hosts alone see them. @type {Waiter[]} */
  get waiting() {
    return this.#roster.waiting;
  }

  /** For statistics; null before `connect`. @type {RTCPeerConnection | null} */
  get connection() {
    return this.#negotiation.connection;
  }

  /** What is being sent. @type {Publication[]} */
  get publications() {
    return this.#negotiation.publications;
  }

  /** What plays in a section of the connection. @param {string} mid @returns {{track: Track, participant: Participant} | null} */
  trackAt(mid) {
    const known = this.#playback.at(mid);
    return known ? { track: known.track, participant: this.participants.get(known.participant) } : null;
  }

  /**
   * Joins. Where a host has to let one in it waits for that, and the event `waiting` says so.
   * @returns {Promise<Joined>} the state of the room, as in the event `joined`
   * @throws {RoostError}
   */
  async connect() {
    const joined = await this.#signalling.join();
    try {
      await this.#negotiation.negotiate();
    } catch (error) {
      this.#signalling.withdraw();
      this.#negotiation.close();
      throw error;
    }
    return joined;
  }

  /**
   * Sends tracks; those of one call are played together.
   * @param {MediaStream | MediaStreamTrack[]} media
   * @param {{audio?: Source, video?: Source}} [sources] what they are: a camera and a microphone unless given
   * @param {{encrypted?: boolean}} [options] `encrypted`: a transform of the page's encrypts the frames end to end, so the server adds
   *   nothing to them
   * @returns {Promise<Publication[]>} one for each track
   * @throws {RoostError} where the server can't carry any of it
   */
  async publish(media, sources = { video: "camera", audio: "microphone" }, { encrypted = false } = {}) {
    const added = this.#negotiation.add(media instanceof MediaStream ? media.getTracks() : media, sources, encrypted);
    try {
      await this.#negotiation.negotiate();
    } catch (error) {
      for (const publication of added) this.#negotiation.drop(publication);
      throw error;
    }
    const taken = added.filter((publication) => publication.id);
    if (taken.length === 0 && added.length > 0) throw new RoostError("declined", "nothing of it can be carried");
    return taken;
  }

  /** Stops sending; the MediaStreamTrack itself goes on. @param {Publication[]} publications */
  async unpublish(publications) {
    for (const publication of publications) this.#negotiation.drop(publication);
    await this.#negotiation.negotiate();
  }

  /**
   * What everyone sees of a publication, such as whether an administrator has muted it.
   * @param {Publication} publication
   * @returns {Track | null}
   */
  trackOf({ id }) {
    return this.me?.tracks.find((track) => track.id === id) ?? null;
  }

  /**
   * Mutes a publication or unmutes it; everyone sees that.
   * @param {Publication} publication
   * @param {boolean} muted
   * @throws {RoostError} `not-allowed`: an administrator's mute stands, and the publication stays muted
   */
  async mute(publication, muted) {
    await this.#negotiation.mute(publication, muted);
  }

  /** Changes what others see of oneself. @param {{name?: string, metadata?: string, attributes?: Attributes}} change */
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

  /**
   * Raises one's hand, or lowers it.
   * @param {boolean} [raised] true unless given
   * @param {string} [participant] the id of another, whose hand a host lowers
   */
  async raiseHand(raised = true, participant = undefined) {
    await this.#signalling.request({ type: "hand", raised, ...(participant && { participant }) });
  }

  /** Lets one in who waits, or refuses it; for hosts. @param {string} waiting a Waiter's id @param {boolean} [allowed] true unless given */
  async admit(waiting, allowed = true) {
    await this.#signalling.request({ type: "admit", waiting, ...(!allowed && { allowed }) });
  }

  /**
   * Asks for a track, as for one that had to wait.
   * @param {string} track its id
   * @param {{mid?: string, quality?: PictureQuality, maxWidth?: number, maxHeight?: number, maxFrameRate?: number,
   *   priority?: number}} [options]
   */
  async subscribe(track, options = {}) {
    await this.#preferences.prefer({ type: "subscribe", track, ...options });
  }

  /** Gives a track up. @param {string} track its id */
  async unsubscribe(track) {
    await this.#preferences.prefer({ type: "unsubscribe", track });
  }

  /**
   * Says how tracks are shown, so that no more is sent than that; whether they play stays as it is.
   * @param {ViewedTrack[]} tracks widths and heights in device pixels
   */
  async view(tracks) {
    await this.#preferences.view(tracks);
  }

  /**
   * Asks what one gets of each track, and why; once a second at most.
   * @returns {Promise<{transport?: TransportReport, subscriptions: ExplainedStream[]}>}
   */
  async explain() {
    const { transport, subscriptions } = await this.#signalling.request({ type: "explain" });
    return { transport, subscriptions };
  }

  /** Looks for another way to the server, as after a change of network. */
  async restartIce() {
    await this.#negotiation.negotiate({ iceRestart: true });
  }

  /** Says goodbye. `closed` follows, if one was in. */
  leave() {
    this.#signalling.leave();
    this.#negotiation.close();
  }

  // -- coming and coming back

  /** The session begins, or another one in place of that which the server has given up. */
  #joined(message) {
    const isRenewal = this.connection !== null;
    this.#end(this.#roster.tracks);
    this.#negotiation.begin(message.iceServers);
    const gone = this.#roster.begin(message);
    this.#playback.begin();
    this.#emit("joined", { ...message, gone });
    if (isRenewal) this.#negotiation.renew(() => this.#preferences.sayAgain((id) => this.#roster.track(id) !== undefined));
  }

  /** What was missed comes next; only what is named by the message itself is taken here. */
  #resumed(message) {
    this.#playback.resume(message.lastEvent);
    this.#negotiation.resume(message);
    this.#assign(message.slots);
  }

  /** Slots have changed: what plays follows behind the answer that made the sections, should one be on its way into the connection. */
  #assign(slots) {
    this.#playback.assign(slots);
    this.#negotiation.after(() => this.#settle());
  }

  #settle() {
    this.#playback.settle(this.#signalling.lastEvent);
  }

  // -- messages

  #receive(message) {
    switch (message.type) {
      case "event":
        this.#follow(message.event);
        break;
      case "answer":
        this.#negotiation.answered();
        // What plays changes once the connection has taken it in.
        this.#playback.assign(message.slots);
        break;
      case "slots":
        this.#assign(message.assignments);
        break;
      case "offerWanted":
        this.#negotiation.addWanted(message);
        break;
      case "publish":
        this.#negotiation.hearAdvice(message);
        break;
      case "speakers":
        this.#emit("speakers", message.speakers);
        break;
      case "history":
        this.#emit("history", message.messages);
        break;
      case "quality":
        for (const each of message.participants) this.#emit("quality", each);
        break;
      case "error":
        this.#emit("error", message.error);
        break;
      default: // A newer server says more than is known here.
        if (passedOn.has(message.type)) this.#emit(message.type, message);
    }
  }

  #follow(event) {
    const withdrawn = this.#roster.follow(event, (ids) => {
      this.#preferences.drop(ids);
      this.#end(ids);
    });
    if (withdrawn) this.#negotiation.withdrawn(withdrawn);
    if (this.#playback.isDue(event.id)) this.#assign([]);
    this.#emit("event", event);
  }

  /** Tracks of others are over, as far as this session goes. */
  #end(ids) {
    this.#playback.end(ids);
    this.#roster.drop(ids);
  }

  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
