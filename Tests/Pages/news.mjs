// In which pace it is said what others do, and that someone waits: news.js, hands.js and door.js.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pass } from "./StandIns/clock.mjs";
import { load } from "./StandIns/dom.mjs";

const { Door } = await import(`${process.env.PAGES}/door.js`);
const { Hands } = await import(`${process.env.PAGES}/hands.js`);
const { News } = await import(`${process.env.PAGES}/news.js`);
const { learn } = await import(`${process.env.PAGES}/words.js`);
await learn("call");

const someone = (identity, more) => ({ id: `PA_${identity}`, identity, name: identity, ...more });

/** A call in which things happen, and all that the page says of it. */
class Scene extends EventTarget {
  #handlers = [];
  room = { me: someone("me"), participants: new Map(), waiting: [] };
  tab = null; // of the panel beside the tiles
  said = [];
  alerts = [];

  constructor() {
    super();
    document.getElementById("status").append = ({ textContent }) => this.said.push(textContent);
    const notice = document.getElementById("notice-text");
    Object.defineProperty(notice, "textContent", { configurable: true, set: (words) => this.alerts.push(words) });
    this.news = new News(this);
    this.door = new Door(this, this, this.news);
    this.hands = new Hands(this, { find: () => null }, this.news);
  }

  on(type, handle) {
    this.#handlers.push([type, handle]);
  }

  happens(type, participant, more = {}) {
    if (type === "participant.left") this.room.participants.delete(participant.id);
    else this.room.participants.set(participant.id, participant);
    this.#tell({ type, participant, ...more });
  }

  /** Who waits is this now. */
  waits(...waiting) {
    this.room.waiting = waiting;
    this.#tell({ type: "participant.waiting" });
  }

  /** Another session of the same call has begun: the server knows nothing of the one before. */
  joins() {
    this.room.me = { ...this.room.me, hand: undefined };
    this.#tell({}, "joined");
  }

  #tell(event, about = "event") {
    for (const [type, handle] of this.#handlers) if (type === about) handle(event);
  }
}

let sessions = 0;
const waiter = (identity) => ({ id: `WT_${++sessions}`, identity, name: identity });

test("what happens once is said at once; what happens together is said together", () => {
  const scene = new Scene();
  scene.happens("participant.joined", someone("ada"));
  pass(0);
  assert.deepEqual(scene.said, ["ada joined"]);
  for (const name of ["bob", "eve", "tom"]) scene.happens("participant.joined", someone(name));
  scene.happens("track.published", someone("bob"), { track: { source: "screen_share" } });
  scene.happens("participant.left", someone("ada"));
  pass(2999);
  assert.equal(scene.said.length, 1);
  pass(20_000);
  assert.deepEqual(scene.said.slice(1), ["3 people joined · bob is sharing a screen", "ada left"]);
});

test("one identity, by whatever sessions, is spoken of once in a while, and last as it is", () => {
  const scene = new Scene();
  for (let second = 0; second < 60; second++) {
    const eve = { ...someone("eve"), id: `PA_${second}` };
    scene.happens("participant.joined", eve);
    scene.happens("track.published", eve, { track: { source: "screen_share" } });
    scene.happens("participant.updated", { ...eve, hand: "2026" });
    scene.happens("participant.left", eve);
    pass(1000);
  }
  assert.ok(scene.said.length <= 12, scene.said.join(" / "));
  scene.said = [];
  pass(20_000);
  scene.happens("participant.joined", someone("eve"));
  pass(100);
  scene.happens("participant.left", someone("eve"));
  pass(20_000);
  assert.deepEqual(scene.said, ["eve joined", "eve left"]);
});

test("however many come and go, a line comes every three seconds at most", () => {
  const scene = new Scene();
  for (let number = 0; number < 3000; number++) {
    scene.happens("participant.joined", someone(`guest-${number}`));
    pass(10);
  }
  assert.ok(scene.said.length <= 11, `${scene.said.length} lines`);
  assert.match(scene.said.at(-1), /^\d+ people joined$/);
  scene.said = [];
  scene.dispatchEvent(new Event("leave"));
  pass(20_000);
  assert.deepEqual(scene.said, []);
});

test("a hand of another session of one identity is no other hand, and one that is down is no news", () => {
  const scene = new Scene();
  scene.happens("participant.updated", { ...someone("bob"), hand: "2026" });
  pass(0);
  for (const id of ["PA_1", "PA_2"]) {
    scene.happens("participant.updated", { ...someone("bob"), id, hand: "2026" });
    pass(3000);
    scene.happens("participant.updated", { ...someone("bob"), id });
  }
  pass(30_000);
  assert.deepEqual(scene.said, ["bob raised a hand"]);
});

test("who waits is said at once, and who comes again and again in passing", () => {
  const scene = new Scene();
  scene.waits(waiter("eve"));
  pass(0);
  assert.deepEqual(scene.alerts, ["eve is waiting to join."]);
  for (let round = 0; round < 30; round++) {
    scene.waits();
    pass(500);
    scene.waits(waiter("eve"));
    pass(1500);
  }
  assert.equal(scene.alerts.length, 1);
  assert.ok(scene.said.length > 0 && scene.said.length <= 7, scene.said.join(" / "));
  // Another is news, and one beside it a moment later; who goes is none.
  const [ada, bob] = [waiter("ada"), waiter("bob")];
  scene.waits(ada);
  pass(0);
  scene.waits(ada, bob);
  pass(0);
  assert.deepEqual(scene.alerts.slice(1), ["ada is waiting to join."]);
  pass(10_000);
  scene.waits(bob);
  pass(20_000);
  assert.deepEqual(scene.alerts.slice(2), ["2 people are waiting to join."]);
});

test("where people are shown it is said in passing alone", () => {
  const scene = new Scene();
  scene.tab = "people";
  scene.waits(waiter("ada"));
  pass(0);
  assert.deepEqual([scene.alerts, scene.said], [[], ["ada is waiting to join."]]);
});

test("many who come by one link raise one alert in ten seconds", () => {
  const scene = new Scene();
  for (let number = 0; number < 60; number++) {
    scene.waits(waiter(`guest-${number}`));
    pass(1000);
  }
  assert.ok(scene.alerts.length <= 7, `${scene.alerts.length} alerts`);
});

/** A scene in whose room one's own hand goes up and down as one asks for it; `asked` is what was. */
function withHand() {
  load();
  const scene = new Scene();
  const asked = [];
  scene.hasEntered = true;
  scene.room.raiseHand = async (isRaised) => {
    asked.push(isRaised);
    scene.room.me = { ...scene.room.me, hand: isRaised ? "2026" : undefined };
    scene.happens("participant.updated", scene.room.me);
  };
  return { scene, asked, press: () => document.getElementById("hand").dispatchEvent(new Event("click")) };
}

test("one's own hand is up in the next session as it was in the one before", async () => {
  const { scene, asked, press } = withHand();
  press();
  assert.deepEqual(asked, [true]);
  scene.joins();
  assert.deepEqual(asked, [true, true]);
  press();
  scene.joins();
  assert.deepEqual(asked, [true, true, false], "one that is down stays down");
  scene.dispatchEvent(new Event("leave"));
  scene.hasEntered = false;
  scene.joins();
  assert.equal(asked.length, 3, "another call is none of it");
});

test("a hand that was asked for as the session went goes up in the next, and nothing is said of it", async () => {
  const { scene, asked, press } = withHand();
  const { raiseHand } = scene.room;
  scene.room.raiseHand = async () => { throw Object.assign(new Error("gone"), { code: "session-gone" }); };
  press();
  await null;
  scene.room.raiseHand = raiseHand;
  scene.joins();
  assert.deepEqual([asked, scene.alerts], [[true], []]);
});
