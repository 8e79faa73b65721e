// One's own screen, shared with the others.

import { element, sign, text } from "/elements.js";
import { isPermitted } from "/hosts.js";
import { mayPublish } from "/invitation.js";
import { deviceProblem, joinProblem, notPermitted } from "/messages.js";
import { notice, tell } from "/notices.js";
import { say } from "/words.js";

export class Screen {
  #call;
  #stage;
  #stream = null;
  #publications = [];
  #card = null;
  #stopped = new Set(); // ids of what one has stopped oneself, until the server says so
  #noted = ""; // what was last said of whether the others see it

  /** @param {import("/call.js").Call} call @param {import("/tiles.js").Stage} stage */
  constructor(call, stage) {
    this.#call = call;
    this.#stage = stage;
    // No browser on a phone has it.
    element("screen").hidden = !navigator.mediaDevices?.getDisplayMedia;
    element("screen").addEventListener("click", () => (this.#stream ? this.#stop() : this.#share()));
    call.addEventListener("enter", () => this.#showPermission());
    call.addEventListener("leave", () => {
      this.#stop();
      this.#stopped.clear();
    });
    call.on("event", ({ type, participant, track }) => {
      if (participant?.id !== call.room.me?.id) return;
      this.#showPermission();
      // The end of one share may be heard in the middle of the next.
      if (type === "track.unpublished" && this.#stopped.delete(track.id)) return;
      const isOver = type === "track.unpublished" || (type === "track.muted" && track.mutedByAdmin);
      if (isOver && track.source === "screen_share" && this.#stream) this.#stop(say("host.screen-stopped"));
      else if (track?.source === "screen_share_audio") this.#hearHost(track);
      this.#note();
    });
    if (call.hasEntered) this.#showPermission();
  }

  get #isPermitted() {
    const permissions = this.#call.room?.me?.permissions;
    return permissions ? isPermitted(permissions, "screen_share") : mayPublish("screen_share");
  }

  #showPermission() {
    const button = element("screen");
    if (this.#isPermitted) button.removeAttribute("aria-disabled");
    else button.setAttribute("aria-disabled", "true");
  }

  /** The sound of a screen that an administrator has muted comes back with the administrator's word alone. */
  #hearHost({ id, mutedByAdmin }) {
    const publication = this.#publications.find((each) => each.id === id);
    if (!publication?.track || publication.track.enabled === !mutedByAdmin) return;
    publication.track.enabled = !mutedByAdmin;
    tell(say(mutedByAdmin ? "host.screen-muted" : "host.screen-unmuted"));
  }

  /** Says whether the others see it: where a host has stopped one, the next is seen once a host allows it. */
  #note() {
    if (!this.#stream || this.#publications.length === 0) return;
    const tracks = this.#publications.map((each) => this.#call.room.trackOf(each));
    const isHeld = tracks.some((track) => track?.source === "screen_share" && track.mutedByAdmin);
    const words = say(isHeld ? "screen.held" : "screen.shared");
    if (words === this.#noted) return;
    this.#noted = words;
    this.#card.querySelector("p").textContent = words;
    tell(words);
  }

  async #share() {
    if (!this.#isPermitted) {
      tell(notPermitted(["screen"]));
      return;
    }
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
        await this.#unpublish(room, publications); // Ended before the server had answered.
        return;
      }
      this.#publications = publications;
      this.#note();
    } catch (error) {
      if (this.#stream !== stream) return;
      notice(joinProblem(error));
      this.#stop();
    }
  }

  /** @param {string} [why] where it isn't by one's own hand */
  #stop(why = null) {
    if (!this.#stream) return;
    stop(this.#stream);
    this.#stream = null;
    if (this.#call.room) {
      this.#unpublish(this.#call.room, this.#publications).catch(() => {});
      if (why) notice(why, { topic: "hosts" });
      else tell(say("screen.stopped"));
    }
    this.#publications = [];
    this.#show(false);
  }

  #unpublish(room, publications) {
    for (const { id } of publications) if (id) this.#stopped.add(id);
    return room.unpublish(publications);
  }

  #show(isShared) {
    element("screen").setAttribute("aria-pressed", String(isShared));
    this.#noted = "";
    if (!isShared) {
      this.#stage.remove("own screen");
      return;
    }
    const tile = this.#stage.tile("own screen", { own: true, group: "screen" });
    tile.show(this.#call.name, this.#call.room.me.identity);
    this.#card = this.#makeCard();
    tile.element.append(this.#card);
  }

  /** In place of the screen itself, which would show itself in itself, and so on. */
  #makeCard() {
    const card = text("div", "", { className: "sharing" });
    const stopping = text("button", say("layout.stop-sharing"), { type: "button", className: "stop-sharing" });
    stopping.addEventListener("click", () => {
      this.#stop();
      element("screen").focus();
    });
    card.append(sign("screen"), text("p", say("screen.shared")), stopping);
    return card;
  }
}

function stop(stream) {
  for (const track of stream.getTracks()) track.stop();
}
