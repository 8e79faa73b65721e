// The links that let others in, as a host's card has them: invite.js, with a server that keeps them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeElement, load } from "./StandIns/dom.mjs";

// What is said in passing goes by itself, and no test waits for it.
const { setTimeout: later } = globalThis;
globalThis.setTimeout = (act, time) => later(act, time).unref();
globalThis.Option = class extends FakeElement {};
const shown = (id, root = document.body) => {
  for (const each of root.children) {
    const found = each.id === id ? each : shown(id, each);
    if (found) return found;
  }
  return null;
};
const { Invite } = await import(`${process.env.PAGES}/invite.js`);
const { learn } = await import(`${process.env.PAGES}/words.js`);
await learn("call");
const settled = async () => {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** What the server has of a room's invitations. */
class FakeServer {
  invitations = [];
  refuses = null; // an id that it doesn't revoke
  asked = [];
  #count = 0;

  constructor() {
    globalThis.fetch = async (url, { method }) => {
      this.asked.push(`${method} ${url.pathname}`);
      const id = url.pathname.split("/")[5];
      if (method === "GET") return Response.json({ items: this.invitations.map((each) => ({ id: each })) });
      if (method === "POST") return Response.json({ id: this.add(), url: `http://h/#invitation=${this.#count}` }, { status: 201 });
      if (id === this.refuses) return Response.json({ type: "urn:roost:problem:full" }, { status: 503 });
      const isThere = this.invitations.includes(id);
      this.invitations = this.invitations.filter((each) => each !== id);
      return new Response(null, { status: isThere ? 204 : 404 });
    };
  }

  add() {
    this.invitations.push(`IV_${++this.#count}`);
    return this.invitations.at(-1);
  }
}

class FakeCall extends EventTarget {
  #handlers = [];
  hasEntered = true;
  hosts = [];
  roomName = "r";
  token = "t";
  room = { participants: new Map() };

  constructor(isHost) {
    super();
    this.isHost = isHost;
  }

  on(type, handle) {
    this.#handlers.push([type, handle]);
  }

  /** So many others are in, after something of that type. */
  happens(type, others) {
    this.room.participants = new Map(Array.from({ length: others }, (_, index) => [`PA_${index}`, {}]));
    for (const [each, handle] of this.#handlers) if (each === type) handle({});
  }
}

/** The card as it is when the page has just been loaded, with no one else in the call. */
async function opened(isHost = true) {
  load();
  for (const id of ["invite", "stage", "status", "announcement"]) document.body.append(document.getElementById(id));
  const call = new FakeCall(isHost);
  const invite = new Invite(call);
  await settled();
  const part = (name) => shown(`invite-${name}`);
  const press = async (name) => {
    part(name).dispatchEvent(new Event("click"));
    await settled();
  };
  return { call, invite, part, press, said: () => document.getElementById("status").children.map(({ textContent }) => textContent) };
}

test("a page that is loaded again finds the links that it has made, and those of other hosts", async () => {
  const server = new FakeServer();
  const { part, press } = await opened();
  assert.deepEqual([part("links").hidden, part("stop").hidden, part("make").hidden], [true, true, false]);
  await press("make");
  assert.equal(part("link").value, "http://h/#invitation=1");
  assert.deepEqual([part("links").textContent, part("stop").hidden, part("make").hidden], ["1 link lets others in.", false, true]);
  server.add();
  const again = await opened();
  assert.deepEqual([again.part("links").textContent, again.part("stop").hidden, again.part("make").hidden, again.part("link").value],
    ["2 links let others in.", false, false, ""]);
});

test("a host's card comes with the links that there are, and without them where the answer is late", async (context) => {
  const server = new FakeServer();
  server.add();
  const { fetch } = globalThis;
  const answers = [];
  globalThis.fetch = (...request) => new Promise((done) => answers.push(() => done(fetch(...request))));
  const { invite, part } = await opened();
  assert.deepEqual([invite.isOpen, answers.length], [false, 1]);
  answers.pop()();
  await settled();
  assert.deepEqual([invite.isOpen, part("links").textContent], [true, "1 link lets others in."]);
  invite.close();

  server.add();
  context.mock.timers.enable({ apis: ["setTimeout"] });
  document.getElementById("invite").dispatchEvent(new Event("click"));
  await settled();
  assert.deepEqual([invite.isOpen, answers.length], [false, 1]);
  context.mock.timers.tick(500);
  await settled();
  assert.deepEqual([invite.isOpen, part("links").textContent, document.activeElement], [true, "1 link lets others in.", part("make")]);
  answers.pop()();
  await settled();
  assert.equal(part("links").textContent, "2 links let others in.");
  globalThis.fetch = fetch;
});

test("a host's card that is waited for goes with the first who comes, and comes at once when it is asked for", async () => {
  new FakeServer();
  const { fetch } = globalThis;
  let answer;
  globalThis.fetch = (...request) => new Promise((done) => (answer = () => done(fetch(...request))));
  const { call, invite } = await opened();
  call.happens("event", 1);
  answer();
  await settled();
  assert.equal(invite.isOpen, false);
  document.getElementById("invite").dispatchEvent(new Event("click"));
  call.happens("event", 2);
  answer();
  await settled();
  assert.equal(invite.isOpen, true);
  globalThis.fetch = fetch;
});

test("all are stopped at once, also one that has come or gone meanwhile", async () => {
  const server = new FakeServer();
  server.add();
  const { part, press, said } = await opened();
  await press("make");
  server.add();
  await press("stop");
  assert.deepEqual([server.invitations, said(), part("stop").hidden, part("make").hidden, part("link").value],
    [[], ["No link lets anyone in now"], true, false, ""]);
  assert.equal(document.activeElement, part("make"));
  assert.equal(server.asked.filter((each) => each.startsWith("DELETE /v1/rooms/r/invitations/IV_")).length, 3);
});

test("one that couldn't be stopped is said, and stays", async () => {
  const server = new FakeServer();
  const [first] = [server.add(), server.add()];
  server.refuses = first;
  const { part, press, said } = await opened();
  await press("stop");
  assert.deepEqual([server.invitations, said(), part("links").textContent, part("stop").hidden],
    [[first], ["Not all links could be stopped. Try again in a moment."], "1 link lets others in.", false]);
});

test("who is no host isn't asked, and asks nothing", async () => {
  const server = new FakeServer();
  server.add();
  const { part } = await opened(false);
  assert.deepEqual([server.asked, part("stop").hidden, part("make").hidden], [[], true, true]);
});

test("what came by itself goes with the first who comes, and who was in it goes on at the call", async () => {
  new FakeServer();
  const { call, invite, part } = await opened(false);
  assert.deepEqual([invite.isOpen, part("title").textContent], [true, "You're the only one here"]);
  part("copy").focus();
  call.happens("event", 1);
  assert.deepEqual([invite.isOpen, document.activeElement], [false, document.getElementById("call")]);
});

test("what one has opened oneself stays, whatever happens, until one closes it", async () => {
  new FakeServer();
  const { call, invite, part } = await opened(false);
  call.happens("event", 1);
  document.getElementById("invite").dispatchEvent(new Event("click"));
  await settled();
  assert.equal(document.activeElement, part("copy"));
  for (const others of [1, 2, 0, 1]) {
    call.happens("event", others);
    assert.deepEqual([invite.isOpen, document.activeElement], [true, part("copy")], `${others} others`);
    assert.equal(part("title").textContent, others === 0 ? "You're the only one here" : "Invite others");
  }
});

test("another session of the same call may be one in which one is alone", async () => {
  new FakeServer();
  const { call, invite } = await opened(false);
  call.happens("event", 1);
  assert.equal(invite.isOpen, false);
  call.happens("joined", 0);
  assert.equal(invite.isOpen, true);
  call.happens("joined", 2);
  assert.equal(invite.isOpen, false);
});

test("a link that couldn't be made leaves the focus where it was asked for", async () => {
  new FakeServer();
  const { part, press, said } = await opened();
  const { fetch } = globalThis;
  globalThis.fetch = async () => Response.json({ type: "urn:roost:problem:unavailable" }, { status: 503 });
  document.activeElement = document.body;
  await press("make");
  globalThis.fetch = fetch;
  assert.deepEqual([said(), part("make").disabled], [["The link couldn't be made. Try again in a moment."], false]);
  assert.equal(document.activeElement, part("make"));
});
