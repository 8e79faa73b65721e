// How what happened in a room is read by administration, with a server that answers as the test wants it: admin-events.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pass } from "./StandIns/clock.mjs";
import { hide } from "./StandIns/dom.mjs";

for (const id of ["events-search", "events-kind"]) document.getElementById(id).value = "";
const { desk } = await import(`${process.env.PAGES}/admin-desk.js`);
const { EventsPart, brief } = await import(`${process.env.PAGES}/admin-events.js`);
const { learn } = await import(`${process.env.PAGES}/words.js`);
await learn("call", "admin");

const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const encoder = new TextEncoder();
const events = (room, ...numbers) => numbers.map((id) => (
  `id: ${room}:${id}\nevent: room.updated\ndata: {"id":${id},"type":"room.updated","time":"2026-05-04T12:00:00.000Z"}\n\n`)).join("");
const gone = 'event: end\ndata: {"reason":"eventsGone"}\n\n';

/** A server whose streams begin with what `answer` says to the last id that is asked for, and stay open unless that is an end. */
function served(answer) {
  const asked = [];
  desk.rest = {
    events: async (room, { headers, signal }) => {
      asked.push(headers["last-event-id"] ?? "");
      const text = answer(asked.at(-1));
      if (text instanceof Error) throw text;
      return new Response(new ReadableStream({
        start(controller) {
          controller.enqueue(encoder.encode(text));
          if (text.includes("event: end")) controller.close();
          else signal.addEventListener("abort", () => controller.error(signal.reason));
        },
      }));
    },
  };
  return asked;
}

const rows = () => {
  pass(200);
  return document.getElementById("events").children.length;
};
const part = new EventsPart();

test("a window that comes to the front again goes on behind what it has read", async () => {
  const asked = served((last) => events("R", ...last === "" ? [1, 2] : [3]));
  part.show("r");
  await settled();
  assert.equal(rows(), 2);
  for (const isHidden of [true, false]) hide(isHidden);
  await settled();
  assert.deepEqual([asked, rows()], [["", "R:2"], 3]);
  // Another room has other events.
  part.show("other");
  await settled();
  assert.deepEqual([asked.at(-1), rows()], ["", 2]);
  part.show(null);
});

for (const [name, answer] of Object.entries({
  "by the end of the stream": () => events("R", 1) + gone,
  "by a refusal": () => Object.assign(new Error("gone"), { status: 410 }),
})) {
  test(`what is no longer kept is read from the oldest that is, each time after a longer while: ${name}`, async () => {
    const asked = served(answer);
    part.show("r");
    for (let second = 0; second < 60; second++) {
      await settled();
      pass(1000);
    }
    // At once, after 1 s, 2, 4, 8, 16 and 32.
    assert.ok(asked.length >= 5 && asked.length <= 7, `${asked.length} times`);
    assert.ok(asked.every((each) => each === ""));
    part.show(null);
    await settled();
    pass(100_000);
    await settled();
    assert.ok(asked.length <= 7);
  });
}

test("of an event as much is kept as is shown, however much a participant says of itself", () => {
  const who = { id: "PA_1", identity: "ada", name: "Ada" };
  const long = { metadata: "m".repeat(65_536), attributes: { a: "a".repeat(65_536) }, tracks: [{ id: "TR_1", source: "camera" }] };
  const time = "2026-05-04T12:00:00.000Z";
  const track = { id: "TR_1", source: "camera", name: "n".repeat(128) };
  const named = { identity: "ada", name: "Ada" };
  for (const [event, wanted] of [
    [{ type: "participant.updated", participant: { ...who, ...long } }, { participant: named }],
    [{ type: "participant.left", reason: "removed", participant: { ...who, ...long } }, { reason: "removed", participant: named }],
    [{ type: "track.published", participant: who, track }, { participant: named, track: { source: "camera" } }],
    [{ type: "waiting.ended", waiting: { ...who, reason: "refused" } }, { reason: "refused", waiting: named }],
    [{ type: "room.updated", metadata: long.metadata, settings: {} }, {}],
  ]) {
    const kept = JSON.parse(JSON.stringify(brief({ id: 7, time, room: "r", ...event })));
    assert.deepEqual(kept, { type: event.type, time, ...wanted });
  }
});
