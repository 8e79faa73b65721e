import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeSocket } from "./StandIns/socket.mjs";

const { RoostError, Signalling } = await import(`${process.env.PAGES}/signalling.js`);

async function until(holds) {
  for (let turn = 0; turn < 500; turn++) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  assert.fail("it does not come");
}

async function joined(context, token = "t", asked = []) {
  FakeSocket.all = [];
  const heard = [];
  const note = (kind) => (what) => heard.push([kind, what]);
  const listener = Object.fromEntries(["joined", "resumed", "message", "state", "ended"].map((kind) => [kind, note(kind)]));
  const signalling = new Signalling({ url: "http://h", room: "a/b", token, patience: 5 }, listener);
  const joining = signalling.join();
  asked[0]?.("t");
  await until(() => FakeSocket.all[0]?.sent.length === 1);
  const [socket] = FakeSocket.all;
  socket.say({ type: "joined", resumeToken: "r1", lastEvent: 4, pingInterval: 20 });
  await joining;
  context.after(() => {
    signalling.leave();
    socket.onclose?.({ code: 4000 });
    FakeSocket.all.at(-1).onclose?.({ code: 4000 });
  });
  return { signalling, socket, heard };
}

/** The socket breaks; answers the next one once it has said its first word. */
async function broken(socket) {
  socket.onclose({ code: 1006 });
  await until(() => FakeSocket.all.at(-1) !== socket && FakeSocket.all.at(-1).sent.length === 1);
  return FakeSocket.all.at(-1);
}

test("it joins by the room's address, with the token", async (context) => {
  const { socket } = await joined(context);
  assert.equal(String(socket.url), "ws://h/v1/rooms/a%2Fb/connect");
  assert.deepEqual({ ...socket.sent[0], id: 0 }, { type: "auth", token: "t", id: 0 });
});

test("a request is answered by its id, whatever comes between", async (context) => {
  const { signalling, socket } = await joined(context);
  const first = signalling.request({ type: "mute" });
  const second = signalling.request({ type: "data" });
  const [a, b] = socket.sent.slice(1);
  assert.notEqual(a.id, b.id);
  socket.say({ type: "error", id: b.id, code: "not-allowed", message: "no", retry: "never" });
  socket.say({ type: "ok", id: a.id });
  assert.equal((await first).type, "ok");
  await assert.rejects(second, (error) => error instanceof RoostError && error.code === "not-allowed");
});

test("an event that comes twice is taken once", async (context) => {
  const { socket, heard } = await joined(context);
  for (const id of [4, 5, 5, 6, 5]) socket.say({ type: "event", event: { id } });
  assert.deepEqual(heard.filter(([kind]) => kind === "message").map(([, { event }]) => event.id), [5, 6]);
});

test("what is in flight when a socket breaks is sent again under its id, after the last event", async (context) => {
  const { signalling, socket } = await joined(context);
  socket.say({ type: "event", event: { id: 5 } });
  const asked = signalling.request({ type: "mute" });
  const { id } = socket.sent.at(-1);
  const next = await broken(socket);
  assert.deepEqual({ ...next.sent[0], id: 0 }, { type: "resume", resumeToken: "r1", after: 5, id: 0 });
  next.say({ type: "resumed", resumeToken: "r2" });
  assert.deepEqual(next.sent[1], { type: "mute", id });
  next.say({ type: "ok", id });
  assert.equal((await asked).type, "ok");
  const third = await broken(next);
  assert.equal(third.sent[0].resumeToken, "r2");
});

test("a session that is gone is joined again, with the token as it was renewed", async (context) => {
  const { signalling, socket } = await joined(context);
  socket.say({ type: "token", token: "renewed" });
  const asked = signalling.request({ type: "mute" });
  asked.catch(() => {});
  const next = await broken(socket);
  next.say({ type: "error", code: "session-gone", message: "", retry: "now" });
  await until(() => FakeSocket.all.at(-1) !== next && FakeSocket.all.at(-1).sent.length === 1);
  const third = FakeSocket.all.at(-1);
  assert.deepEqual({ ...third.sent[0], id: 0 }, { type: "auth", token: "renewed", id: 0 });
  third.say({ type: "joined", resumeToken: "r3", lastEvent: 1 });
  await assert.rejects(asked, (error) => error.code === "session-gone");
});

test("a session that may be resumed later is resumed later, with the same token", async (context) => {
  const { socket } = await joined(context);
  const next = await broken(socket);
  next.say({ type: "error", code: "rate-limited", message: "", retry: "after" });
  await until(() => FakeSocket.all.at(-1) !== next && FakeSocket.all.at(-1).sent.length === 1);
  const { type, resumeToken } = FakeSocket.all.at(-1).sent[0];
  assert.deepEqual({ type, resumeToken }, { type: "resume", resumeToken: "r1" });
});

/** A token that is fetched, until the test has it. */
function fetched() {
  const asked = [];
  const token = () => new Promise((resolve) => asked.push(resolve));
  return { token, asked };
}

test("leaving while the token is fetched opens no socket", async () => {
  FakeSocket.all = [];
  const { token, asked } = fetched();
  const heard = [];
  const listener = { joined: () => heard.push("joined"), ended: () => heard.push("ended"), state: () => heard.push("state") };
  const signalling = new Signalling({ url: "http://h", room: "r", token, patience: 5 }, listener);
  const joining = signalling.join();
  assert.equal(asked.length, 1);
  signalling.leave();
  asked[0]("t");
  await assert.rejects(joining, (error) => error instanceof RoostError && error.code === "closed");
  assert.equal(FakeSocket.all.length, 0);
  assert.deepEqual(heard, []);
});

test("leaving while the token is fetched to join again opens no socket, before and after the end", async (context) => {
  for (const isEarly of [true, false]) {
    const { token, asked } = fetched();
    const { signalling, socket, heard } = await joined(context, token, asked);
    const next = await broken(socket);
    next.say({ type: "error", code: "session-gone", message: "", retry: "now" });
    await until(() => asked.length === 2);
    signalling.leave();
    if (!isEarly) await until(() => heard.at(-1)[0] === "ended");
    asked[1]("t");
    await new Promise((resolve) => setTimeout(resolve, 150));
    assert.equal(FakeSocket.last, next);
    assert.deepEqual(heard.filter(([kind]) => kind === "ended").map(([, { reason, error }]) => [reason, error]), [["left", undefined]]);
  }
});

test("leaving while the server's answer is on its way says goodbye over the socket that is open", async (context) => {
  FakeSocket.all = [];
  const listener = Object.fromEntries(["joined", "resumed", "message", "state", "ended"].map((kind) => [kind, () => {}]));
  const first = new Signalling({ url: "http://h", room: "r", token: "t", patience: 5 }, listener);
  const joining = first.join();
  joining.catch(() => {});
  await until(() => FakeSocket.all[0]?.sent.length === 1);
  first.leave();
  await assert.rejects(joining, (error) => error.code === "closed");
  assert.deepEqual(FakeSocket.last.sent.map(({ type }) => type), ["auth", "leave"]);

  const { signalling, socket } = await joined(context);
  const next = await broken(socket);
  signalling.leave();
  assert.deepEqual(next.sent.map(({ type }) => type), ["resume", "leave"]);
});

test("what is thrown where a session begins fails joining, leaves, and it may be joined again", async () => {
  FakeSocket.all = [];
  const thrown = new Error("a listener's");
  let fails = true;
  const listener = Object.fromEntries(["resumed", "message", "state", "ended"].map((kind) => [kind, () => {}]));
  listener.joined = () => { if (fails) throw thrown; };
  const signalling = new Signalling({ url: "http://h", room: "r", token: "t", patience: 5 }, listener);
  const join = async () => {
    const joining = signalling.join();
    joining.catch(() => {});
    await until(() => FakeSocket.last?.sent.length === 1);
    FakeSocket.last.say({ type: "joined", resumeToken: "r1", lastEvent: 4, pingInterval: 20 });
    return joining;
  };
  await assert.rejects(join(), (error) => error === thrown);
  assert.deepEqual([FakeSocket.last.of("leave").length, FakeSocket.last.readyState], [1, 3]);
  await assert.rejects(signalling.request({ type: "mute" }), (error) => error.code === "closed");
  fails = false;
  FakeSocket.all = [];
  assert.equal((await join()).type, "joined");
  signalling.leave();
  FakeSocket.last.onclose({ code: 4000 });
});

test("what is thrown where the next session begins ends it, with what was asked meanwhile", async () => {
  FakeSocket.all = [];
  const thrown = new Error("a listener's");
  const [ends, sessions] = [[], []];
  const listener = { message() {}, state() {}, resumed() {}, ended: (end) => ends.push(end), joined: () => {
    sessions.push(1);
    if (sessions.length === 2) throw thrown;
  } };
  const signalling = new Signalling({ url: "http://h", room: "r", token: "t", patience: 5 }, listener);
  const joining = signalling.join();
  await until(() => FakeSocket.all[0]?.sent.length === 1);
  FakeSocket.last.say({ type: "joined", resumeToken: "r1", lastEvent: 4, pingInterval: 20 });
  await joining;
  const asked = signalling.request({ type: "mute" });
  asked.catch(() => {});
  const next = await broken(FakeSocket.last);
  next.say({ type: "error", code: "session-gone", message: "", retry: "now" });
  await until(() => FakeSocket.last !== next && FakeSocket.last.sent.length === 1);
  FakeSocket.last.say({ type: "joined", resumeToken: "r2", lastEvent: 1, pingInterval: 20 });
  await until(() => ends.length === 1);
  assert.deepEqual([ends[0].error, FakeSocket.last.of("leave").length], [thrown, 1]);
  await assert.rejects(asked);
});

test("an end that the server has said is not tried again", async (context) => {
  const { socket, heard } = await joined(context);
  socket.say({ type: "closed", reason: "removed" });
  socket.onclose({ code: 4010 });
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(FakeSocket.all.length, 1);
  assert.equal(heard.at(-1)[1].reason, "removed");
});
