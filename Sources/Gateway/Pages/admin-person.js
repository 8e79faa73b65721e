// What is looked at of one participant once its part is opened: charts of the last ten minutes, what it may do, what it gets, and why.

import { Chart } from "/admin-chart.js";
import { desk, problem, write } from "/admin-desk.js";
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
const pause = 4000; // ms between two looks at what it may do, while that is open

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
    if (isOpened || this.#permissions.isOld) this.#permissions.read(room, person);
  }
}

/** What a participant may do: read again and again, since others may change it too, and changed at once by each of its boxes. */
class Permissions {
  element;
  #boxes = {};
  #legend = build("legend");
  #room;
  #person;
  #changes = 0;
  #underWay = 0; // changes
  #readAt = -Infinity;
  #work = Promise.resolve();

  constructor() {
    const box = (name) => {
      this.#boxes[name] = build("input", { type: "checkbox", disabled: true });
      this.#boxes[name].addEventListener("change", () => this.#change(name));
      return build("label", { class: "check" }, this.#boxes[name], " ", say(`admin.may.${name.toLowerCase()}`));
    };
    this.element = build("fieldset", { class: "permissions" }, this.#legend, ...[...sources, ...rights].map(box));
  }

  /** Whether it may have changed since it was read. */
  get isOld() {
    return performance.now() - this.#readAt >= pause;
  }

  async read(room, person) {
    [this.#room, this.#person, this.#readAt] = [room, person, performance.now()];
    write(this.#legend, say("admin.may", { name: nameOf(person) }));
    if (!desk.rest || this.#underWay > 0) return;
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
    const [room, person, isAllowed, number] = [this.#room, this.#person, this.#boxes[name].checked, ++this.#changes];
    this.#underWay += 1;
    this.#work = this.#work.then(() => this.#send(room, person, (found) => changed(found, name, isAllowed), number));
  }

  /** One behind the other; what an earlier one answers is out of date where another is under way. */
  async #send(room, person, change, number) {
    const { rest } = desk;
    let [permissions, failure] = [];
    try {
      // What stands at the boxes may be out of date, and nothing but this one is to change.
      const { permissions: found } = await rest.participant(room, person.identity);
      ({ permissions } = await rest.permit(room, person.identity, change(found)));
    } catch (error) {
      failure = error;
    }
    this.#underWay -= 1;
    if (rest === null || rest !== desk.rest) return;
    if (failure) {
      notice(problem(failure));
      await this.read(room, person); // As it is in truth.
    } else if (number === this.#changes) {
      this.#show(permissions);
      tell(say("admin.done.permit", { name: nameOf(person) }));
    }
  }
}

/** What is to be changed of what a participant may do, for one box; sources that have none stay as they were said to be. */
function changed({ canPublish, canPublishSources }, name, isAllowed) {
  if (rights.includes(name)) return { [name]: isAllowed };
  const before = canPublish ? canPublishSources ?? sources : [];
  const allowed = isAllowed ? [...new Set([...before, name])] : before.filter((source) => source !== name);
  // An empty list is every source.
  return { canPublish: allowed.length > 0, canPublishSources: sources.every((source) => allowed.includes(source)) ? [] : allowed };
}

/** What it gets of others, as the server explains it. */
export class Gets {
  #nothing = text("p", say("admin.gets.nothing"), { className: "hint" });
  #explained;
  #isAsking = false;
  #refusal = ""; // as it was said last

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
      this.#refusal = "";
      if (found) this.#show(found);
    } catch (error) {
      // The room may have ended in between; that the server can't be reached is said elsewhere.
      if ([0, 404].includes(error.status)) return;
      // Once, and not with each figures that come: who has closed the notice has read it.
      if (this.#refusal !== problem(error)) notice(problem(error));
      this.#refusal = problem(error);
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
