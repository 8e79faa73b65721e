// Reactions: a few signs that one can send, which rise over the tiles and are gone. No other sign is shown, whatever is sent.

import { element, nameOf, styled, text } from "/elements.js";
import { decoded, encoded } from "/letters.js";
import { Menu } from "/menu.js";
import { joinProblem } from "/messages.js";
import { announce, notice, pass } from "/notices.js";
import { say } from "/words.js";

const topic = "reaction";
/** By their names, as they are sent. */
const signs = { like: "👍", applause: "👏", heart: "❤️", laugh: "😂", surprise: "😮", party: "🎉" };
const most = 12; // on the screen
const each = { most: 3, span: 3000 }; // so many of one participant in so many ms
const shownFor = 4000; // ms
const pause = 1500; // ms between two announcements

export class Reactions {
  #call;
  #menu;
  #times = new Map(); // sender → when its last ones came
  #heard = [];
  #timer = 0;

  /** @param {import("/call.js").Call} call */
  constructor(call) {
    this.#call = call;
    this.#menu = new Menu(element("react"), element("react-menu"), () => [{
      label: say("reaction.title"),
      items: Object.entries(signs).map(([name, sign]) => (
        { text: `${sign} ${say(`reaction.${name}`)}`, role: "menuitem", choose: () => this.#send(name) })),
    }]);
    call.on("data", ({ from, topic: about, payload }) => {
      const name = about === topic && from !== null ? decoded(payload)?.name : undefined;
      const sender = call.room.participants.get(from);
      if (sender && typeof name === "string" && Object.hasOwn(signs, name)) this.#show(sender, name);
    });
    for (const type of ["joined", "event"]) call.on(type, () => this.#permit());
    call.addEventListener("leave", () => this.#end());
    this.#permit();
    styled("/in-call.css").then(() => (element("reactions").hidden = false));
  }

  #permit() {
    const isHidden = this.#call.room?.me?.permissions?.canPublishData === false;
    element("react").hidden = isHidden;
    if (isHidden) this.#menu.close({ refocus: false });
  }

  async #send(name) {
    const { room } = this.#call;
    if (!this.#show(room.me, name)) return;
    try {
      await room.sendData(encoded({ name }), { topic, reliable: false });
    } catch (error) {
      if (room === this.#call.room) notice(joinProblem(error));
    }
  }

  /** @returns {boolean} false where the sender has been too fast */
  #show(sender, name) {
    const now = performance.now();
    const times = (this.#times.get(sender.id) ?? []).filter((time) => now - time < each.span);
    if (times.length >= each.most) return false;
    this.#times.set(sender.id, [...times, now]);
    this.#say(sender, name);
    // What no one sees needn't be drawn.
    if (document.hidden) return true;
    const shown = element("reactions");
    const line = Object.assign(document.createElement("p"), { ariaHidden: "true" });
    const isOwn = sender.id === this.#call.room.me.id;
    line.append(text("span", signs[name], { className: "emoji" }), " ", text("bdi", isOwn ? say("chat.you") : nameOf(sender)));
    // Where nothing moves it stands where all does that is said in passing.
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      pass(line);
      return true;
    }
    line.style.setProperty("--drift", `${Math.round(Math.random() * 4)}rem`);
    shown.append(line);
    while (shown.children.length > most) shown.firstElementChild.remove();
    setTimeout(() => line.remove(), shownFor);
    return true;
  }

  /** One's own too: it says that it was sent. */
  #say(sender, name) {
    if (this.#heard.length < 100) this.#heard.push({ sender, name });
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      const heard = this.#heard.splice(0);
      if (!this.#call.hasEntered || heard.length === 0) return;
      const [{ sender, name }] = heard;
      announce(heard.length > 1 ? say("reaction.many", { count: heard.length })
        : say("reaction.heard", { name: nameOf(sender), reaction: say(`reaction.${name}`) }));
      for (const id of this.#times.keys()) if (!this.#call.room.participants.has(id)) this.#times.delete(id);
    }, pause);
  }

  #end() {
    this.#times.clear();
    this.#heard = [];
    element("reactions").replaceChildren();
  }
}
