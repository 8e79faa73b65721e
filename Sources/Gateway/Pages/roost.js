// A client of Roost's native protocol: one WebSocket for messages, one RTCPeerConnection for media.
//
//   const room = new Room({ url: location.origin, room: "demo", token });
//   room.addEventListener("slot", ({ detail }) => show(detail));
//   await room.connect();
//   await room.publish(await navigator.mediaDevices.getUserMedia({ audio: true, video: true }));
//
// How it works, for whoever writes a client of their own:
// - The client always offers, the server answers; so two offers never cross. One is in flight at a time.
// - Beside what it sends, the client offers receive-only sections ahead of need, as pairs of audio and video:
//   the slots. The server puts tracks into them and takes them out by message, without renegotiation, and asks
//   for more by `offerWanted`.
// - Audio and video of one slot share a MediaStream, whose id stays the same while people come and go; so one
//   <video> element for each stream is all there is to play, and the browser keeps lips and voice together.
//
// Events (CustomEvent, `detail` as given):
//   joined {participant, room, participants}   the state of the room on arrival
//   event  {id, type, participant?, track?, …} what happens in it afterwards
//   slot   {stream, tracks, participant}       what a slot plays now; `tracks` is empty when nothing does
//   published {tracks}                         the ids of one's own tracks, by mid
//   error  {code, message, retry}              a refusal that ends nothing
//   closed {reason, code}                      the end; nothing comes after it

export class Room extends EventTarget {
  #options;
  #socket = null;
  #connection = null;
  #nextRequest = 1;
  #waiting = new Map(); // request id → {resolve, reject}
  #participants = new Map(); // participant id → participant
  #tracks = new Map(); // track id → {track, participant}
  #slots = new Map(); // mid → track id
  #streams = new Map(); // mid → MediaStream
  #published = new Map(); // transceiver → {source, name}
  #negotiation = Promise.resolve();
  #pinging = null;
  #reason = null;

  /** @param {{url: string, room: string, token: string, slots?: number}} options `slots`: pairs offered at first. */
  constructor(options) {
    super();
    this.#options = { slots: 4, ...options };
  }

  get connection() {
    return this.#connection;
  }

  /** Joins; resolves with the state of the room. */
  async connect() {
    const url = new URL(`/v1/rooms/${encodeURIComponent(this.#options.room)}/connect`, this.#options.url);
    url.protocol = url.protocol.replace("http", "ws");
    this.#socket = new WebSocket(url, "roost.v1");
    this.#socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    this.#socket.onclose = (event) => this.#ended(event);
    await new Promise((resolve, reject) => {
      this.#socket.onopen = resolve;
      this.#socket.onerror = () => reject(new Error("the server cannot be reached"));
    });
    // A browser can give a WebSocket no header, so the token is the first message.
    const joined = await this.#request({ type: "auth", token: this.#options.token });
    this.#pinging = setInterval(() => this.#send({ type: "ping" }), joined.pingInterval * 1000);

    const connection = new RTCPeerConnection({ iceServers: joined.iceServers, bundlePolicy: "max-bundle" });
    connection.onicecandidate = ({ candidate }) => {
      if (candidate?.candidate) {
        this.#send({ type: "candidate", candidate: candidate.candidate, mid: candidate.sdpMid });
      }
    };
    connection.ontrack = ({ transceiver, streams }) => this.#streams.set(transceiver.mid, streams[0]);
    connection.onconnectionstatechange = () =>
      this.dispatchEvent(new CustomEvent("connection", { detail: connection.connectionState }));
    this.#connection = connection;
    this.#addSlots(this.#options.slots, this.#options.slots);
    await this.#negotiate();
    return joined;
  }

  /** Sends a stream's tracks. `sources` says what they are: camera and microphone, or a screen and its sound. */
  async publish(stream, sources = { video: "camera", audio: "microphone" }) {
    for (const track of stream.getTracks()) {
      const transceiver = this.#connection.addTransceiver(track, { direction: "sendonly", streams: [stream] });
      this.#published.set(transceiver, { source: sources[track.kind] });
    }
    await this.#negotiate();
  }

  /** Stops sending a stream's tracks; they themselves go on. */
  async unpublish(stream) {
    for (const transceiver of [...this.#published.keys()]) {
      if (!stream.getTracks().includes(transceiver.sender.track)) continue;
      transceiver.stop();
      this.#published.delete(transceiver);
    }
    await this.#negotiate();
  }

  leave() {
    this.#send({ type: "leave" });
    this.#connection?.close();
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
      const tracks = [...this.#published]
        .map(([transceiver, { source, name }]) => ({ mid: transceiver.mid, source, name }));
      let answer;
      try {
        answer = await this.#request({ type: "offer", sdp: connection.localDescription.sdp, tracks });
      } catch (error) {
        await connection.setLocalDescription({ type: "rollback" });
        throw error;
      }
      await connection.setRemoteDescription({ type: "answer", sdp: answer.sdp });
      this.dispatchEvent(new CustomEvent("published", { detail: { tracks: answer.tracks } }));
      this.#assign(answer.slots);
      for (const { mid, code } of answer.declined) this.#report({ code, message: `section ${mid} is declined` });
    });
    this.#negotiation = next.catch(() => {});
    return next;
  }

  #assign(slots) {
    const changed = new Set();
    for (const { mid, track } of slots) {
      if ((this.#slots.get(mid) ?? null) === track) continue;
      track ? this.#slots.set(mid, track) : this.#slots.delete(mid);
      if (this.#streams.has(mid)) changed.add(this.#streams.get(mid));
    }
    for (const stream of changed) this.#announce(stream);
  }

  #announce(stream) {
    const known = [...this.#slots]
      .filter(([mid]) => this.#streams.get(mid) === stream)
      .map(([, id]) => this.#tracks.get(id))
      .filter(Boolean);
    const participant = this.#participants.get(known[0]?.participant) ?? null;
    const detail = { stream, tracks: known.map(({ track }) => track), participant };
    this.dispatchEvent(new CustomEvent("slot", { detail }));
  }

  // -- messages

  #receive(message) {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    switch (message.type) {
      case "joined":
        for (const participant of message.participants) this.#know(participant);
        this.dispatchEvent(new CustomEvent("joined", { detail: message }));
        break;
      case "event":
        this.#follow(message.event);
        break;
      case "slots":
        // After the answer that made the sections, should one be on its way into the connection.
        this.#negotiation = this.#negotiation.then(() => this.#assign(message.assignments));
        break;
      case "offerWanted":
        this.#addSlots(message.audio, message.video);
        this.#negotiate({ iceRestart: message.reason === "iceRestart" }).catch((error) => this.#report(error));
        break;
      case "error":
        if (waiting) waiting.reject(Object.assign(new Error(message.message), message));
        else this.#report(message);
        return;
      case "closed":
        this.#reason = message.reason;
        break;
    }
    waiting?.resolve(message);
  }

  #know(participant) {
    this.#participants.set(participant.id, participant);
    for (const track of participant.tracks) {
      this.#tracks.set(track.id, { track, participant: participant.id });
    }
  }

  #follow(event) {
    const { type, participant, track } = event;
    if (type === "participant.left") this.#participants.delete(participant.id);
    else if (participant) this.#know(participant);
    if (track && participant) {
      if (type === "track.unpublished") this.#tracks.delete(track.id);
      else this.#tracks.set(track.id, { track, participant: participant.id });
    }
    this.dispatchEvent(new CustomEvent("event", { detail: event }));
  }

  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #request(message) {
    const id = this.#nextRequest++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ ...message, id });
    });
  }

  #report({ code = "client", message, retry = "never" }) {
    this.dispatchEvent(new CustomEvent("error", { detail: { code, message, retry } }));
  }

  #ended({ code }) {
    clearInterval(this.#pinging);
    this.#connection?.close();
    const reason = this.#reason ?? "connectionLost";
    for (const { reject } of this.#waiting.values()) reject(new Error(`the connection has ended: ${reason}`));
    this.#waiting.clear();
    this.dispatchEvent(new CustomEvent("closed", { detail: { reason, code } }));
  }
}
