// Which language is shown, and how a text is put together in it: words.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./StandIns/dom.mjs";

const { query, remembered } = await import(`${process.env.PAGES}/visit.js`);
let count = 0;

/** The page as it is loaded by someone else. */
async function loaded({ lang = null, chosen, browser = [] }) {
  remembered.language = chosen;
  if (lang) query.set("lang", lang);
  else query.delete("lang");
  navigator.languages = browser;
  return await import(`${process.env.PAGES}/words.js?${++count}`);
}

test("by hand before by link before by browser, and English where nothing fits", async () => {
  const language = async (visit) => (await loaded(visit)).language();
  assert.equal(await language({ browser: ["fr-FR", "de-AT", "en"] }), "de");
  assert.equal(await language({ lang: "zh-TW", browser: ["de"] }), "zh");
  assert.equal(await language({ chosen: "en", lang: "zh", browser: ["de"] }), "en");
  assert.equal(await language({ chosen: { a: 1 }, lang: "constructor", browser: ["__proto__", ""] }), "en");
  assert.equal(await language({}), "en");
});

test("plurals and figures are those of the language", async () => {
  const english = await loaded({});
  assert.deepEqual([0, 1, 2].map((count) => english.say("call.people", { count })), ["0 people", "1 person", "2 people"]);
  assert.equal(english.figure(1234.5, 1), "1,234.5");
  const german = await loaded({ chosen: "de" });
  assert.deepEqual([1, 2].map((count) => german.say("call.people", { count })), ["1 Person", "2 Personen"]);
  assert.equal(german.figure(1234.5, 1), "1.234,5");
  const chinese = await loaded({ chosen: "zh" });
  assert.deepEqual([1, 2].map((count) => chinese.say("call.people", { count })), ["1 人", "2 人"]);
  assert.equal(chinese.locale(), "zh-Hans");
});

test("a name keeps its direction to itself, whatever is in it", async () => {
  const { learn, say } = await loaded({});
  await learn("call");
  assert.equal(say("call.joined", { name: "Ada" }), "Ada joined");
  assert.equal(say("call.joined", { name: "דנה" }), "\u2068דנה\u2069 joined");
  // It closes no isolation but its own, and turns nothing around.
  assert.equal(say("call.joined", { name: "a\u2069\u202eb\u2066c" }), "\u2068abc\u2069 joined");
  // What looks like a place is a name.
  assert.equal(say("call.joined", { name: "{name} $& $1" }), "{name} $& $1 joined");
});

test("another part is fetched when it is asked for, and follows when the language changes", async () => {
  const words = await loaded({});
  assert.equal(words.say("chat.send"), "chat.send");
  await words.learn("call");
  await words.learn("call");
  assert.equal(words.say("chat.send"), "Send");
  let changes = 0;
  words.onLanguage(() => (changes += 1));
  document.documentElement = {};
  document.querySelectorAll = () => [];
  await words.choose("de");
  assert.equal(words.say("chat.send"), "Senden");
  assert.deepEqual([changes, remembered.language, document.documentElement.lang, document.documentElement.dir], [1, "de", "de", "ltr"]);
});

test("the language for tests is written the other way, with the same places", async () => {
  const { learn, say, translate } = await loaded({ lang: "x-rtl", chosen: "de" });
  await learn("call");
  const said = say("call.joined", { name: "Ada" });
  assert.match(said, /^\u2068Ada\u2069\u202e joined\u202c$/);
  document.documentElement = {};
  document.querySelectorAll = () => [];
  translate();
  assert.deepEqual([document.documentElement.lang, document.documentElement.dir], ["en-x-rtl", "rtl"]);
});
