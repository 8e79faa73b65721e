// When something that is amiss is said: not at once, not for ever, and not where it is nothing.

/** Something that holds for a while before it is said, and is over for a while before it is said no more. */
export class Lasting {
  #before;
  #after;
  #isSaid = false;
  #since = null;

  /** @param {number} before ms for which it holds until it is said @param {number} after ms for which it doesn't until it is not */
  constructor(before, after) {
    this.#before = before;
    this.#after = after;
  }

  /** @param {boolean} holds @param {number} now ms @returns {boolean} whether it is to be said */
  take(holds, now) {
    if (holds === this.#isSaid) this.#since = null;
    else this.#since ??= now;
    if (this.#since !== null && now - this.#since >= (this.#isSaid ? this.#after : this.#before)) {
      this.#isSaid = holds;
      this.#since = null;
    }
    return this.#isSaid;
  }

  reset() {
    this.#isSaid = false;
    this.#since = null;
  }
}

const span = 15_000; // ms that are looked at
const enough = 4000; // ms that were lost in them
const slight = 500; // ms; nothing comes earlier or later by that little
const asleep = 90_000; // ms; no browser holds a page back for as long, but a lid that is closed does

/** Whether the browser holds the page back: its timers come late. */
export class Lateness {
  #every;
  #last = null;
  #losses = []; // when, and how much

  /** @param {number} every ms between two beats, if nothing is late */
  constructor(every) {
    this.#every = every;
  }

  /** A beat. @param {number} now ms @returns {boolean} */
  take(now) {
    const lost = this.#last === null ? 0 : now - this.#last - this.#every;
    this.#last = now;
    if (lost > asleep) this.#losses = [];
    else if (lost > slight) this.#losses.push([now, lost]);
    this.#losses = this.#losses.filter(([at]) => now - at < span);
    return this.#losses.reduce((sum, [, each]) => sum + each, 0) >= enough;
  }
}

/** Of the full scale, one step of 16 bits: any microphone that works hears more than that, in the most silent of rooms. */
const least = 2 ** -15;
const patience = 8000; // ms

/** A microphone from which nothing comes at all although one may be expected to speak. */
export class Silence {
  #spent = 0;
  #isHeard = false;

  /** Whether it works, as far as is known. */
  get isHeard() {
    return this.#isHeard;
  }

  /**
   * @param {number} peak of the last `span` ms, 0 to 1 @param {boolean} isExpected whether one may be expected to speak
   * @returns {boolean} whether it is to be said
   */
  take(peak, isExpected, span) {
    if (peak >= least) {
      this.#isHeard = true;
      this.#spent = 0;
    } else if (!this.#isHeard && isExpected) {
      this.#spent += span;
    }
    return this.#spent >= patience;
  }
}
