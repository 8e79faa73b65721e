// The links that let others in, as a host's card has them: invite.js, with a server that keeps them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeElement } from "./StandIns/dom.mjs";

// What is said in passing goes by itself, and no test waits for it.
const { setTimeout: later } = globalThis;
globalThis.setTimeout = (act, time) => later(act, time).unref();
globalThis.Option = class extends FakeElement {};
document.head = { append: (link) => queueMicrotask(() => link.onload()) };
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
  hasEntered = true;
  hosts = [];
  roomName = "r";
  token = "t";
  room = { participants: new Map() };

  constructor(isHost) {
    super();
    this.isHost = isHost;
  }

  on() {}
}

/** The card as it is when the page has just been loaded, with no one else in the call. */
async function opened(isHost = true) {
  document.body.replaceChildren();
  document.getElementById("status").replaceChildren();
  for (const id of ["invite", "stage", "status", "announcement"]) document.body.append(document.getElementById(id));
  new Invite(new FakeCall(isHost));
  await settled();
  const part = (name) => shown(`invite-${name}`);
  const press = async (name) => {
    part(name).dispatchEvent(new Event("click"));
    await settled();
  };
  return { part, press, said: () => document.getElementById("status").children.map(({ textContent }) => textContent) };
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
