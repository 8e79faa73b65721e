// The links that let others into the room that is looked at, with what ends them.

import { act, ask, desk, listed, problem, write } from "/admin-desk.js";
import { element } from "/elements.js";
import { List } from "/list.js";
import { locale, say } from "/words.js";

const pause = 10_000; // ms between two looks

export class InvitationsPart {
  #room = null;
  #look = 0; // its number
  #timer = 0;
  #list = new List(element("invitations"), element("invitation-row"), {
    key: ({ id }) => id,
    make: (row, { id }) => row.querySelector("button").addEventListener("click", () => this.#end(id)),
    update: (row, invitation) => this.#update(row, invitation),
  });

  /** @param {string | null} room its name; null: none is looked at */
  show(room) {
    if (room === this.#room) return;
    this.#room = room;
    this.#list.show([]);
    element("no-invitations").hidden = true;
    this.#read();
  }

  /** Another language was chosen. */
  sayAgain() {
    this.#read();
  }

  async #read() {
    clearTimeout(this.#timer);
    const [room, { rest }, look] = [this.#room, desk, ++this.#look];
    if (room === null) return;
    let items = [];
    let words = say("admin.links.none");
    try {
      if (!document.hidden) ({ items } = await rest.invitations(room));
    } catch (error) {
      words = problem(error);
    }
    if (look !== this.#look) return;
    this.#timer = setTimeout(() => this.#read(), pause);
    if (!document.hidden) this.#show(items, words);
  }

  #show(items, words) {
    const hadFocus = element("invitations").contains(document.activeElement);
    this.#list.show(items);
    element("no-invitations").hidden = items.length > 0;
    write(element("no-invitations"), words);
    // The button that had the focus may have gone with its row.
    if (hadFocus && document.activeElement === document.body) element("links").firstElementChild.focus();
  }

  #update(row, { createdAt, expiresAt, uses, opened, grants }) {
    const [made, until] = [createdAt, expiresAt].map((time) => new Date(time).toLocaleString(locale(), { dateStyle: "short", timeStyle: "short" }));
    write(row.querySelector("p"), listed(say("admin.links.until", { until }), say("admin.links.opened", { opened, uses }),
      say("admin.links.made", { time: made }), grants.admitted && say("admin.links.admitted")));
    row.querySelector("button").setAttribute("aria-label", say("admin.links.stop.of", { until }));
  }

  async #end(id) {
    const [room, { rest }] = [this.#room, desk];
    if (!await ask({ title: say("admin.links.stop.ask"), text: say("admin.links.stop.what"), yes: say("admin.links.stop") })) return;
    if (desk.rest !== rest) return;
    await act(() => rest.revoke(room, id), say("admin.done.links.stop"));
    if (room === this.#room) await this.#read();
  }
}
