// Hands: one's own is raised and lowered here, those of others are shown and said.

import { element } from "/elements.js";
import { joinProblem } from "/messages.js";
import { announce, notice, tell } from "/notices.js";
import { say } from "/words.js";

export class Hands {
  #call;
  #stage;
  #news;
  #raised = new Set(); // ids
  #wanted = null; // what one asked for and hasn't seen yet
  #isUp = false; // one's own, as it was seen last

  /** @param {import("/call.js").Call} call @param {import("/tiles.js").Stage} stage @param {import("/news.js").News} news */
  constructor(call, stage, news) {
    this.#call = call;
    this.#stage = stage;
    this.#news = news;
    element("hand").addEventListener("click", () => this.#change());
    call.addEventListener("leave", () => this.#begin());
    call.on("joined", () => this.#beginAgain());
    call.on("event", ({ type, participant }) => {
      if (type === "participant.left") this.#forget(participant);
      else if (participant) this.#look(participant.id);
    });
    this.#begin();
  }

  /** In another session of the same call one's hand goes up again, as it was: no one has lowered it. */
  #beginAgain() {
    const wasUp = this.#call.hasEntered && (this.#wanted ?? this.#isUp);
    this.#begin();
    if (wasUp && !this.#isRaised) this.#raise(true);
  }

  /** Who came before one had their hands raised already. */
  #begin() {
    const { room } = this.#call;
    this.#raised.clear();
    this.#wanted = null;
    for (const each of [room?.me, ...room?.participants.values() ?? []]) {
      if (!each) continue;
      if (each.hand) this.#raised.add(each.id);
      this.#show(each);
    }
    this.#showOwn();
  }

  get #isRaised() {
    return Boolean(this.#call.room?.me?.hand);
  }

  #change() {
    if (this.#call.room) this.#raise(!this.#isRaised);
  }

  async #raise(isRaised) {
    const { room } = this.#call;
    this.#wanted = isRaised;
    try {
      await room.raiseHand(isRaised);
    } catch (error) {
      if (error.code === "session-gone") return; // The next session hears of it.
      this.#wanted = null;
      if (room === this.#call.room) notice(joinProblem(error));
    }
  }

  #look(id) {
    const { room } = this.#call;
    const isOwn = id === room.me?.id;
    const participant = isOwn ? room.me : room.participants.get(id);
    if (!participant) return;
    const isRaised = Boolean(participant.hand);
    this.#show(participant);
    if (isRaised === this.#raised.has(id)) return;
    if (isRaised) this.#raised.add(id);
    else this.#raised.delete(id);
    if (isOwn) this.#sayOwn(isRaised);
    else if (isRaised) this.#news.add("hand", participant);
    else this.#news.drop("hand", participant);
  }

  #sayOwn(isRaised) {
    this.#showOwn();
    if (this.#wanted === isRaised) announce(say(isRaised ? "hand.own" : "hand.own-down"));
    else tell(say(isRaised ? "hand.own" : "hand.by-host"));
    this.#wanted = null;
  }

  #show({ id, hand }) {
    const tile = this.#stage.find(id === this.#call.room.me?.id ? "own camera" : `${id} camera`);
    if (tile) tile.hand = Boolean(hand);
  }

  #showOwn() {
    this.#isUp = this.#isRaised;
    element("hand").setAttribute("aria-pressed", String(this.#isUp));
  }

  #forget(participant) {
    this.#raised.delete(participant.id);
    this.#news.drop("hand", participant);
  }
}
