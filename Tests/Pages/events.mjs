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
const event = (id) => ({ id, type: "room.updated", time: "2026-05-04T12:00:00.000Z" });
const refused = (status) => Object.assign(new Error("no"), { status });

/** A server of rooms that have had `last` events each, of which it keeps those behind `gone`; `failure` answers in place of it. */
function served(rooms) {
  const asked = [];
  desk.rest = {
    events: async (room, { limit, after, roomId }) => {
      asked.push(after ?? null);
      const { id, last, gone = 0, failure } = rooms[room];
      if (failure) throw refused(failure);
      if (after !== undefined && (roomId !== id || after < gone)) throw refused(410);
      const items = Array.from({ length: Math.min(limit, last - (after ?? gone)) }, (_, place) => event((after ?? gone) + place + 1));
      return { roomId: id, items, lastEvent: last };
    },
  };
  return asked;
}

const rows = () => {
  pass(200);
  return document.getElementById("events").children.length;
};
const part = new EventsPart();
test.afterEach(() => part.show(null));

test("a window that comes to the front again goes on behind what it has read; another room has other events", async () => {
  const rooms = { r: { id: "RM_1", last: 2 }, other: { id: "RM_2", last: 1 } };
  const asked = served(rooms);
  part.show("r");
  await settled();
  assert.equal(rows(), 2);
  hide(true);
  rooms.r.last = 3;
  pass(60_000);
  await settled();
  assert.deepEqual(asked, [null]);
  hide(false);
  await settled();
  assert.deepEqual([asked, rows()], [[null, 2], 3]);
  part.show("other");
  await settled();
  assert.deepEqual([asked.at(-1), rows()], [null, 1]);
});

test("what happens is read page by page, two seconds apart, and none any more once it isn't looked at", async () => {
  const rooms = { r: { id: "RM_1", last: 1 } };
  const asked = served(rooms);
  part.show("r");
  await settled();
  for (rooms.r.last = 2; rooms.r.last < 5; rooms.r.last += 1) {
    pass(asked.length === 1 ? 1999 : 1799); // The rows have taken the rest.
    await settled();
    assert.equal(asked.length, rooms.r.last - 1);
    pass(1);
    await settled();
    assert.deepEqual([asked.at(-1), rows()], [rooms.r.last - 1, rooms.r.last]);
  }
  part.show(null);
  pass(60_000);
  await settled();
  assert.equal(asked.length, 4);
});

test("of very many the last thousand are read, one page right behind the other", async () => {
  const asked = served({ r: { id: "RM_1", last: 9000, gone: 500 } });
  part.show("r");
  for (let turn = 0; turn < 20; turn++) {
    await settled();
    pass(0);
  }
  assert.deepEqual([asked, rows()], [[null, 8000, 8200, 8400, 8600, 8800], 200]);
});

test("a server that doesn't answer is asked again, and that is said until it does; a refusal that holds ends it", async () => {
  const notice = document.getElementById("notice");
  const rooms = { r: { id: "RM_1", last: 1, failure: 503 } };
  const asked = served(rooms);
  notice.hidden = true;
  part.show("r");
  await settled();
  assert.deepEqual([asked.length, notice.hidden], [1, false]);
  rooms.r.failure = 0;
  pass(2000);
  await settled();
  assert.deepEqual([asked.length, notice.hidden, rows()], [2, true, 1]);
  for (const status of [403, 404]) {
    rooms.r.failure = status;
    pass(2000);
    await settled();
    const { length } = asked;
    pass(60_000);
    await settled();
    assert.deepEqual([asked.length, notice.hidden], [length, status === 404]);
    notice.hidden = true;
    rooms.r.failure = 0;
    part.show(null);
    part.show("r");
    await settled();
  }
});

for (const [name, room] of Object.entries({
  "by what is kept": { id: "RM_1", last: 1, gone: 0 },
  "by a refusal from the first": { id: "RM_1", last: 1, failure: 410 },
})) {
  test(`what is no longer kept is read from the oldest that is, each time after a longer while: ${name}`, async () => {
    const asked = served({ r: room });
    part.show("r");
    for (let second = 0; second < 60; second++) {
      await settled();
      // What was read is gone as soon as the next is asked for.
      if (!room.failure) room.gone = room.last += 2;
      pass(1000);
    }
    const beginnings = asked.filter((after) => after === null).length;
    // At once, after 1 s, 2, 4, 8, 16 and 32, with two seconds before each where a page came.
    assert.ok(beginnings >= 4 && beginnings <= 7, `${beginnings} times`);
    part.show(null);
    const { length } = asked;
    pass(100_000);
    await settled();
    assert.equal(asked.length, length);
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
