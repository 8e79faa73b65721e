// How a stream of events is followed, with a server that answers as the test wants it: follow.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./StandIns/dom.mjs";

const { Blocks, follow } = await import(`${process.env.PAGES}/follow.js`);

/** An answer whose body comes in these pieces, and then ends, unless it stays open. */
function stream(pieces, staysOpen = false) {
  const encoder = new TextEncoder();
  return new Response(new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece));
      if (!staysOpen) controller.close();
    },
  }));
}

const refused = (status) => Object.assign(new Error("no"), { status });

/**
 * Follows a server that gives these answers one behind the other: an answer, an error, or nothing any more.
 * Resolves once there is no more.
 */
function followed(t, answers) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const seen = { asked: [], events: [], troubles: [], pauses: [] };
  const ended = new Promise((over) => {
    follow(async ({ headers }) => {
      seen.asked.push(headers["last-event-id"] ?? "");
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    }, {
      event: (type, data) => seen.events.push([type, data]),
      trouble: (error) => seen.troubles.push(error && error.status),
      over,
    });
  });
  // Each pause is over at once, as soon as it has begun.
  const turn = setInterval(() => t.mock.timers.tick(8000), 1);
  return ended.then((why) => {
    clearInterval(turn);
    return { ...seen, why };
  });
}

test("events are read from pieces of any size; comments and what has no data are none", () => {
  const text = ": roost\n\nid: 1\nevent: a\ndata: {\"n\":1}\n\n:\n\nevent: b\ndata: x: y\n\nid: 3\n\nevent: c\ndata: unfinished";
  const wanted = [{ id: "1", event: "a", data: '{"n":1}' }, { event: "b", data: "x: y" }];
  for (const size of [1, 2, 7, text.length]) {
    const blocks = new Blocks();
    const found = [];
    for (let place = 0; place < text.length; place += size) found.push(...blocks.read(text.slice(place, place + size)));
    assert.deepEqual(found, wanted, `pieces of ${size}`);
  }
});

test("signs that end a line elsewhere end none, though a participant is called so", async (t) => {
  const name = "one\u2028two\u2029three\u0085four";
  const { events, why } = await followed(t, [
    stream([`event: room\ndata: ${JSON.stringify({ name })}\n\n`, 'event: end\ndata: {"reason":"roomFinished"}\n\n']),
  ]);
  assert.deepEqual(events, [["room", { name }]]);
  assert.equal(why.reason, "roomFinished");
});

test("a stream that is cut goes on behind what was read of it", async (t) => {
  const { asked, events, troubles, why } = await followed(t, [
    stream(['id: R:1\nevent: a\ndata: 1\n\nid: R:2\nevent: a\nda']), stream(["id: R:2\nevent: a\ndata: 2\n\n"]),
    stream(['event: end\ndata: {"reason":"roomFinished"}\n\n']),
  ]);
  assert.deepEqual(asked, ["", "R:1", "R:2"]);
  assert.deepEqual(events, [["a", 1], ["a", 2]]);
  assert.deepEqual(troubles, []);
  assert.deepEqual(why, { reason: "roomFinished" });
});

test("a server that doesn't answer is asked again, and that is said once, until it does", async (t) => {
  const { asked, troubles, why } = await followed(t, [
    refused(0), refused(503), refused(429), stream(["event: a\ndata: 1\n\n"]), stream(['event: end\ndata: {"reason":"removed"}\n\n']),
  ]);
  assert.equal(asked.length, 5);
  assert.deepEqual(troubles, [0, null]);
  assert.deepEqual(why, { reason: "removed" });
});

test("an end that asks one to come again is no end; one that says there is no more is", async (t) => {
  for (const reason of ["tooSlow", "serverShutdown"]) {
    const { asked } = await followed(t, [stream([`event: end\ndata: {"reason":"${reason}"}\n\n`]), new Response(null, { status: 204 })]);
    assert.equal(asked.length, 2);
    t.mock.timers.reset();
  }
});

test("a refusal that holds ends it", async (t) => {
  for (const status of [400, 401, 403, 404, 410]) {
    const { asked, troubles, why } = await followed(t, [refused(status)]);
    assert.deepEqual([asked.length, troubles, why.error.status], [1, [], status]);
    t.mock.timers.reset();
  }
});

test("what one event makes of the page's own code is reported, and the events go on", { timeout: 10_000 }, async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const [reported, heard, troubles] = [[], [], []];
  t.after(() => delete globalThis.reportError);
  globalThis.reportError = ({ message }) => reported.push(message);
  const answers = [
    refused(0), stream(["id: R:1\nevent: a\ndata: 1\n\nid: R:2\nevent: a\ndata: 2\n\nevent: a\ndata: {\n\nid: R:4\nevent: a\ndata: 4\n\n"]),
    stream(['event: end\ndata: {"reason":"roomFinished"}\n\n']),
  ];
  const asked = [];
  const turn = setInterval(() => t.mock.timers.tick(8000), 1);
  t.after(() => clearInterval(turn));
  const why = await new Promise((over) => {
    follow(async ({ headers }) => {
      asked.push(headers["last-event-id"] ?? "");
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    }, {
      event: (_, data) => {
        heard.push(data);
        if (data === 1) throw new Error("an event");
      },
      trouble: (error) => {
        troubles.push(error && error.status);
        throw new Error("a trouble");
      },
      over,
    });
  });
  assert.deepEqual([heard, troubles, asked], [[1, 2, 4], [0, null], ["", "", "R:4"]]);
  assert.deepEqual(reported.filter((message) => message.startsWith("a")), ["a trouble", "a trouble", "an event"]);
  assert.equal(reported.length, 4, "and what is no JSON");
  assert.deepEqual(why, { reason: "roomFinished" });
});

for (const [name, opens] of Object.entries({ "before it begins": false, "while it is open": true })) {
  test(`a stream that says nothing for 35 s is given up, ${name}, and asked for once more`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const settled = async () => {
      for (let turn = 0; turn < 10; turn++) await new Promise((done) => setImmediate(done));
    };
    const [seen, signals] = [[], []];
    const part = new TextEncoder().encode(":\n\n");
    let source;
    const end = follow(({ signal }) => {
      signals.push(signal);
      if (signals.length === 2) return Promise.resolve(stream(["event: a\ndata: 1\n\n"], true));
      if (!opens) return new Promise((_, reject) => signal.addEventListener("abort", () => reject(refused(0))));
      return Promise.resolve(new Response(new ReadableStream({ start(controller) { source = controller; } })));
    }, { event: (_, data) => seen.push(data), trouble: (error) => seen.push(error && error.status), over: () => seen.push("over") });
    await settled();
    // Where there is nothing to say the server says so, and that counts.
    for (let turn = 0; opens && turn < 4; turn++) {
      t.mock.timers.tick(15_000);
      source.enqueue(part);
      await settled();
    }
    t.mock.timers.tick(34_000);
    await settled();
    assert.deepEqual([seen, signals.length], [[], 1]);
    t.mock.timers.tick(1000);
    await settled();
    assert.deepEqual([seen, signals[0].aborted], [[0], true]);
    t.mock.timers.tick(1000);
    await settled();
    assert.deepEqual([seen, signals[1].aborted], [[0, null, 1], false]);
    end();
    await settled();
    assert.equal(signals[1].aborted, true);
    t.mock.timers.tick(100_000);
    await settled();
    assert.deepEqual([seen, signals.length], [[0, null, 1], 2]);
  });
}

test("nothing more is called once it was ended, also from within", async () => {
  const events = [];
  await new Promise((done) => {
    const stop = follow(async () => stream(["event: a\ndata: 1\n\nevent: a\ndata: 2\n\n"], true), {
      event: (_, data) => {
        events.push(data);
        stop();
        setTimeout(done, 20);
      },
      trouble: () => events.push("trouble"),
      over: () => events.push("over"),
    });
  });
  assert.deepEqual(events, [1]);
});
