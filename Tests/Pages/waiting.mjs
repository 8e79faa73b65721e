// A participant who has to be let in: what signalling.js does until a host has answered, and what a room says of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pass } from "./StandIns/clock.mjs";
import "./StandIns/connection.mjs";
import { FakeServer, settled } from "./StandIns/server.mjs";
import { FakeSocket } from "./StandIns/socket.mjs";

const { Room, RoostError } = await import(`${process.env.PAGES}/roost.js`);

const waiting = { type: "waiting", until: "2026-05-04T12:10:00.000Z", pingInterval: 20 };
const me = { id: "PA_0", identity: "me", attributes: {}, tracks: [] };
const joined = { type: "joined", participant: me, participants: [], iceServers: [], room: { name: "r" }, resumeToken: "resume", lastEvent: 1 };

/** A room that has asked to join and waits; `end` is how joining ended, once it has. */
async function waits(context) {
  FakeSocket.all = [];
  FakeSocket.heard = () => {};
  const room = new Room({ url: "http://h", room: "r", token: "t" });
  const seen = [];
  for (const type of ["waiting", "joined", "closed"]) room.addEventListener(type, ({ detail }) => seen.push([type, detail.until ?? detail.reason]));
  const end = {};
  room.connect().then(() => (end.joined = true), (error) => (end.error = error));
  await settled();
  const { last: socket } = FakeSocket;
  context.after(() => {
    room.leave();
    FakeSocket.last.onclose?.({ code: 4000 });
  });
  socket.say(waiting);
  await settled();
  return { room, seen, end, socket };
}

test("a host takes its time: the socket stays, asked for signs of life, and joining goes on from there", async (context) => {
  const { room, seen, end, socket } = await waits(context);
  assert.deepEqual(seen, [["waiting", waiting.until]]);
  for (let turn = 0; turn < 20; turn++) {
    pass(20_000);
    socket.say({ type: "pong" });
  }
  await settled();
  assert.deepEqual([FakeSocket.all.length, socket.of("ping").length, end.error, room.me], [1, 20, undefined, null]);
  socket.say(joined);
  await settled();
  assert.equal(room.me.identity, "me");
  const [{ id }] = socket.of("offer");
  socket.say({ type: "answer", id, sdp: "answered", slots: [], tracks: [], declined: [] });
  await settled();
  assert.equal(end.joined, true);
  assert.deepEqual(seen.map(([type]) => type), ["waiting", "joined"]);
});

test("a host who refuses, a time that is over and a room that ends are distinguished", async (context) => {
  for (const [said, code, retry, reason] of [
    [{ type: "closed", reason: "removed" }, "refused", "never", undefined],
    [{ type: "closed", reason: "roomClosed" }, "closed", "after", "roomClosed"],
    [{ type: "error", code: "not-admitted", message: "", retry: "after" }, "not-admitted", "after", undefined],
  ]) {
    const { room, seen, end, socket } = await waits(context);
    socket.say(said);
    await settled();
    assert.ok(end.error instanceof RoostError);
    assert.deepEqual([end.error.code, end.error.retry, end.error.reason], [code, retry, reason]);
    assert.deepEqual([socket.readyState, seen.length, room.me], [3, 1, null]);
  }
});

test("a server that says nothing while one waits has gone", async (context) => {
  const { end } = await waits(context);
  pass(40_000);
  await settled();
  assert.equal(end.error, undefined);
  pass(20_000);
  await settled();
  assert.equal(end.error.code, "unreachable");
});

test("a page out of sight, whose clock rings once a minute, waits on, and notices all the same that the server has gone", async (context) => {
  const { end, socket } = await waits(context);
  const { now } = performance;
  context.after(() => (performance.now = now));
  let late = 0;
  performance.now = () => now() + late;
  for (let minute = 0; minute < 9; minute++) {
    late += 40_000;
    pass(20_000); // It rings once, where it should have rung three times.
    await settled();
    assert.equal(end.error, undefined, `minute ${minute}`);
    socket.say({ type: "pong" });
  }
  assert.equal(socket.of("ping").length, 9);
  pass(60_000);
  await settled();
  assert.equal(end.error.code, "unreachable");
});

test("who waits no longer says goodbye, and joining ends at once", async (context) => {
  const { room, seen, end, socket } = await waits(context);
  room.leave();
  await settled();
  assert.deepEqual([socket.of("leave").length, socket.readyState, end.error.code], [1, 3, "closed"]);
  assert.deepEqual(seen.map(([type]) => type), ["waiting"]);
  pass(60_000);
  await settled();
  assert.equal(FakeSocket.all.length, 1);
});

test("a session that is lost may have to wait again, and what was asked meanwhile is answered as of a session that has gone", async (context) => {
  const server = new FakeServer();
  const room = new Room({ url: "http://h", room: "r", token: "t" });
  const states = [];
  room.addEventListener("waiting", () => states.push("waiting"));
  room.addEventListener("state", ({ detail }) => states.push(detail));
  context.after(() => {
    room.leave();
    FakeSocket.last.onclose?.({ code: 4000 });
  });
  await room.connect();
  server.refuses.set("resume", { code: "session-gone", retry: "now" });
  const answer = FakeSocket.heard;
  FakeSocket.last.onclose({ code: 1006 });
  // The next door is one at which a host has to open.
  FakeSocket.heard = (socket, message) => (message.type === "auth" ? queueMicrotask(() => socket.say(waiting)) : answer(socket, message));
  const asked = room.update({ name: "Ada" });
  asked.catch(() => {});
  for (let turn = 0; turn < 5; turn++) {
    pass(100);
    await settled();
  }
  assert.deepEqual(states, ["connected", "reconnecting", "waiting"]);
  FakeSocket.heard = answer;
  FakeSocket.last.say({ ...joined, participant: { ...me, id: "PA_1" } });
  await settled();
  assert.equal(room.me.id, "PA_1");
  await assert.rejects(asked, (error) => error.code === "session-gone");
});

test("hosts see who waits, from the beginning and by each event", async (context) => {
  FakeSocket.all = [];
  FakeSocket.heard = () => {};
  const room = new Room({ url: "http://h", room: "r", token: "t" });
  context.after(() => {
    room.leave();
    FakeSocket.last.onclose?.({ code: 4000 });
  });
  room.connect().catch(() => {});
  await settled();
  const waiter = (name) => ({ id: `WT_${name}`, identity: name, since: "", until: "" });
  const { last: socket } = FakeSocket;
  socket.say({ ...joined, waiting: [waiter("ann")] });
  const ids = () => room.waiting.map(({ id }) => id);
  assert.deepEqual(ids(), ["WT_ann"]);
  let id = 1;
  const happens = (type, name, more = {}) => socket.say({ type: "event", event: { id: ++id, type, waiting: { ...waiter(name), ...more } } });
  happens("participant.waiting", "bob");
  happens("participant.waiting", "ann"); // Again is once.
  assert.deepEqual(ids(), ["WT_bob", "WT_ann"]);
  happens("waiting.ended", "bob", { reason: "admitted" });
  assert.deepEqual(ids(), ["WT_ann"]);
  room.admit("WT_ann").catch(() => {});
  room.admit("WT_bob", false).catch(() => {});
  assert.deepEqual(socket.of("admit").map(({ waiting: who, allowed }) => [who, allowed]), [["WT_ann", undefined], ["WT_bob", false]]);
});
