// What administration asks of the server: rest.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./StandIns/dom.mjs";

globalThis.location = new URL("http://h/admin");
const { REST } = await import(`${process.env.PAGES}/rest.js`);
const { learn, say } = await import(`${process.env.PAGES}/words.js`);
await learn("call");

/** Answers with that, whatever is asked, and writes down what was. */
function server(status, body, headers = {}) {
  const asked = [];
  globalThis.fetch = async (url, { method, headers: sent, body: text }) => {
    asked.push([method, `${url.pathname}${url.search}`, text ?? "", sent.authorization]);
    return new Response(body === null ? null : typeof body === "string" ? body : JSON.stringify(body), { status, headers });
  };
  return asked;
}

test("names are one segment of a path each, whatever they are made of", async () => {
  const asked = server(200, { items: [{ identity: "ß/?" }] });
  const rest = new REST("t");
  assert.deepEqual(await rest.explain("a/b", "ß/?"), { identity: "ß/?" });
  await rest.mute("a/b", "?x", "TR_1", true);
  await rest.waiting("a b");
  await rest.admit("r", "eve#1", "WT_1");
  await rest.refuse("r", "eve#1", "WT_1");
  await rest.invitations("a/b");
  await rest.invite("r", { ttl: 60 });
  await rest.revoke("r", "IV_/1");
  assert.deepEqual(asked.map(([method, path, body]) => [method, path, body]), [
    ["GET", "/v1/rooms/a%2Fb/explain?identity=%C3%9F%2F%3F", ""],
    ["POST", "/v1/rooms/a%2Fb/participants/%3Fx/tracks/TR_1/mute", '{"muted":true}'],
    ["GET", "/v1/rooms/a%20b/waiting", ""],
    ["POST", "/v1/rooms/r/participants/eve%231/admit", '{"waiting":"WT_1"}'],
    // One session of it: another, which is in, is no matter of it.
    ["POST", "/v1/rooms/r/participants/eve%231/admit", '{"waiting":"WT_1","allowed":false}'],
    ["GET", "/v1/rooms/a%2Fb/invitations", ""],
    ["POST", "/v1/rooms/r/invitations", '{"ttl":60}'],
    ["DELETE", "/v1/rooms/r/invitations/IV_%2F1", ""],
  ]);
  assert.ok(asked.every(([, , , authorization]) => authorization === "Bearer t"));
});

test("one who has left is no longer explained", async () => {
  server(200, { items: [] });
  assert.equal(await new REST("t").explain("r", "ada"), undefined);
});

test("a thumbnail is its bytes, with what the headers say of them", async () => {
  server(200, "bytes", { "roost-codec": "vp8", "roost-width": "640", "roost-height": "360", "roost-time": "2026-05-04T12:00:00.000Z" });
  const { bytes, ...found } = await new REST("t").thumbnail("r", "ada", "TR_1");
  assert.deepEqual(found, { codec: "vp8", width: 640, height: 360, time: "2026-05-04T12:00:00.000Z" });
  assert.equal(Buffer.from(bytes).toString(), "bytes");
});

test("a refusal says its status, its type and what was wrong; no answer says that", async () => {
  server(409, { type: "urn:roost:problem:no-thumbnail", title: "No", detail: "it is muted" });
  await assert.rejects(new REST("t").thumbnail("r", "ada", "TR_1"), { status: 409, type: "no-thumbnail", message: "it is muted" });
  server(502, "<html>");
  await assert.rejects(new REST("t").close("r"), { status: 502, type: "" });
  globalThis.fetch = async () => { throw new TypeError("no way"); };
  await assert.rejects(new REST("t").close("r"), { status: 0 });
});

test("an answer has 15 s, all of it, and that it took too long is said in other words; a stream has its own signal", async (t) => {
  const [spans, signals] = [[], []];
  const own = new AbortController();
  t.mock.method(AbortSignal, "timeout", (span) => {
    spans.push(span);
    return AbortSignal.abort(new DOMException("late", "TimeoutError"));
  });
  globalThis.fetch = async (_, { signal }) => {
    signals.push(signal);
    signal.throwIfAborted();
    return new Response("");
  };
  const rest = new REST("t");
  const late = { status: 0, message: say("rest.late") };
  await assert.rejects(rest.close("r"), late);
  await rest.statistics({}, { signal: own.signal });
  assert.deepEqual([spans, signals[1]], [[15_000], own.signal]);
  // The head has come, and what follows doesn't.
  const body = () => new ReadableStream({ start(controller) { controller.error(new DOMException("late", "TimeoutError")); } });
  globalThis.fetch = async () => new Response(body());
  await assert.rejects(rest.participant("r", "ada"), late);
  await assert.rejects(rest.thumbnail("r", "ada", "TR_1"), late);
  globalThis.fetch = async () => { throw new TypeError("no way"); };
  await assert.rejects(rest.close("r"), { status: 0, message: say("rest.away") });
});

test("what has nothing to say is no fault", async () => {
  server(204, null);
  assert.equal(await new REST("t").close("r"), null);
});

test("every page of a list is read, and no more than is wanted", async () => {
  const all = Array.from({ length: 25 }, (_, index) => index);
  const limits = [];
  const page = async ({ limit, after }) => {
    limits.push(limit);
    const first = after ? Number(after) : 0;
    const items = all.slice(first, first + Math.min(limit, 10));
    return { items, ...(first + items.length < all.length && { next: String(first + items.length) }) };
  };
  assert.deepEqual(await REST.upTo(1000, page), { items: all, hasMore: false });
  assert.deepEqual(limits, [1000, 990, 980]);
  assert.deepEqual(await REST.upTo(12, page), { items: all.slice(0, 12), hasMore: true });
});
