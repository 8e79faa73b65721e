// By which token one joins: call.js, with a link for many.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./StandIns/connection.mjs";
import "./StandIns/dom.mjs";
import { FakeServer, settled } from "./StandIns/server.mjs";
import { FakeSocket } from "./StandIns/socket.mjs";

globalThis.location = new URL("http://h/?room=r#invitation=link");
const opened = [];
const tokenOf = (name, number) => `x.${btoa(JSON.stringify({ name, number, video: { room: "r" } }))}.y`;
globalThis.fetch = async (url, { body }) => {
  assert.equal(url, "/v1/invitations/open");
  const { name } = JSON.parse(body);
  opened.push(name);
  return { ok: true, json: async () => ({ token: tokenOf(name, opened.length) }) };
};
const { Call } = await import(`${process.env.PAGES}/call.js`);

test("a name that is corrected before one is in is the one that one has; afterwards it is the token's", async (context) => {
  const server = new FakeServer();
  const answer = FakeSocket.heard;
  const call = new Call();
  context.after(() => {
    call.leave();
    FakeSocket.last.onclose?.({ code: 4000 });
  });
  // A host has to let one in, and one waits no longer.
  FakeSocket.heard = (socket, { type }) => {
    if (type === "auth") queueMicrotask(() => socket.say({ type: "waiting", until: "2026-05-04T12:10:00.000Z", pingInterval: 20 }));
  };
  for (let turn = 0; turn < 2; turn++) {
    const joining = call.join("r", "Ana");
    await settled();
    call.leave();
    await assert.rejects(joining, { code: "closed" });
  }
  assert.deepEqual(opened, ["Ana"], "who tries once more is no other");
  FakeSocket.heard = answer;
  await call.join("r", "Anna");
  assert.deepEqual([opened, server.heard("auth").at(-1).token, call.hasEntered], [["Ana", "Anna"], tokenOf("Anna", 2), true]);
  call.leave();
  await settled();
  await call.join("r", "Eve");
  assert.deepEqual([opened, server.heard("auth").at(-1).token], [["Ana", "Anna"], tokenOf("Anna", 2)], "there is no other token");
});
