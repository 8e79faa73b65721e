// The others: a tile for each, with what is known of them.

import { isolated, nameOf } from "/elements.js";
import { absence } from "/messages.js";
import { notice, say } from "/notices.js";

export class People {
  #call;
  #stage;

  /** @param {import("/call.js").Call} call @param {import("/tiles.js").Stage} stage */
  constructor(call, stage) {
    this.#call = call;
    this.#stage = stage;
    call.addEventListener("leave", () => stage.clear());
    call.on("joined", ({ participants, gone }) => {
      if (!call.hasEntered) stage.clear(); // Of an attempt that failed after this.
      // Joined anew, somebody may have gone unseen.
      for (const { id } of gone) for (const group of ["camera", "screen"]) stage.remove(`${id} ${group}`);
      for (const each of participants) this.#show(each);
    });
    call.on("event", (event) => this.#happened(event));
    call.on("media", (media) => this.#play(media));
    call.on("speakers", (speakers) => this.#showSpeakers(speakers));
    call.on("quality", ({ participant, quality }) => {
      const tile = this.#camera(participant);
      if (tile) tile.quality = quality;
    });
    call.on("stream", (stream) => this.#showAbsence(stream));
  }

  #camera(id) {
    return this.#stage.find(id === this.#call.room.me?.id ? "own camera" : `${id} camera`);
  }

  #happened({ type, participant, track }) {
    if (!participant || participant.id === this.#call.room.me?.id) return;
    const name = isolated(nameOf(participant));
    switch (type) {
      case "participant.joined":
        say(`${name} has joined`);
        break;
      case "participant.left":
        this.#stage.remove(`${participant.id} camera`);
        this.#stage.remove(`${participant.id} screen`);
        say(`${name} has left`);
        return;
      case "track.published":
        if (track.source === "screen_share") say(`${name} shares a screen`);
        break;
      default:
    }
    this.#show(this.#call.room.participants.get(participant.id));
  }

  #show(participant) {
    if (!participant) return;
    const tile = this.#stage.tile(`${participant.id} camera`, { own: false, group: "camera" });
    tile.name = nameOf(participant);
    const microphone = participant.tracks.filter(({ source }) => source === "microphone");
    tile.muted = microphone.length === 0 || microphone.every(({ muted }) => muted);
    const camera = participant.tracks.find(({ source }) => source === "camera");
    if (!camera || camera.muted) tile.hasPicture = false;
    else if (tile.isPlaying) tile.hasPicture = true;
    if (!camera) tile.note = "";
  }

  async #play({ participant, group, stream, tracks }) {
    const key = `${participant.id} ${group}`;
    if (group === "screen" && tracks.length === 0) {
      this.#stage.remove(key);
      return;
    }
    const tile = this.#stage.tile(key, { own: false, group });
    tile.name = nameOf(participant);
    const picture = tracks.find(({ kind }) => kind === "video");
    tile.isPlaying = picture !== undefined;
    if (picture) tile.note = "";
    if (await tile.play(stream, picture !== undefined && !picture.muted)) {
      notice("The browser waits for a click before it plays sound.", "Turn the sound on", () => this.#stage.playAll());
    }
  }

  #showAbsence({ track, state, reason }) {
    for (const participant of this.#call.room.participants.values()) {
      const found = participant.tracks.find(({ id }) => id === track);
      if (found?.kind !== "video") continue;
      const tile = this.#stage.find(`${participant.id} ${found.source === "screen_share" ? "screen" : "camera"}`);
      if (tile) tile.note = absence({ state, reason });
    }
  }

  #showSpeakers(speakers) {
    const speaking = new Set(speakers.map(({ participant }) => participant));
    for (const id of [this.#call.room.me?.id, ...this.#call.room.participants.keys()]) {
      const tile = this.#camera(id);
      if (tile) tile.speaking = speaking.has(id);
    }
  }
}
