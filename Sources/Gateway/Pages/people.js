// The others: a tile for each, with what is known of it.

import { nameOf } from "/elements.js";
import { absence } from "/messages.js";
import { say } from "/words.js";

const groups = ["camera", "screen"];

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
      // While the session was lost, participants may have left unseen.
      for (const { id } of gone) for (const group of groups) stage.remove(`${id} ${group}`);
      for (const key of ["own", ...participants.map(({ id }) => id)]) {
        for (const group of groups) stage.setReconnecting(`${key} ${group}`, false);
      }
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

  #happened({ type, participant }) {
    if (!participant) return;
    const isOwn = participant.id === this.#call.room.me?.id;
    if (type === "participant.reconnecting" || type === "participant.reconnected") {
      const isReconnecting = type === "participant.reconnecting";
      for (const group of groups) this.#stage.setReconnecting(`${isOwn ? "own" : participant.id} ${group}`, isReconnecting);
    }
    if (isOwn) return;
    if (type === "participant.left") for (const group of groups) this.#stage.remove(`${participant.id} ${group}`);
    else this.#show(this.#call.room.participants.get(participant.id));
  }

  #show(participant) {
    if (!participant) return;
    const tile = this.#stage.tile(`${participant.id} camera`, { own: false, group: "camera" });
    tile.show(nameOf(participant), participant.identity);
    const microphone = participant.tracks.filter(({ source }) => source === "microphone");
    tile.muted = microphone.length === 0 || microphone.every(({ muted }) => muted);
    const camera = participant.tracks.find(({ source }) => source === "camera");
    if (!camera || camera.muted) tile.hasPicture = false;
    else if (tile.isPlaying) tile.hasPicture = true;
    if (!camera) tile.note("absence", "");
    this.#showScreen(participant);
  }

  /** A screen that is muted has nothing new to show. */
  #showScreen(participant) {
    const tile = this.#stage.find(`${participant.id} screen`);
    const screen = participant.tracks.find(({ source }) => source === "screen_share");
    if (!tile || !screen) return;
    tile.hasPicture = !screen.muted;
    tile.note("paused", screen.muted ? say("tile.paused") : "");
  }

  async #play({ participant, group, stream, tracks }) {
    const key = `${participant.id} ${group}`;
    if (group === "screen" && tracks.length === 0) {
      this.#stage.remove(key);
      return;
    }
    const tile = this.#stage.tile(key, { own: false, group });
    tile.show(nameOf(participant), participant.identity);
    const picture = tracks.find(({ kind }) => kind === "video");
    tile.isPlaying = picture !== undefined;
    if (picture) tile.note("absence", "");
    if (group === "screen") this.#showScreen(participant);
    const isRefused = await tile.play(stream, picture !== undefined && !picture.muted);
    if (isRefused) (await import("/pressed.js")).playWhenPressed(this.#stage);
  }

  #showAbsence({ track, state, reason }) {
    for (const participant of this.#call.room.participants.values()) {
      const found = participant.tracks.find(({ id }) => id === track);
      if (found?.kind !== "video") continue;
      const tile = this.#stage.find(`${participant.id} ${found.source === "screen_share" ? "screen" : "camera"}`);
      tile?.note("absence", absence({ state, reason }));
    }
  }

  #showSpeakers(speakers) {
    this.#stage.hear(speakers.map(({ participant }) => this.#camera(participant)).filter(Boolean));
    const speaking = new Set(speakers.map(({ participant }) => participant));
    for (const id of [this.#call.room.me?.id, ...this.#call.room.participants.keys()]) {
      const tile = this.#camera(id);
      if (tile) tile.speaking = speaking.has(id);
    }
  }
}
