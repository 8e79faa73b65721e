import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import "./StandIns/dom.mjs";

const messages = await import(`${process.env.PAGES}/messages.js`);
const { default: english } = await import(`${process.env.PAGES}/words-en.js`);
const source = (name) => readFileSync(`${process.env.PAGES}/${name}`, "utf8");
const problem = (name) => messages.deviceProblem(Object.assign(new Error("no"), { name }), "both");
const reasons = ["left", "removed", "duplicateIdentity", "movedElsewhere", "roomClosed", "connectionLost", "serverShutdown"];

test("a browser that blocks the devices is named with the way out", () => {
  for (const name of ["NotAllowedError", "SecurityError"]) {
    assert.match(problem(name), /Click the icon next to the address to allow camera and microphone\b/, name);
  }
  assert.notEqual(problem("NotFoundError"), problem("NotReadableError"));
});

test("who is removed reads that a host did it", () => {
  const end = messages.ending({ reason: "removed" });
  assert.deepEqual(end, { text: "A host removed you from this room.", again: false });
  assert.match(messages.joinProblem({ code: "token-removed", message: "" }), /^A host removed you from this room\./);
});

test("leaving is said in passing, every other end stays in view", () => {
  assert.equal(messages.ending({ reason: "left" }), null);
  assert.match(source("page.js"), /tell\(say\("end.left"\)\)/);
  for (const reason of reasons.slice(1)) assert.match(messages.ending({ reason }).text, /^[A-Z].*\.$/, reason);
});

test("buttons say Full screen and Cancel", () => {
  assert.match(english["tile.full"], /^Full screen: \{name\}$/);
  for (const name of ["words-en.js", "words-admin-en.js", "index.html", "admin.html", "admin.js"]) {
    assert.doesNotMatch(source(name), /["`>](?:Fullscreen|Full-screen|Abort)\b/, name);
  }
});

test("every refusal of a join says something of its own or what the server said", () => {
  const schema = JSON.parse(readFileSync(process.env.SCHEMA, "utf8"));
  const codes = schema.$defs.ErrorCode.enum;
  assert.ok(codes.length > 15);
  for (const code of codes) {
    const text = messages.joinProblem({ code, message: "(what the server said)" });
    assert.match(text, /^[A-Z].*[.)]$/, code);
  }
});
