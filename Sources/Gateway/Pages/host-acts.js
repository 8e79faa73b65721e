// What hosts can do: mute, lower a hand, remove, let in, lock. The server alone decides whether one may.

import { build, button } from "/build.js";
import { nameOf } from "/elements.js";
import { joinProblem } from "/messages.js";
import { notice, tell } from "/notices.js";
import { REST } from "/rest.js";
import { say } from "/words.js";

const sources = ["microphone", "camera", "screen_share"];
const refusals = { 403: "not-allowed", 429: "rate-limited", 503: "unavailable" };

export class HostActs {
  #call;

  /** @param {import("/call.js").Call} call */
  constructor(call) {
    this.#call = call;
  }

  /** Puts into a row what can be done to a participant now; the buttons that stay keep the focus. */
  fill(place, participant) {
    const name = nameOf(participant);
    const wanted = new Map();
    for (const source of sources) {
      const track = participant.tracks.find((each) => each.source === source);
      if (!track) continue;
      const state = track.mutedByAdmin ? "allow" : "mute";
      wanted.set(`${state}.${source}`, () => this.#ask((rest, room) => rest.mute(room, participant.identity, track.id, !track.mutedByAdmin),
        say(`hosts.done.${state}`, { name })));
    }
    if (participant.hand) wanted.set("lower", () => this.#try(() => this.#call.room.raiseHand(false, participant.id)));
    wanted.set("remove", () => this.#remove(participant));
    const hadFocus = place.contains(document.activeElement);
    for (const each of [...place.children]) if (!wanted.has(each.dataset.act)) each.remove();
    for (const [act, doIt] of wanted) {
      let found = [...place.children].find((each) => each.dataset.act === act);
      found ??= place.appendChild(button(say(`hosts.${act}`), () => found.act(), { "data-act": act }));
      found.act = doIt;
    }
    if (hadFocus && !place.contains(document.activeElement)) place.firstElementChild.focus();
  }

  lock(isLocked) {
    return this.#ask((rest, room) => rest.change(room, { locked: isLocked }), say(isLocked ? "hosts.done.lock" : "hosts.done.unlock"));
  }

  /** @param {string} waiting a Waiter's id @returns {Promise<boolean>} whether the server has taken it */
  admit(waiting, allowed) {
    return this.#try(() => this.#call.room.admit(waiting, allowed));
  }

  async #remove(participant) {
    const name = nameOf(participant);
    const answer = await this.#confirm(say("hosts.remove.ask", { name }));
    if (answer) await this.#ask((rest, room) => rest.remove(room, participant.identity), say("hosts.done.remove", { name }));
  }

  #confirm(question) {
    const no = build("button", { value: "" }, say("all.cancel"));
    const yes = build("button", { value: "yes", class: "primary danger" }, say("hosts.remove"));
    const dialog = build("dialog", { "aria-labelledby": "confirm-title", "aria-describedby": "confirm-text" },
      build("h2", { id: "confirm-title", dir: "auto" }, question), build("p", { id: "confirm-text" }, say("hosts.remove.what")),
      build("form", { method: "dialog", class: "choice" }, no, yes));
    document.body.append(dialog);
    dialog.showModal();
    return new Promise((resolve) => dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    }));
  }

  /** By REST, with the token that serves in the call. */
  #ask(act, done) {
    const { token, roomName } = this.#call;
    return this.#try(async () => {
      await act(new REST(token), roomName);
      tell(done);
    });
  }

  async #try(act) {
    try {
      await act();
      return true;
    } catch (error) {
      // What has gone, or is no longer there to be let in, is what one wanted of it, or too late.
      if (error.status === 404 || error.code === "unknown-participant") tell(say("hosts.gone"));
      else notice(joinProblem({ message: error.message, code: error.code ?? (error.status === 0 ? "unreachable" : refusals[error.status]) }));
      return false;
    }
  }
}
