// What is kept of what people write: chat.js, with what it sends and what it takes for a link.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hide } from "./StandIns/dom.mjs";

// What is said in passing goes by itself, and no test waits for it.
const { setTimeout: later } = globalThis;
globalThis.setTimeout = (act, time) => later(act, time).unref();
const settled = () => new Promise((resolve) => setImmediate(resolve));

const { Chat } = await import(`${process.env.PAGES}/chat.js`);
const { decoded, encoded } = await import(`${process.env.PAGES}/letters.js`);
const { pieces } = await import(`${process.env.PAGES}/links.js`);
const { learn } = await import(`${process.env.PAGES}/words.js`);
await learn("call");

const people = ["ada", "bob", "eve"].map((identity) => ({ id: `PA_${identity}`, identity, name: identity.toUpperCase(), tracks: [] }));

/** A call with two others in it, of which only what the chat needs is there. */
class FakeCall extends EventTarget {
  hasEntered = true;
  sent = [];
  fails = false;
  #handlers = [];
  room = {
    me: people[0],
    participants: new Map(people.slice(1).map((each) => [each.id, each])),
    sendData: async (payload, options) => {
      if (this.fails) throw Object.assign(new Error("no"), { code: "session-gone" });
      this.sent.push({ ...decoded(payload), ...options });
    },
  };

  on(type, handle) {
    this.#handlers.push([type, handle]);
  }

  happens(type, detail) {
    for (const [each, handle] of this.#handlers) if (each === type) handle(detail);
  }

  /** Someone says something, as the page does or as a program that knows of no ids. */
  says(identity, text, id = `${Math.random()}`) {
    const payload = id === null ? btoa(text) : encoded({ id, text });
    this.happens("data", { from: identity && `PA_${identity}`, topic: "chat", payload });
  }
}

function chatting() {
  const call = new FakeCall();
  return { call, chat: new Chat(call) };
}

const texts = ({ entries }) => entries.map(({ name, text }) => `${name}: ${text}`);
const kept = ({ entries }) => entries.reduce((sum, { folded }) => sum + 1 + folded.length, 0);

test("what is said by all is kept in its order, each once, and counted until it is looked at", () => {
  const { call, chat } = chatting();
  call.says("bob", "hello", "1");
  call.says("eve", "hi", "1"); // Ids are each sender's own.
  call.says("bob", "hello", "1"); // Sent once more, since its sender didn't know that it had come.
  call.says("bob", "plain", null);
  call.says(null, "a notice", null);
  assert.deepEqual(texts(chat), ["BOB: hello", "EVE: hi", "BOB: plain", "Sender not shown: a notice"]);
  assert.equal(chat.unread, 4);
  chat.isWatched = true;
  call.says("bob", "more");
  assert.equal(chat.unread, 0);
  hide(true); // Behind another page nothing is seen of it.
  call.says("bob", "more");
  assert.equal(chat.unread, 1);
  hide(false);
  assert.equal(chat.unread, 0);
  chat.isWatched = false;
  call.says("bob", "more");
  assert.equal(chat.unread, 1);
});

test("what is no text of the chat is no message", () => {
  const { call, chat } = chatting();
  const payloads = ["%%%", btoa("\xff\xfe"), encoded({ text: 5 }), encoded({ text: " \n\u0000 " }), encoded({ other: "x" }), ""];
  for (const payload of payloads) call.happens("data", { from: "PA_bob", topic: "chat", payload });
  call.happens("data", { from: "PA_bob", topic: "reaction", payload: encoded({ text: "x" }) });
  assert.deepEqual(chat.entries, []);
  call.says("bob", "[1, 2]", null);
  assert.deepEqual(texts(chat), ["BOB: [1, 2]"]);
});

test("no more is kept than there is a bound for, and of one text no more than a bound", () => {
  const { call, chat } = chatting();
  for (let index = 0; index < 3000; index++) call.says(`x${index}`, `text ${index}`);
  assert.equal(kept(chat), 500);
  assert.equal(chat.entries.at(-1).text, "text 2999");
  call.says("bob", "😀".repeat(20_000));
  assert.ok(chat.entries.at(-1).text.length <= 4001);
  assert.match(chat.entries.at(-1).text, /😀…$/u);
});

test("a flood by one has one place, and drives out nothing of others", () => {
  const { call, chat } = chatting();
  call.says("eve", "first");
  for (let index = 0; index < 5000; index++) {
    call.says("bob", `flood ${index}`);
    if (index === 2500) call.says("eve", "between");
  }
  assert.deepEqual(chat.entries.filter(({ sender }) => sender === "eve").map(({ text }) => text), ["first", "between"]);
  const [flood, ...others] = chat.entries.filter(({ more }) => more > 0);
  assert.equal(others.length, 0);
  assert.equal(flood.more, 5000 - 10);
  assert.equal(flood.folded.length, 20);
  assert.equal(flood.folded.at(-1).text, "flood 4999");
  assert.ok(kept(chat) < 40);
});

test("one's own flood stays as it is: one sees what one has sent", () => {
  const { chat } = chatting();
  for (let index = 0; index < 30; index++) assert.ok(chat.write(`own ${index}`));
  assert.equal(chat.entries.length, 30);
  assert.equal(chat.unread, 0);
});

test("what was said before one came is recalled once, also when the session begins again", () => {
  const { call, chat } = chatting();
  const said = (identity, text, id, seconds) => ({ from: `PA_${identity}`, identity, name: identity.toUpperCase(), topic: "chat",
    payload: id ? encoded({ id, text }) : btoa(text), time: new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString() });
  const before = [said("bob", "one", "1", 1), said("ada", "mine", "2", 2), said("eve", "plain", null, 3),
    { ...said("eve", "x", "9", 4), topic: "other" }];
  call.happens("history", before);
  assert.deepEqual(texts(chat), ["BOB: one", "ADA: mine", "EVE: plain"]);
  assert.deepEqual(chat.entries.map(({ isOwn }) => isOwn), [false, true, false]);
  assert.equal(chat.unread, 2);
  call.says("bob", "two", "3");
  call.happens("joined", {});
  call.happens("history", [...before, said("bob", "two", "3", 5), said("eve", "missed", "4", 6)]);
  assert.deepEqual(texts(chat), ["BOB: one", "ADA: mine", "EVE: plain", "BOB: two", "EVE: missed"]);
  call.hasEntered = false;
  call.happens("joined", {}); // Another call.
  assert.deepEqual([chat.entries.length, chat.unread], [0, 0]);
});

test("what a program says twice in the same words was said twice, also to who comes later", () => {
  const { call, chat } = chatting();
  const said = (seconds) => ({ identity: "bob", name: "BOB", topic: "chat", payload: btoa("tick"), time: new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString() });
  call.happens("history", [said(1), said(2)]);
  assert.deepEqual(texts(chat), ["BOB: tick", "BOB: tick"]);
  call.says("bob", "tick", null);
  call.happens("history", [said(1), said(2), said(3), said(4)]);
  assert.deepEqual(texts(chat), Array(4).fill("BOB: tick"), "one was missed");
});

test("what couldn't be sent says so, and is sent again under the same id", async () => {
  const { call, chat } = chatting();
  call.fails = true;
  assert.equal(chat.write("  \n "), false);
  assert.equal(chat.write("hello"), true);
  assert.equal(chat.entries[0].state, "sending");
  await settled();
  assert.equal(chat.entries[0].state, "failed");
  call.fails = false;
  chat.again(chat.entries[0]);
  await settled();
  assert.equal(chat.entries[0].state, "sent");
  assert.deepEqual(call.sent.map(({ text, topic, id }) => [text, topic, `ada ${id}`]), [["hello", "chat", chat.entries[0].key]]);
});

test("addresses of the web are links, and nothing else is", () => {
  const links = (text) => pieces(text).filter(({ href }) => href).map(({ text }) => text);
  const whole = (text) => assert.equal(pieces(text).map(({ text: piece }) => piece).join(""), text);
  const cases = [
    ["see https://a.example/b?c=d#e, and http://b.example.", ["https://a.example/b?c=d#e", "http://b.example"]],
    ["(https://a.example/wiki/B_(c)) [http://b.example]", ["https://a.example/wiki/B_(c)", "http://b.example"]],
    ["看https://a.example/路径，然后", ["https://a.example/路径"]],
    ["HTTPS://A.EXAMPLE/!", ["HTTPS://A.EXAMPLE/"]],
    ["https://a.example\u202e/moc.live", ["https://a.example"]],
    ["https://bank.example@evil.example https:// http://", []],
    ["javascript:alert(1) data:text/html,x ftp://a.example //a.example www.a.example <a href='x'>", []],
    [`https://a.example/${"x".repeat(5000)}`, []],
    ["https://en.wikipedia.org/wiki/Ohm's_law, 'https://a.example/b' 'http://b.example'", ["https://en.wikipedia.org/wiki/Ohm's_law",
      "https://a.example/b", "http://b.example"]],
    ["https://a.example's page", ["https://a.example"]],
    ["看https://x.example谢谢 https://x.example:8080コーヒー。", ["https://x.example", "https://x.example:8080"]],
    ["https://www.例え https://例え.テスト/路径", ["https://www.例え", "https://例え.テスト/路径"]],
    ["https://x.example谢谢.evil.example https://x.example谢谢/ https://x.example谢谢a https://x.@谢谢", []],
    ["(http://[::1]:7880/?room=r) http://[::1]", ["http://[::1]:7880/?room=r", "http://[::1]"]],
    ["http://[::1 http://[g]/ http://[::1].evil.example/ http://[::1]@evil.example/", []],
    ["https://a.example/?(a[b]{c}) https://a.example/)]}(", ["https://a.example/?(a[b]{c})", "https://a.example/)]}("]],
  ];
  for (const [text, wanted] of cases) {
    assert.deepEqual(links(text), wanted, text.slice(0, 60));
    whole(text);
  }
  for (const { href } of pieces(cases.map(([text]) => text).join(" "))) if (href) assert.match(href, /^https?:\/\/[^@]+$/);
});

test("of a text that is nothing but addresses the first twenty are links", () => {
  const text = "http://a.b ".repeat(363);
  const found = pieces(text);
  assert.equal(found.filter(({ href }) => href).length, 20);
  assert.equal(found.length, 40, "each with a space behind it, the last with all the rest");
  assert.equal(found.map(({ text: piece }) => piece).join(""), text);
});

test("an address leads where it seems to: its host is a name, in which no sign looks like the end of it", () => {
  const hrefs = (text) => pieces(text).flatMap(({ href }) => href ?? []);
  const names = ["localhost:7880", "127.0.0.1", "a-b.example", "xn--bcher-kva.example", "bücher.example", "пример.рф", "例え.テスト", "コーヒー.jp",
    "हिन्दी.example", "a.example.", "مثال.إختبار"];
  for (const name of names) assert.equal(hrefs(`see http://${name}/x here`).length, 1, name);
  // Fraction and division slashes, fullwidth and big ones, a half, overlays, what is quick to read as one among letters of Latin.
  const signs = ["\u2044", "\u2215", "\uff0f", "\u29f8", "\u2571", "\u00bd", "\u0338", "\u3033", "\u4e3f", "\u30ce", "\ua789", "\uff20",
    "\u02d0", "\u05c3", "\u3164", "\u00b7", "\u2024", "\uff0e", "@", "\\", "%2f", "_", "[", "|"];
  for (const sign of signs) {
    const text = `http://good.example${sign}x.evil.example/`;
    assert.deepEqual(pieces(text), [{ text }], `U+${sign.codePointAt(0).toString(16)}`);
  }
  for (const host of [":80", "a..b", ".", "", "a.example:port", "a.example:123456", "pаypal.example"]) {
    assert.deepEqual(hrefs(`http://${host}/`), [], host);
  }
});

test("the worst text costs as little as any", () => {
  const signs = [".", ",", "!", "…", ")", "]", "}", "()", ")(", "[)", ")]}", "{[(", "(((.", "\u2026)"];
  const texts = signs.map((sign) => `http://a/${sign.repeat(4000)}`.slice(0, 4000));
  const words = ["http://a/) ", "http://", "http://a⁄", "https://a.example/(((("].map((piece) => piece.repeat(4000).slice(0, 4000));
  const start = performance.now();
  for (const text of [...texts, ...words]) {
    for (let round = 0; round < 20; round++) {
      assert.equal(pieces(text).map(({ text: piece }) => piece).join(""), text);
    }
  }
  // What looks at each sign once for each other takes a minute.
  assert.ok(performance.now() - start < 3000);
});

test("no name is taken for who says nothing of itself", () => {
  const { call, chat } = chatting();
  call.says(null, "from no one", "1");
  call.room.participants.get("PA_bob").name = "Sender not shown";
  call.says("bob", "from somebody", "2");
  call.room.participants.get("PA_bob").name = "BOB";
  call.happens("history", [{ from: null, topic: "chat", payload: encoded({ id: "3", text: "of before" }), time: new Date().toISOString() }]);
  assert.deepEqual(chat.entries.map(({ sender, name }) => [sender, name]),
    [["", "Sender not shown"], ["bob", "Sender not shown"], ["", "Sender not shown"]]);
});
