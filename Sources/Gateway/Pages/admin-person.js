// What is looked at of one participant once its part is opened: charts of the last ten minutes, what it may do, what it gets, and why.

import { Chart } from "/admin-chart.js";
import { desk, problem } from "/admin-desk.js";
import { sourceOf } from "/admin-people.js";
import { build } from "/build.js";
import { nameOf, styled, text } from "/elements.js";
import { Explained, isWorthShowing } from "/explained.js";
import { notice, tell } from "/notices.js";
import { milliseconds, percent, rate } from "/units.js";
import { say } from "/words.js";

await styled("/explained.css");

const sources = ["microphone", "camera", "screen_share", "screen_share_audio"];
const rights = ["canSubscribe", "canPublishData", "canUpdateOwnMetadata"];

/** How it does, and what it may do. */
export class Closer {
  #charts = [
    new Chart("rates", ["received", "sent"], { least: 100_000, written: rate }),
    new Chart("loss", ["loss"], { least: 0.01, written: percent }),
    new Chart("round-trip", ["roundTrip"], { least: 0.05, written: milliseconds }),
  ];
  #permissions = new Permissions();

  /** @param {HTMLElement} place */
  constructor(place) {
    place.append(build("div", { class: "explanations" }, ...this.#charts.map(({ element }) => element)), this.#permissions.element);
  }

  /** @param {string} room its name @param {object} person @param {import("/admin-history.js").History} history
   * @param {boolean} [isOpened] it just has been */
  show(room, person, history, isOpened = false) {
    const now = performance.now();
    for (const chart of this.#charts) chart.draw(history.of(person.id), now);
    if (isOpened) this.#permissions.read(room, person);
  }
}

/** What a participant may do: read when it is opened, and changed at once by each of its boxes. */
class Permissions {
  element;
  #boxes = {};
  #legend = build("legend");
  #room;
  #person;
  #changes = 0;
  #work = Promise.resolve();

  constructor() {
    const box = (name) => {
      this.#boxes[name] = build("input", { type: "checkbox", disabled: true });
      this.#boxes[name].addEventListener("change", () => this.#change(name));
      return build("label", { class: "check" }, this.#boxes[name], " ", say(`admin.may.${name.toLowerCase()}`));
    };
    this.element = build("fieldset", { class: "permissions" }, this.#legend, ...[...sources, ...rights].map(box));
  }

  async read(room, person) {
    [this.#room, this.#person] = [room, person];
    this.#legend.textContent = say("admin.may", { name: nameOf(person) });
    if (!desk.rest) return;
    const changes = this.#changes;
    try {
      const { permissions } = await desk.rest.participant(room, person.identity);
      if (changes === this.#changes) this.#show(permissions); // Else the answer to the change says more.
    } catch (error) {
      // It may have left in between.
      if (error.status !== 404) notice(problem(error));
    }
  }

  #show({ canPublish, canPublishSources, ...others }) {
    for (const source of sources) this.#boxes[source].checked = canPublish && (canPublishSources?.includes(source) ?? true);
    for (const right of rights) this.#boxes[right].checked = others[right];
    for (const box of Object.values(this.#boxes)) box.disabled = false;
  }

  #change(name) {
    const allowed = sources.filter((source) => this.#boxes[source].checked);
    const change = rights.includes(name) ? { [name]: this.#boxes[name].checked }
      // An empty list is every source.
      : { canPublish: allowed.length > 0, canPublishSources: allowed.length < sources.length ? allowed : [] };
    const [room, person, number] = [this.#room, this.#person, ++this.#changes];
    this.#work = this.#work.then(() => this.#send(room, person, change, number));
  }

  /** One behind the other; what an earlier one answers is out of date where another is under way. */
  async #send(room, person, change, number) {
    if (!desk.rest) return;
    try {
      const { permissions } = await desk.rest.permit(room, person.identity, change);
      if (number !== this.#changes) return;
      this.#show(permissions);
      tell(say("admin.done.permit", { name: nameOf(person) }));
    } catch (error) {
      notice(problem(error));
      await this.read(room, person); // As it is in truth.
    }
  }
}

/** What it gets of others, as the server explains it. */
export class Gets {
  #nothing = text("p", say("admin.gets.nothing"), { className: "hint" });
  #explained;
  #isAsking = false;

  /** @param {HTMLElement} place */
  constructor(place) {
    const list = build("div", { class: "explanations" });
    this.#explained = new Explained(list);
    place.append(this.#nothing, list);
  }

  /** @param {string} room its name @param {object} person */
  async show(room, person) {
    // One may have signed out while its code was being fetched.
    if (this.#isAsking || !desk.rest) return;
    this.#isAsking = true;
    try {
      const found = await desk.rest.explain(room, person.identity);
      if (found) this.#show(found);
    } catch (error) {
      // The room may have ended in between; that the server can't be reached is said elsewhere.
      if (![0, 404].includes(error.status)) notice(problem(error));
    } finally {
      this.#isAsking = false;
    }
  }

  #show(found) {
    const subscriptions = found.subscriptions.filter(isWorthShowing);
    this.#explained.show(subscriptions.map((subscription) => ({
      key: subscription.track, subscription,
      title: say("statistics.whose", { name: subscription.publisherIdentity, source: sourceOf(subscription) }),
      transport: found.transports.find(({ transport }) => transport === subscription.transport),
    })), performance.now());
    this.#nothing.hidden = subscriptions.length > 0;
  }
}
