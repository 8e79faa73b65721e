// What is amiss at one's own end, said above the tiles for as long as it is: a weak connection, a microphone from which nothing comes, a
// page that the browser holds back.

import { Unheard } from "/unheard.js";
import { Lasting, Lateness } from "/watches.js";
import { say } from "/words.js";

const beat = 1000; // ms
const grace = 10_000; // ms in which a connection that was broken finds its pace again

export class Trouble {
  #call;
  #switches;
  #stage;
  #banner;
  #timer = 0;
  #calmFrom = 0;
  #isSpokenTo = false;
  #starved = new Set(); // ids of tracks for which one's own connection has no room
  #closed = new Set(); // what the user has seen enough of
  #weak = new Lasting(6000, 6000);
  #late = new Lateness(beat);
  #unheard;

  /** @param {import("/call.js").Call} call which has begun @param {import("/devices.js").Devices} devices
   * @param {import("/switches.js").Switches} switches @param {import("/tiles.js").Stage} stage @param {import("/banner.js").Banner} banner */
  constructor(call, devices, switches, stage, banner) {
    this.#call = call;
    this.#switches = switches;
    this.#stage = stage;
    this.#banner = banner;
    this.#unheard = new Unheard(devices);
    call.addEventListener("enter", () => this.#begin());
    call.addEventListener("leave", () => this.#end());
    call.on("speakers", (speakers) => (this.#isSpokenTo = speakers.some(({ participant }) => participant !== call.room.me?.id)));
    call.on("stream", ({ track, state, reason }) => {
      if (state === "paused" && reason === "bandwidth") this.#starved.add(track);
      else this.#starved.delete(track);
    });
    call.on("joined", () => this.#starved.clear());
    for (const type of ["state", "connection"]) call.on(type, () => (this.#calmFrom = performance.now() + grace));
    stage.addEventListener("layout", () => this.#showDeclined());
    if (call.hasEntered) this.#begin();
  }

  #begin() {
    clearInterval(this.#timer);
    this.#calmFrom = performance.now() + grace;
    this.#late = new Lateness(beat);
    this.#timer = setInterval(() => this.#beat(), beat);
  }

  #end() {
    clearInterval(this.#timer);
    this.#unheard.rest();
    this.#weak.reset();
    this.#starved.clear();
    this.#closed.clear();
    this.#isSpokenTo = false;
  }

  #beat() {
    const now = performance.now();
    this.#show("throttled", this.#late.take(now), "trouble.throttled");
    // Once they are off there is nothing more to do about it.
    this.#show("weak", this.#isWeak(now), this.#stage.declines ? null : "trouble.weak",
      { label: say("layout.decline"), action: () => (this.#stage.declines = true) });
    // Who speaks to an empty room, or while another does, isn't missed.
    const isExpected = this.#call.room.participants.size > 0 && !this.#isSpokenTo && !document.hidden;
    this.#show("silent", this.#unheard.take(isExpected, beat), "trouble.silent",
      { label: say("choices.other"), action: () => this.#switches.choose("microphone") });
  }

  #isWeak(now) {
    const tracks = new Set([...this.#call.room.participants.values()].flatMap((each) => each.tracks.map(({ id }) => id)));
    const isStarved = [...this.#starved].some((id) => tracks.has(id));
    const quality = this.#stage.find("own camera")?.quality;
    return this.#weak.take(now > this.#calmFrom && (isStarved || quality === "poor" || quality === "lost"), now);
  }

  /** The way back stays in sight, whatever one has turned them off by. */
  #showDeclined() {
    if (this.#stage.declines) this.#banner.set("weak", null);
    this.#show("declined", this.#stage.declines && this.#call.hasEntered, "trouble.declined-now",
      { label: say("trouble.accept"), action: () => (this.#stage.declines = false) });
  }

  /** What was closed isn't said again before it has been over. @param {string | null} words null: it needn't be said */
  #show(kind, holds, words, options = {}) {
    if (!holds) this.#closed.delete(kind);
    const close = () => {
      this.#closed.add(kind);
      this.#banner.set(kind, null);
    };
    this.#banner.set(kind, holds && words && !this.#closed.has(kind) ? say(words) : null, { ...options, close });
  }
}
