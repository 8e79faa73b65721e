/**
 * What plays: which track is in which slot, and the stream that each participant's slots make. It knows nothing of how one joins:
 * it is given who is there, the sections of the connection, and what the server assigns.
 * @module playback
 */

/** @typedef {"camera" | "screen"} Group what is played together: camera and microphone, or a screen and its sound */

export class Playback {
  #roster;
  #receiver;
  #tell;
  #assigned = new Map(); // mid → track id or null, as the server said last
  #slots = new Map(); // mid → track id, as it plays
  #settleAt = 0; // what is assigned names tracks up to this event
  #isEarly = false; // and waits for it
  #playing = new Map(); // participant id and group → {participant, group, stream}

  /**
   * @param {import("./roster.js").Roster} roster who is there
   * @param {(mid: string) => MediaStreamTrack | undefined} receiver what comes in a section of the connection
   * @param {(media: object) => void} tell hears what plays of a participant now, as in the room's event `media`
   */
  constructor(roster, receiver, tell) {
    this.#roster = roster;
    this.#receiver = receiver;
    this.#tell = tell;
  }

  /** A session begins, with nothing in its slots. */
  begin() {
    this.#slots.clear();
    this.#assigned.clear();
    this.#settleAt = 0;
    this.#isEarly = false;
  }

  /** A session goes on. What was missed comes next; what its slots have names tracks of up to that event. */
  resume(lastEvent) {
    this.#assigned.clear();
    this.#settleAt = lastEvent;
    this.#isEarly = true;
  }

  /** Whether that event was the last that what is assigned waits for: it may be one behind it, where hosts alone get that one. */
  isDue(event) {
    return this.#isEarly && event >= this.#settleAt;
  }

  /** Takes down what the server says of slots. What plays changes with the next `settle`. */
  assign(slots) {
    for (const { mid, track } of slots) this.#assigned.set(mid, track);
  }

  /** Brings what plays in line with what the server assigned. @param {number} lastEvent the last that has come */
  settle(lastEvent) {
    // Names tracks that are still to be announced.
    this.#isEarly = lastEvent < this.#settleAt;
    if (this.#isEarly) return;
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

  /** Tracks are over; the server may say later that their slots are empty. */
  end(ids) {
    const keys = new Set(ids.map((id) => this.#key(id)));
    for (const [mid, track] of this.#slots) if (ids.includes(track)) this.#slots.delete(mid);
    for (const [mid, track] of this.#assigned) if (ids.includes(track)) this.#assigned.set(mid, null);
    for (const key of keys) if (this.#playing.has(key)) this.#play(key);
  }

  /** What plays in a section. */
  at(mid) {
    return this.#roster.track(this.#slots.get(mid));
  }

  /** Names what a track is played with. */
  #key(id) {
    const known = this.#roster.track(id);
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
      const received = this.#receiver(mid);
      if (!received) continue;
      tracks.push(this.#roster.track(track).track);
      wanted.add(received);
    }
    for (const each of entry.stream.getTracks()) if (!wanted.has(each)) entry.stream.removeTrack(each);
    for (const each of wanted) entry.stream.addTrack(each);
    if (tracks.length > 0) this.#playing.set(key, entry);
    else this.#playing.delete(key);
    const participant = this.#roster.participants.get(id) ?? { id, identity: "", tracks: [] };
    this.#tell({ participant, group: name, stream: entry.stream, tracks });
  }
}

/** @returns {Group} */
function group(track) {
  return track.source === "screen_share" || track.source === "screen_share_audio" ? "screen" : "camera";
}
