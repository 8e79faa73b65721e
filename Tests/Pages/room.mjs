// What a room knows of those in it, and what it asks of the server: roost.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeConnection } from "./StandIns/connection.mjs";
import { FakeServer, settled } from "./StandIns/server.mjs";
import { FakeSocket } from "./StandIns/socket.mjs";

const { Room } = await import(`${process.env.PAGES}/roost.js`);

const track = (id, more) => ({ id, kind: "audio", source: "microphone", muted: false, mutedByAdmin: false, ...more });
const ids = (participant) => participant.tracks.map(({ id }) => id);

/** The room is left with the test, whatever comes of it. */
function left(context, room) {
  context.after(() => {
    room.leave();
    FakeSocket.last.onclose?.({ code: 4000 });
  });
}

test("the events of a track change the tracks of their publisher, and nothing else of it", async (context) => {
  const room = new Room({ url: "http://h", room: "r", token: "t", patience: 5 });
  room.connect().catch(() => {});
  const eve = { id: "PA_1", identity: "eve", metadata: "m", attributes: { a: "b" }, tracks: [track("TR_1"), track("TR_2")] };
  const me = { id: "PA_0", identity: "me", metadata: "n", attributes: {}, tracks: [] };
  await new Promise((resolve) => setTimeout(resolve, 20));
  const { last: socket } = FakeSocket;
  left(context, room);
  socket.say({ type: "joined", participant: me, participants: [eve], iceServers: [], resumeToken: "r", lastEvent: 1, pingInterval: 20 });
  let id = 1;
  const happens = (type, of, track) =>
    socket.say({ type: "event", event: { id: ++id, type, participant: { id: of, identity: "who" }, track } });

  const muted = track("TR_1", { muted: true });
  happens("track.muted", "PA_1", muted);
  assert.deepEqual(room.participants.get("PA_1"), { ...eve, tracks: [muted, track("TR_2")] });
  happens("track.published", "PA_1", track("TR_3"));
  assert.deepEqual(ids(room.participants.get("PA_1")), ["TR_1", "TR_2", "TR_3"]);
  happens("track.unpublished", "PA_1", muted);
  assert.deepEqual(room.participants.get("PA_1"), { ...eve, tracks: [track("TR_2"), track("TR_3")] });
  happens("track.published", "PA_0", track("TR_4"));
  assert.deepEqual(room.me, { ...me, tracks: [track("TR_4")] });
  happens("track.unpublished", "PA_0", track("TR_4"));
  assert.deepEqual(room.me, me);
  assert.equal(room.participants.size, 1);
});

test("whether the room is recorded is known from the beginning, and from each event of a recording", async (context) => {
  const room = new Room({ url: "http://h", room: "r", token: "t", patience: 5 });
  room.connect().catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 20));
  const { last: socket } = FakeSocket;
  left(context, room);
  const me = { id: "PA_0", identity: "me", attributes: {}, tracks: [] };
  assert.equal(room.isRecorded, false);
  socket.say({ type: "joined", participant: me, room: { id: "RM_1", name: "r", recorded: true }, participants: [], iceServers: [],
    resumeToken: "r", lastEvent: 1, pingInterval: 20 });
  assert.equal(room.isRecorded, true);
  let id = 1;
  const seen = [];
  room.addEventListener("event", () => seen.push(room.isRecorded));
  const happens = (type, recording) => socket.say({ type: "event", event: { id: ++id, type, recording } });
  happens("room.recording", { id: "RC_2", active: true });
  happens("recording.ended", { id: "RC_1", active: true, reason: "stopped" });
  happens("recording.ended", { id: "RC_2", active: false, reason: "diskFull" });
  happens("room.recording", { id: "RC_3", active: true });
  assert.deepEqual(seen, [true, true, false, true]);
});

test("what the server asks for once one has left is passed over", async (context) => {
  const server = new FakeServer();
  const room = new Room({ url: "http://h", room: "r", token: "t" });
  left(context, room);
  const errors = [];
  room.addEventListener("error", ({ detail }) => errors.push(detail));
  await room.connect();
  const { length } = FakeConnection.last.getTransceivers();
  server.say({ type: "offerWanted", audio: 1, video: 1, reason: "slots" });
  await settled();
  assert.equal(FakeConnection.last.getTransceivers().length, length + 2);
  const offers = server.heard("offer").length;
  room.leave();
  for (const reason of ["slots", "iceRestart"]) server.say({ type: "offerWanted", audio: 2, video: 2, reason });
  await settled();
  assert.equal(FakeConnection.last.getTransceivers().length, length + 2);
  assert.equal(server.heard("offer").length, offers);
  assert.deepEqual(errors, []);
});

test("how tracks are shown is said in as many messages as it takes, also to another session", async (context) => {
  const server = new FakeServer();
  const tracks = Array.from({ length: 150 }, (_, index) => track(`TR_${index}`));
  server.participants = [{ id: "PA_1", identity: "eve", attributes: {}, tracks }];
  const room = new Room({ url: "http://h", room: "r", token: "t" });
  left(context, room);
  await room.connect();
  const wanted = tracks.map(({ id }) => ({ track: id, quality: "off" }));
  const said = () => server.heard("view").map((each) => each.tracks);
  await room.view(wanted);
  assert.deepEqual(said().map(({ length }) => length), [64, 64, 22]);
  assert.deepEqual(said().flat(), wanted);
  server.refuses.set("resume", { code: "session-gone", retry: "now" });
  FakeSocket.last.onclose({ code: 1006 });
  const deadline = performance.now() + 5000;
  while (said().length < 6 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(said().slice(3).flat(), wanted);
  server.refuses.set("view", { code: "rate-limited", retry: "after" });
  await assert.rejects(room.view(wanted), (error) => error.code === "rate-limited");
});

test("what fails behind joining leaves the room, and one may connect again", async (context) => {
  const server = new FakeServer();
  const room = new Room({ url: "http://h", room: "r", token: "t" });
  left(context, room);
  const ends = [];
  room.addEventListener("closed", ({ detail }) => ends.push(detail));
  server.refuses.set("offer", { code: "bad-offer", retry: "never" });
  await assert.rejects(room.connect(), (error) => error.code === "bad-offer");
  assert.deepEqual([server.heard("leave").length, FakeSocket.last.readyState, FakeConnection.last.signalingState], [1, 3, "closed"]);
  server.refuses.clear();
  assert.equal((await room.connect()).type, "joined");
  assert.deepEqual([FakeSocket.all.length, room.me.identity, room.connection.signalingState, ends], [2, "me", "stable", []]);
  const [publication] = await room.publish([{ kind: "audio", enabled: true }]);
  assert.equal(publication.id, `TR_${publication.mid}`);
});

test("a connection that the browser refuses to make fails joining with that, leaves, and one may connect again", async (context) => {
  const server = new FakeServer();
  const room = new Room({ url: "http://h", room: "r", token: "t" });
  left(context, room);
  const { RTCPeerConnection: Made } = globalThis;
  context.after(() => (globalThis.RTCPeerConnection = Made));
  globalThis.RTCPeerConnection = class { constructor() { throw new SyntaxError("no such server"); } };
  await assert.rejects(room.connect(), SyntaxError);
  assert.deepEqual([server.heard("leave").length, room.me, room.connection], [1, null, null]);
  globalThis.RTCPeerConnection = Made;
  assert.equal((await room.connect()).type, "joined");
  assert.equal(room.me.identity, "me");
});

test("options that are undefined are as if they weren't given", async (context) => {
  new FakeServer();
  const room = new Room({ url: "http://h", room: "r", token: "t", slots: undefined, patience: undefined });
  left(context, room);
  await room.connect();
  assert.equal(FakeConnection.last.getTransceivers().length, 8);
  // The server can't be reached, and is looked for for 300 s.
  const ends = [];
  room.addEventListener("closed", ({ detail }) => ends.push(detail.reason));
  FakeSocket.heard = (socket, message) => queueMicrotask(() => socket.say({ type: "error", id: message.id, code: "full", message: "", retry: "after" }));
  const [began, { now }] = [performance.now(), performance];
  context.after(() => (performance.now = now));
  const ended = new Promise((done) => room.addEventListener("closed", done));
  FakeSocket.last.onclose({ code: 1006 });
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.deepEqual(ends, []);
  performance.now = () => began + 302_000;
  await ended;
  assert.deepEqual(ends, ["connectionLost"]);
});
