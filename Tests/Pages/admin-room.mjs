// The room that is looked at by administration, and those in it: admin-room.js, admin-people.js, with a server as the test wants it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pass } from "./StandIns/clock.mjs";
import "./StandIns/dom.mjs";
import { markUp } from "./StandIns/markup.mjs";

markUp("admin.html");
const { desk } = await import(`${process.env.PAGES}/admin-desk.js`);
const { RoomPart } = await import(`${process.env.PAGES}/admin-room.js`);
const { learn, say } = await import(`${process.env.PAGES}/words.js`);
await learn("call", "admin");
// What the page fetches when it is opened is here already.
for (const name of ["admin-events.js", "admin-person.js"]) await import(`${process.env.PAGES}/${name}`);

const element = (id) => document.getElementById(id);
const settled = async () => {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const encoder = new TextEncoder();
const refused = (status, message = "no") => Object.assign(new Error(message), { status });

const who = (name, tracks = []) => ({ id: `PA_${name}`, identity: name, name: "", joinedAt: "2026-05-04T12:00:00.000Z", received: 0, sent: 0, tracks });
const figures = (items, more = {}) => ({ room: { id: "RM_1", name: "r", participants: items.length, publishers: 0, age: 1, received: 0, sent: 0,
  waiting: 0, ...more.room }, items, hasMore: more.hasMore ?? false });

/** A server of one room: its streams say what the test has them say. */
function served(more = {}) {
  const server = { asked: [], muted: [], events: [], waiters: [], ...more };
  desk.rest = {
    statistics: async (query) => {
      server.asked.push(query);
      return new Response(new ReadableStream({ start(controller) { server.stream = controller; } }));
    },
    participants: async () => ({ items: server.people }),
    mute: async (room, identity, track, isMuted) => {
      if (server.fails?.(identity)) throw server.fails(identity);
      server.muted.push([identity, track, isMuted]);
    },
    events: async (room, query) => {
      server.events.push(query);
      return { roomId: server.life ?? "RM_1", items: [], lastEvent: 0 };
    },
    waiting: async () => ({ items: server.waiters }),
    admit: async (room, identity) => (server.waiters = server.waiters.filter((each) => each.identity !== identity)),
    refuse: async (room, identity) => (server.waiters = server.waiters.filter((each) => each.identity !== identity)),
  };
  server.end = async (reason) => {
    server.stream.enqueue(encoder.encode(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`));
    server.stream.close();
    await settled();
  };
  server.say = async (type, data) => {
    server.stream.enqueue(encoder.encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`));
    await settled();
  };
  return server;
}

let left = 0;
const room = new RoomPart({ left: () => (left += 1) });
test.afterEach(() => {
  room.open(null);
  element("status").replaceChildren();
  element("notice").hidden = true;
});
async function opened(server) {
  room.open("r");
  await settled();
  return server;
}
const row = (name) => [...element("people").children].find(({ person }) => person.identity === name);
const said = () => element("status").children.map(({ textContent }) => textContent);
const microphone = (more) => ({ id: "TR_1", kind: "audio", source: "microphone", muted: false, mutedByAdmin: false, ...more });

async function press(id) {
  element(id).click();
  await settled();
  element("question-yes").click();
  element("question").open = false;
  await settled();
}

test("all are muted, and all are allowed to unmute, by buttons of their own, however few are shown", async () => {
  const server = await opened(served());
  // One is shown, whom a host has muted; there are two more.
  const shown = who("ada", [microphone({ mutedByAdmin: true })]);
  await server.say("room", figures([shown], { hasMore: true }));
  server.people = [shown, who("bob", [microphone()]), who("eve", [microphone({ mutedByAdmin: true }), { id: "TR_2", source: "camera" }])];
  assert.deepEqual(["mute-all", "allow-all"].map((id) => element(id).disabled), [false, false]);
  await press("mute-all");
  assert.deepEqual(server.muted, [["bob", "TR_1", true]]);
  assert.deepEqual(said(), [say("admin.done.mute-all", { count: 1 })]);
  server.muted = [];
  element("allow-all").click();
  await settled();
  assert.deepEqual([element("question").open, server.muted], [true, []]);
  element("question-yes").click();
  element("question").open = false;
  await settled();
  assert.deepEqual(server.muted, [["ada", "TR_1", false], ["eve", "TR_1", false]]);
});

test("where it stops half way it says so, and not that it is done", async () => {
  const server = await opened(served({ fails: (identity) => identity === "bob" && refused(403) }));
  server.people = ["ada", "bob", "eve"].map((name) => who(name, [microphone()]));
  await server.say("room", figures(server.people));
  await press("mute-all");
  assert.deepEqual([server.muted.length, said(), element("notice").hidden], [1, [], false]);
  assert.equal(element("notice-text").textContent, say("admin.stopped", { count: 1, reason: say("admin.problem.forbidden") }));
  assert.equal(element("mute-all").attributes.has("aria-busy"), false);
});

test("a room that was made again while its stream goes on has other events, which are read from their beginning", async () => {
  const server = await opened(served());
  await server.say("room", figures([who("ada")]));
  element("happened").open = true;
  await settled();
  assert.equal(server.events.length, 1);
  server.life = "RM_2";
  await server.say("room", figures([who("bob")], { room: { id: "RM_2" } }));
  assert.deepEqual(server.events.map(({ after, roomId }) => [after, roomId]), [[undefined, undefined], [undefined, undefined]]);
  await server.say("room", figures([who("bob")], { room: { id: "RM_2" } }));
  assert.equal(server.events.length, 2);
  element("happened").open = false;
  await settled();
});

test("a token that one room refuses is still good for others; one that is over is not", async () => {
  for (const reason of ["removed", "notAllowed"]) {
    const server = await opened(served());
    await server.say("room", figures([who("ada")]));
    await server.end(reason);
    assert.deepEqual([left, element("room-about").textContent, element("people").children.length], [0, say("admin.room.refused"), 0]);
  }
  const server = await opened(served());
  await server.end("tokenExpired");
  assert.equal(left, 1);
});

test("who is looked at closely is asked for and stays, however many there are, until they leave, which is said", async () => {
  const server = await opened(served());
  await server.say("room", figures([who("ada"), who("bob")]));
  row("bob").querySelector(".closer").open = true;
  await settled();
  // A small room is asked for as it was.
  await server.say("room", figures([who("ada"), who("bob")]));
  assert.equal(server.asked.length, 1);
  // Now bob is behind the first of many.
  await server.say("room", figures([who("ada"), who("ann")], { hasMore: true }));
  assert.deepEqual([server.asked.at(-1).include, row("bob") !== undefined, said()], ["PA_bob", true, []]);
  await server.say("room", figures([who("ada"), who("ann"), who("bob")], { hasMore: true }));
  assert.deepEqual([server.asked.length, row("bob").querySelector(".closer").open], [2, true]);
  const title = element("room-title");
  row("bob").querySelector(".remove").focus();
  await server.say("room", figures([who("ada"), who("ann")], { hasMore: true }));
  assert.deepEqual([row("bob"), said(), document.activeElement], [undefined, [say("admin.event.participant.left", { name: "bob" })], title]);
  // Others go without a word.
  await server.say("room", figures([who("ada")]));
  assert.equal(said().length, 1);
});

test("who was found by a search and is looked at closely stays when the search is over; one that a search leaves out goes without a word", async () => {
  const search = element("people-search");
  const type = async (text) => {
    search.value = text;
    search.dispatchEvent(new Event("input"));
    pass(300);
    await settled();
  };
  const server = await opened(served());
  await server.say("room", figures([who("ada")], { hasMore: true }));
  await type("zoe");
  await server.say("room", figures([who("zoe")]));
  row("zoe").querySelector(".gets").open = true;
  await settled();
  await type("");
  assert.deepEqual([server.asked.at(-1).search, server.asked.at(-1).include], [undefined, "PA_zoe"]);
  await server.say("room", figures([who("ada"), who("zoe")], { hasMore: true }));
  await type("ada");
  assert.deepEqual([server.asked.at(-1).search, server.asked.at(-1).include], ["ada", undefined]);
  await server.say("room", figures([who("ada")]));
  assert.deepEqual([row("zoe"), said()], [undefined, []]);
});

test("eight at most are asked for, those that were opened last", async () => {
  const server = await opened(served());
  const names = [..."abcdefghij"];
  await server.say("room", figures(names.map((name) => who(name)), { hasMore: true }));
  for (const name of names) {
    row(name).querySelector(".closer").open = true;
    pass(10);
    await settled();
  }
  await server.say("room", figures(names.map((name) => who(name)), { hasMore: true }));
  assert.equal(server.asked.at(-1).include, names.slice(2).map((name) => `PA_${name}`).join());
});

test("a name that turns writing around turns nothing but itself", async () => {
  const server = await opened(served({ waiters: [{ id: "WT_1", identity: "eve\u202e", name: "Eve", since: "2026-05-04T12:00:00.000Z" }] }));
  await server.say("room", figures([{ ...who("bob\u202e"), name: "Bob" }], { room: { waiting: 1 } }));
  for (const about of [row("bob\u202e").querySelector(".person .about"), element("waiters").children[0].querySelector(".about")]) {
    assert.match(about.textContent, /^\u2068(bob|eve)\u2069 · /);
  }
});

test("of those who wait the next has the focus once one is answered, at the same button", async () => {
  const waiter = (name) => ({ id: `WT_${name}`, identity: name, since: "2026-05-04T12:00:00.000Z" });
  const server = await opened(served({ waiters: ["ann", "bob", "eve"].map(waiter) }));
  await server.say("room", figures([who("ada")], { room: { waiting: 3 } }));
  const focused = () => [document.activeElement.parent?.waiter?.identity ?? document.activeElement, document.activeElement.classes?.at(-1)];
  const answer = async (name, act) => {
    const button = [...element("waiters").children].find(({ waiter: { identity } }) => identity === name).querySelector(`.${act}`);
    button.focus();
    button.click();
    await settled();
  };
  await answer("ann", "admit");
  assert.deepEqual(focused(), ["bob", "admit"]);
  await answer("eve", "refuse");
  assert.deepEqual(focused(), ["bob", "refuse"]);
  await answer("bob", "refuse");
  assert.equal(document.activeElement, element("room-title"));
});
