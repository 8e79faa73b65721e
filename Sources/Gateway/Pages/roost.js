/**
 * A client of Roost's native protocol: one WebSocket for messages, one RTCPeerConnection for media.
 *
 *     const room = new Room({ url: location.origin, room: "demo", token });
 *     room.addEventListener("media", ({ detail }) => show(detail.participant, detail.stream));
 *     await room.connect();
 *     await room.publish(await navigator.mediaDevices.getUserMedia({ audio: true, video: true }));
 *
 * How it works, for whoever writes a client of their own:
 * - The client always offers, the server answers; so two offers never cross. One is in flight at a time.
 * - Beside what it sends, the client offers receive-only sections ahead of need, as pairs of audio and video:
 *   the slots. The server puts tracks into them and takes them out by message, without renegotiation, and asks
 *   for more by `offerWanted`.
 * - The two sections of a slot carry one msid stream id for life, and somebody's microphone and camera go into
 *   one slot; so the browser keeps lips and voice together, whoever is in it.
 *
 * Nothing here touches the page. docs/roost-js.md has an example, docs/signalling.md the messages.
 * @module roost
 */

/**
 * @typedef {object} Track what somebody sends
 * @property {string} id
 * @property {"audio" | "video"} kind
 * @property {"camera" | "microphone" | "screen_share" | "screen_share_audio" | "unknown"} source
 * @property {string} [name]
 * @property {boolean} muted
 *
 * @typedef {object} Participant
 * @property {string} id of this session; somebody who joins again has another
 * @property {string} identity
 * @property {string} [name]
 * @property {string} [metadata]
 * @property {Object<string, string>} [attributes]
 * @property {Track[]} tracks
 *
 * @typedef {"camera" | "screen"} Group what is played together: camera and microphone, or a screen and its sound
 */

/** Why the server refused something, or why there is no server. `code` is one of docs/signalling.md's, or
 * `unreachable`, `closed`, `declined`. `retry` says whether trying again can help: "never", "now" or "after". */
export class RoostError extends Error {
  constructor(code, message, retry = "never") {
    super(message);
    this.name = "RoostError";
    this.code = code;
    this.retry = retry;
  }
}

/**
 * One participant's session in one room. Events are CustomEvents with these details:
 *
 * | event | detail |
 * |---|---|
 * | `joined` | `{participant, room, participants, …}`: the state on arrival |
 * | `event` | `{id, time, type, participant?, track?, reason?}`: what happens in the room afterwards |
 * | `media` | `{participant, group, stream, tracks}`: what plays now of somebody; no `tracks` when nothing does |
 * | `speakers` | `[{participant, level}]`: who speaks, the loudest first |
 * | `quality` | `{participant, quality}`: "excellent", "good", "poor" or "lost" |
 * | `stream` | `{track, state, reason}`: why a track comes or doesn't |
 * | `data` | `{from, payload, topic}` |
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

  #options;
  #socket = null;
  #connection = null;
  #nextRequest = 1;
  #waiting = new Map(); // request id → {resolve, reject}
  #tracks = new Map(); // track id → {track, participant}
  #slots = new Map(); // mid → track id
  #playing = new Map(); // participant id and group → {participant, group, stream}
  #publications = new Set();
  #negotiation = Promise.resolve();
  #alive = null;
  #lastHeard = 0;
  #ending = null; // what is known of the end before it has come

  /**
   * @param {object} options
   * @param {string} options.url where the server is, as in "https://relay.example"
   * @param {string} options.room the room's name
   * @param {string} options.token an access token for it
   * @param {number} [options.slots] pairs that are offered at first; 4 unless given
   * @param {RTCConfiguration} [options.configuration] joined with what the server says
   */
  constructor(options) {
    super();
    this.#options = { slots: 4, ...options };
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
    const joined = await this.#open();
    const connection = new RTCPeerConnection({
      iceServers: joined.iceServers,
      bundlePolicy: "max-bundle",
      ...this.#options.configuration,
    });
    connection.addEventListener("icecandidate", ({ candidate }) => {
      if (candidate?.candidate) {
        this.#send({ type: "candidate", candidate: candidate.candidate, mid: candidate.sdpMid });
      }
    });
    connection.addEventListener("connectionstatechange", () => {
      this.#emit("connection", connection.connectionState);
      // The way to the server has broken: another may work.
      if (connection.connectionState === "failed" && this.#socket) this.restartIce().catch((error) => this.#report(error));
    });
    this.#connection = connection;
    this.#addSlots(this.#options.slots, this.#options.slots);
    await this.#negotiate();
    return joined;
  }

  /**
   * Sends tracks; those of one call are played together.
   * @param {MediaStream | MediaStreamTrack[]} media
   * @param {{audio?: string, video?: string}} [sources] what they are: a camera and a microphone unless given
   * @returns {Promise<Publication[]>} one for each track
   * @throws {RoostError} where the server can't carry any of it
   */
  async publish(media, sources = { video: "camera", audio: "microphone" }) {
    const tracks = media instanceof MediaStream ? media.getTracks() : media;
    const stream = new MediaStream(tracks);
    const added = tracks.map((track) => {
      const transceiver = this.#connection.addTransceiver(track, { direction: "sendonly", streams: [stream] });
      return new Publication(transceiver, sources[track.kind] ?? "unknown");
    });
    for (const publication of added) this.#publications.add(publication);
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

  /** Holds a publication back or lets it go on; everybody sees that. */
  async mute(publication, muted) {
    if (publication.track) publication.track.enabled = !muted;
    publication.muted = muted;
    await this.#request({ type: "mute", track: publication.id, muted });
  }

  /** Changes what others see of oneself. @param {{name?: string, metadata?: string, attributes?: object}} change */
  async update(change) {
    await this.#request({ type: "update", ...change });
  }

  /**
   * Says something to others.
   * @param {string} payload base64
   * @param {{topic?: string, reliable?: boolean, destinations?: string[]}} [options] to all unless given
   */
  async sendData(payload, options = {}) {
    await this.#request({ type: "data", payload, reliable: true, ...options });
  }

  /** Asks for a track, as for one that had to wait. @param {string} track its id */
  async subscribe(track, options = {}) {
    await this.#request({ type: "subscribe", track, ...options });
  }

  async unsubscribe(track) {
    await this.#request({ type: "unsubscribe", track });
  }

  /** Looks for another way to the server, as after a change of network. */
  restartIce() {
    return this.#negotiate({ iceRestart: true });
  }

  /** Says goodbye. `closed` follows. */
  leave() {
    this.#ending ??= { reason: "left" };
    this.#send({ type: "leave" });
    this.#connection?.close();
    // Whether or not the server answers.
    setTimeout(() => this.#socket?.close(), 500);
  }

  // -- the WebSocket

  async #open() {
    const url = new URL(`/v1/rooms/${encodeURIComponent(this.#options.room)}/connect`, this.#options.url);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url, "roost.v1");
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#receive(data);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onclose = () => reject(new RoostError("unreachable", "the server cannot be reached", "after"));
    });
    socket.onclose = (event) => this.#ended(event);
    // A browser can give a WebSocket no header, so the token is the first message.
    const joined = await this.#request({ type: "auth", token: this.#options.token });
    this.#lastHeard = performance.now();
    this.#alive = setInterval(() => this.#checkAlive(joined.pingInterval * 1000), joined.pingInterval * 1000);
    return joined;
  }

  #checkAlive(interval) {
    // A server that has vanished closes nothing, and TCP takes minutes to notice.
    if (performance.now() - this.#lastHeard > 2 * interval) this.#ended({ code: 1006 });
    else this.#send({ type: "ping" });
  }

  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** @returns the message that answers */
  #request(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) {
      return Promise.reject(new RoostError("closed", "there is no connection to the server"));
    }
    const id = this.#nextRequest++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ ...message, id });
    });
  }

  #ended({ code }) {
    if (this.#socket === null) return;
    clearInterval(this.#alive);
    this.#connection?.close();
    this.#socket.onclose = this.#socket.onmessage = null;
    this.#socket.close();
    this.#socket = null;
    const detail = { reason: "connectionLost", code, ...this.#ending };
    const error = detail.error ?? new RoostError("closed", `the connection has ended: ${detail.reason}`, "after");
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#emit("closed", detail);
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
    const next = this.#negotiation.then(async () => {
      const connection = this.#connection;
      await connection.setLocalDescription(await connection.createOffer(options));
      const tracks = [...this.#publications]
        .filter(({ mid }) => mid !== null) // Whoever came meanwhile has an offer of its own.
        .map(({ mid, source, name }) => ({ mid, source, name }));
      let answer;
      try {
        answer = await this.#request({ type: "offer", sdp: connection.localDescription.sdp, tracks });
      } catch (error) {
        if (connection.signalingState === "have-local-offer") {
          await connection.setLocalDescription({ type: "rollback" });
        }
        throw error;
      }
      await connection.setRemoteDescription({ type: "answer", sdp: answer.sdp });
      for (const publication of this.#publications) {
        publication.id ??= answer.tracks.find(({ mid }) => mid === publication.mid)?.track;
      }
      this.#assign(answer.slots);
      for (const { mid, code } of answer.declined) this.#decline(mid, code);
    });
    this.#negotiation = next.catch(() => {});
    return next;
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

  #assign(slots) {
    const changed = new Set();
    for (const { mid, track } of slots) {
      const before = this.#slots.get(mid) ?? null;
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

  /** Puts into somebody's stream what the slots have of it, and says so. */
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

  #receive(data) {
    this.#lastHeard = performance.now();
    const message = JSON.parse(data);
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    switch (message.type) {
      case "joined":
        this.me = message.participant;
        for (const participant of message.participants) this.#know(participant);
        this.#emit("joined", message);
        break;
      case "event":
        this.#follow(message.event);
        break;
      case "slots":
        // After the answer that made the sections, should one be on its way into the connection.
        this.#negotiation = this.#negotiation.then(() => this.#assign(message.assignments)).catch(() => {});
        break;
      case "offerWanted":
        this.#addSlots(message.audio, message.video);
        this.#negotiate({ iceRestart: message.reason === "iceRestart" }).catch((error) => this.#report(error));
        break;
      case "speakers":
        this.#emit("speakers", message.speakers);
        break;
      case "quality":
        for (const each of message.participants) this.#emit("quality", each);
        break;
      case "stream":
        this.#emit("stream", message);
        break;
      case "data":
        this.#emit("data", message);
        break;
      case "draining":
        this.#emit("draining", message);
        break;
      case "token":
        this.#options.token = message.token;
        break;
      case "error": {
        const error = new RoostError(message.code, message.message, message.retry);
        if (waiting) waiting.reject(error);
        else this.#report(error);
        return;
      }
      case "closed":
        this.#ending = { reason: message.reason };
        break;
      default: // A newer server says more than this client knows.
    }
    waiting?.resolve(message);
  }

  #know(participant) {
    this.participants.set(participant.id, participant);
    for (const track of participant.tracks) this.#tracks.set(track.id, { track, participant: participant.id });
  }

  #follow(event) {
    const { type, participant, track } = event;
    if (participant && participant.id === this.me?.id) {
      this.me = participant;
    } else if (type === "participant.left") {
      this.#forget([...this.#tracks].filter(([, known]) => known.participant === participant.id).map(([id]) => id));
      this.participants.delete(participant.id);
    } else if (participant) {
      this.#know(participant);
      if (type === "track.unpublished") this.#forget([track.id]);
    }
    this.#emit("event", event);
  }

  /** Tracks are over; the slots that they were in may be told to be empty later. */
  #forget(ids) {
    const keys = new Set(ids.map((id) => this.#key(id)));
    for (const [mid, track] of this.#slots) if (ids.includes(track)) this.#slots.delete(mid);
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

/** Something that is being sent. */
export class Publication {
  /** The track's id in the room; undefined until the server has answered. @type {string | undefined} */
  id;
  muted = false;
  name;

  constructor(transceiver, source) {
    this.transceiver = transceiver;
    /** As in a Track. */
    this.source = source;
  }

  get mid() {
    return this.transceiver.mid;
  }

  /** @type {MediaStreamTrack | null} */
  get track() {
    return this.transceiver.sender.track;
  }

  /** Sends another track of the same kind from now on, or none, with no new offer. */
  async replace(track) {
    await this.transceiver.sender.replaceTrack(track);
  }
}

/** @returns {Group} */
function group(track) {
  return track.source === "screen_share" || track.source === "screen_share_audio" ? "screen" : "camera";
}
