// What was read of each participant, for as long as charts show it.

/** ms */
export const span = 600_000;
/** ms without a reading, after which a line has a gap. */
const gap = 10_000;
/** Of so many participants: those go first who were read longest ago. */
const most = 500;

export class History {
  #readings = new Map(); // id of a participant → readings, oldest first; in the order in which they were read last

  /** @param {{id: string, received: number, sent: number, loss?: number, roundTrip?: number}[]} people @param {number} now ms */
  take(people, now) {
    for (const { id, received, sent, loss, roundTrip } of people) {
      const readings = this.#readings.get(id) ?? [];
      this.#readings.delete(id);
      this.#readings.set(id, readings);
      while (readings.length > 0 && readings[0].now < now - span) readings.shift();
      if (readings.length > 0 && now - readings.at(-1).now > gap) readings.push({ now: readings.at(-1).now });
      readings.push({ now, received, sent, loss, roundTrip });
    }
    for (const [id, readings] of this.#readings) {
      if (this.#readings.size <= most && readings.at(-1).now >= now - span) break;
      this.#readings.delete(id);
    }
  }

  /** @param {string} id of a participant @returns {{now: number, received?: number, sent?: number, loss?: number, roundTrip?: number}[]} */
  of(id) {
    return this.#readings.get(id) ?? [];
  }

  clear() {
    this.#readings.clear();
  }
}
