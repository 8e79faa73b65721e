// Time that passes when the test says so: timers of the page, in their order.

let now = 1000;
let last = 0;
const timers = new Map(); // id → {at, every, run}

const add = (run, after, every = null) => {
  timers.set(++last, { at: now + (after ?? 0), every, run });
  return last;
};
globalThis.setTimeout = (run, after) => add(run, after);
globalThis.setInterval = (run, every) => add(run, every, every);
globalThis.clearTimeout = globalThis.clearInterval = (id) => timers.delete(id);
globalThis.performance.now = () => now;

/** @param {number} span ms */
export function pass(span) {
  const end = now + span;
  for (;;) {
    const [id, timer] = [...timers].reduce((first, each) => (!first || each[1].at < first[1].at ? each : first), null) ?? [];
    if (!timer || timer.at > end) break;
    now = timer.at;
    if (timer.every === null) timers.delete(id);
    else timer.at += timer.every;
    timer.run();
  }
  now = end;
}
