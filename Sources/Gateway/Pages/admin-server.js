// How the server and its workers do.

import { age, listed, write } from "/admin-desk.js";
import { element } from "/elements.js";
import { List } from "/list.js";
import { restart } from "/messages.js";
import { percent, rate } from "/units.js";
import { figure, say } from "/words.js";

export class ServerPart {
  #deadline = null;
  #workers = new List(element("workers"), element("worker-row"), {
    key: ({ worker }) => worker,
    make: () => {},
    update: (row, worker) => {
      const number = String(worker.worker);
      write(row.querySelector(".worker-name"), say("admin.worker", { number }));
      row.querySelector("meter").value = worker.load ?? 0;
      write(row.querySelector(".worker-load"), percent(worker.load) || "–");
      write(row.querySelector(".about"), !worker.answered ? say("admin.worker.silent") : listed(
        worker.received !== undefined && say("admin.rates", { received: rate(worker.received), sent: rate(worker.sent) }),
        say("admin.peers", { count: worker.peers ?? 0 }), say("admin.tracks", { count: worker.tracks ?? 0 })));
    },
  });

  /** @param {object} figures as `server` of the stream has them */
  show({ version, uptime, rooms, participants, received, sent, workers }) {
    element("server-about").textContent = listed(
      version && say("admin.server.version", { version }), say("admin.server.uptime", { age: age(uptime) }),
      this.#deadline !== null && restart(this.#deadline));
    const totals = { rooms: figure(rooms), participants: figure(participants), received: rate(received), sent: rate(sent) };
    for (const [name, words] of Object.entries(totals)) element(`total-${name}`).textContent = words;
    this.#workers.show(workers);
  }

  /** @param {string | null} deadline RFC 3339; null: the server doesn't stop, as far as is known */
  drain(deadline) {
    this.#deadline = deadline;
  }
}
