// One's own camera and microphone in the call: sent, muted, changed, and one's own tile.

import { joinProblem, stoppedByHost } from "/messages.js";
import { notice } from "/notices.js";

export class Sending {
  #call;
  #devices;
  #stage;
  #publications = { camera: null, microphone: null };
  #own = new MediaStream();
  #last = Promise.resolve();

  /** @param {import("/call.js").Call} call @param {import("/devices.js").Devices} devices
   * @param {import("/tiles.js").Stage} stage */
  constructor(call, devices, stage) {
    this.#call = call;
    this.#devices = devices;
    this.#stage = stage;
    devices.addEventListener("change", () => this.#follow());
    call.addEventListener("enter", () => this.#follow());
    call.addEventListener("leave", () => (this.#publications = { camera: null, microphone: null }));
    call.on("event", (event) => {
      if (event.type === "track.unpublished" && event.participant.id === call.room.me?.id) this.#withdraw(event.track.source);
    });
  }

  #follow() {
    this.#showTile();
    this.#send("camera");
    this.#send("microphone");
  }

  #showTile() {
    if (!this.#call.hasEntered) return;
    const tile = this.#stage.tile("own camera", { own: true, group: "camera" });
    tile.show(this.#call.name, this.#call.room.me.identity);
    tile.muted = !this.#devices.isOn("microphone");
    tile.note("host", stoppedByHost(this.#devices.blocked));
    const { camera } = this.#devices;
    const [current] = this.#own.getTracks();
    if (current !== camera) {
      if (current) this.#own.removeTrack(current);
      if (camera) this.#own.addTrack(camera);
    }
    tile.element.classList.toggle("outward", this.#devices.looksAway);
    tile.play(this.#own, camera !== null);
  }

  /** Publishes what is wanted, or changes what is published: one after the other. */
  #send(kind) {
    const { room } = this.#call;
    if (!this.#call.hasEntered) return;
    this.#last = this.#last.then(() => this.#update(room, kind)).catch((error) => {
      if (room === this.#call.room) notice(joinProblem(error));
    });
  }

  async #update(room, kind) {
    if (room !== this.#call.room) return;
    const track = this.#devices[kind];
    const isOn = this.#devices.isOn(kind);
    const publication = this.#publications[kind];
    if (!publication) {
      if (!isOn) return;
      const [published = null] = await room.publish([track], { video: "camera", audio: "microphone" });
      if (room === this.#call.room) this.#publications[kind] = published;
      return;
    }
    // Another device goes into the section of the one before it: nothing is negotiated.
    if (publication.track !== track) await publication.replace(track);
    if (publication.muted !== isOn) return;
    try {
      await room.mute(publication, !isOn);
    } catch (error) {
      // What no one gets doesn't seem to be on.
      if (isOn && room === this.#call.room) this.#devices.want(kind, false);
      // A host was faster: the room's event says so.
      if (error.code !== "not-allowed" || !isOn) throw error;
    }
  }

  /** What the room no longer has, as when it is no longer allowed, is offered again once it is on. */
  #withdraw(kind) {
    const publication = this.#publications[kind];
    if (!publication || publication.id) return; // Another one, which was given up here.
    const { room } = this.#call;
    this.#publications[kind] = null;
    this.#last = this.#last.then(() => room === this.#call.room && room.unpublish([publication])).catch(() => {});
  }
}
