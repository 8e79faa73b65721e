/**
 * Who is in the room, and what each publishes, as the server says it.
 * @module roster
 */

/**
 * @typedef {import("./types.js").Track} Track
 * @typedef {import("./types.js").Participant} Participant
 * @typedef {import("./types.js").Waiter} Waiter
 */

export class Roster {
  /** The others, by id. @type {Map<string, Participant>} */
  participants = new Map();
  /** Oneself. @type {Participant | null} */
  me = null;
  isRecorded = false;
  /** Those who wait to be let in, as hosts see them. @type {Waiter[]} */
  waiting = [];
  #tracks = new Map(); // track id → {track, participant}

  /** A session begins. @returns {Participant[]} those of the one before who have gone */
  begin({ participant, participants, room, waiting = [] }) {
    const before = this.participants;
    this.me = participant;
    this.isRecorded = room?.recorded ?? false;
    this.waiting = waiting;
    this.participants = new Map();
    for (const each of participants) this.#know(each);
    return [...before.values()].filter(({ id }) => !this.participants.has(id));
  }

  /** A track of the others. @returns {{track: Track, participant: string} | undefined} */
  track(id) {
    return this.#tracks.get(id);
  }

  /** All tracks of the others. @returns {string[]} */
  get tracks() {
    return [...this.#tracks.keys()];
  }

  /**
   * What has happened.
   * @param {object} event
   * @param {(ids: string[]) => void} over is called with the tracks of others that end, while they are still known
   * @returns {string | null} a track of one's own that the room no longer has
   */
  follow(event, over) {
    const { type, track } = event;
    if (event.recording) this.isRecorded = event.recording.active;
    if (event.waiting) {
      const others = this.waiting.filter(({ id }) => id !== event.waiting.id);
      this.waiting = type === "participant.waiting" ? [...others, event.waiting] : others;
    }
    const participant = this.#after(event);
    if (!participant) return null;
    if (participant.id === this.me?.id) {
      this.me = participant;
      return type === "track.unpublished" ? track.id : null;
    }
    if (type === "participant.left") {
      over([...this.#tracks].filter(([, known]) => known.participant === participant.id).map(([id]) => id));
      this.participants.delete(participant.id);
      return null;
    }
    this.#know(participant);
    if (type === "track.unpublished") over([track.id]);
    return null;
  }

  /** Tracks that are over are known no more. */
  drop(ids) {
    for (const id of ids) this.#tracks.delete(id);
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
}
