// One's own screen, shown to the others.

import { element } from "/elements.js";
import { deviceProblem, joinProblem } from "/messages.js";
import { notice, say } from "/notices.js";
import { mayPublish } from "/visit.js";

export class Screen {
  #call;
  #stage;
  #stream = null;
  #publications = [];

  /** @param {import("/call.js").Call} call @param {import("/tiles.js").Stage} stage */
  constructor(call, stage) {
    this.#call = call;
    this.#stage = stage;
    // No phone's browser has it.
    element("screen").hidden = !navigator.mediaDevices?.getDisplayMedia;
    element("screen").disabled = !mayPublish("screen_share");
    element("screen").addEventListener("click", () => (this.#stream ? this.#stop() : this.#share()));
    call.addEventListener("leave", () => this.#stop());
  }

  async #share() {
    const { room } = this.#call;
    let stream;
    try {
      stream = await navigator.mediaDevices.getDisplayMedia({ video: { frameRate: { max: 30 } }, audio: true });
    } catch (error) {
      // Who changes their mind needs no message.
      if (error.name !== "NotAllowedError") notice(deviceProblem(error, "screen"));
      return;
    }
    if (this.#call.room !== room || this.#stream) {
      stop(stream);
      return;
    }
    this.#stream = stream;
    const [track] = stream.getVideoTracks();
    track.contentHint = "detail";
    // The browser has a sign of its own to end it.
    track.addEventListener("ended", () => {
      if (this.#stream === stream) this.#stop();
    });
    this.#show(true);
    try {
      const publications = await room.publish(stream, { video: "screen_share", audio: "screen_share_audio" });
      if (this.#stream !== stream) {
        await room.unpublish(publications); // Ended before the server had answered.
        return;
      }
      this.#publications = publications;
      say("You share your screen");
    } catch (error) {
      if (this.#stream !== stream) return;
      notice(joinProblem(error));
      this.#stop();
    }
  }

  #stop() {
    if (!this.#stream) return;
    stop(this.#stream);
    this.#stream = null;
    if (this.#call.room) {
      this.#call.room.unpublish(this.#publications).catch(() => {});
      say("You no longer share your screen");
    }
    this.#publications = [];
    this.#show(false);
  }

  #show(isShared) {
    element("screen").setAttribute("aria-pressed", String(isShared));
    if (!isShared) {
      this.#stage.remove("own screen");
      return;
    }
    const tile = this.#stage.tile("own screen", { own: true, group: "screen" });
    tile.name = "Your screen";
    tile.play(this.#stream, true);
  }
}

function stop(stream) {
  for (const track of stream.getTracks()) track.stop();
}
