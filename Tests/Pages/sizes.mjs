// What the page asks of the server by the tiles that it shows: sizes.js, with all that is between a tile and the socket.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { pass } from "./StandIns/clock.mjs";
import "./StandIns/connection.mjs";
import { drawFrame, hide, inView, load, tileTemplate } from "./StandIns/dom.mjs";
import { FakeServer, settled } from "./StandIns/server.mjs";
import { FakeSocket } from "./StandIns/socket.mjs";

const { Call } = await import(`${process.env.PAGES}/call.js`);
const { element } = await import(`${process.env.PAGES}/elements.js`);
const { People } = await import(`${process.env.PAGES}/people.js`);
const { Sizes } = await import(`${process.env.PAGES}/sizes.js`);
const { Stage } = await import(`${process.env.PAGES}/tiles.js`);

const camera = (id) => ({ id, kind: "video", source: "camera", muted: false, mutedByAdmin: false });
const person = (name) => ({ id: `PA_${name}`, identity: name, name, attributes: {}, tracks: [camera(`TR_${name}`)] });

/** The window gets that size; its tiles have theirs with the next frame. */
function resize(width, height) {
  Object.assign(element("stage").style, { width: `${width}px`, height: `${height}px` });
  drawFrame();
}

/** A call with those people, of whom each has a camera and a tile. */
async function calling(context, ...names) {
  load();
  const server = new FakeServer();
  server.participants = names.map(person);
  const call = new Call();
  const stage = new Stage(element("stage"), tileTemplate);
  new People(call, stage);
  new Sizes(call, stage);
  resize(1280, 720);
  await call.join("r", "me");
  context.after(() => {
    call.leave();
    FakeSocket.last.onclose?.({ code: 4000 });
  });
  let taken = 0;
  const tile = (name, group = "camera") => stage.find(`PA_${name} ${group}`);
  return {
    call, server, stage, tile,
    /** Time passes, frames are drawn; what has been asked for by then, of each message its tracks. */
    async asked(span = 300) {
      drawFrame();
      pass(span);
      await settled();
      const all = server.heard("view").map(({ tracks }) => tracks);
      const found = all.slice(taken);
      taken = all.length;
      return found;
    },
    /** The entry of a picture that fills a tile. */
    filling(name) {
      const { clientWidth, clientHeight } = tile(name).element;
      const pixels = (length) => Math.max(64, Math.ceil((length * devicePixelRatio) / 64) * 64);
      assert.ok(clientWidth > 0 && clientHeight > 0);
      return { track: `TR_${name}`, maxWidth: pixels(clientWidth), maxHeight: pixels(clientHeight) };
    },
  };
}

const off = (name) => ({ track: `TR_${name}`, quality: "off" });

test("pictures are asked for as large as their tiles are, in device pixels", async (context) => {
  const { asked, filling } = await calling(context, "ada", "bob");
  assert.deepEqual(await asked(299), [], "not before the tiles have found their places");
  assert.deepEqual(await asked(1), [[filling("ada"), filling("bob")]]);
  assert.deepEqual(await asked(5000), [], "what is said once holds");
  globalThis.devicePixelRatio = 2;
  const before = filling("ada").maxWidth;
  resize(1279, 720);
  assert.deepEqual(await asked(), [[filling("ada"), filling("bob")]]);
  assert.ok(before > 640 && before <= 1280);
});

test("while the window is dragged larger or smaller the sizes are said now and then, and a few pixels are nothing", async (context) => {
  const { asked, filling } = await calling(context, "ada", "bob");
  await asked();
  const before = filling("ada");
  const said = [];
  for (let width = 1264; width >= 640; width -= 16) {
    resize(width, width * 9 / 16);
    said.push(...(await asked(20)));
  }
  said.push(...(await asked()));
  assert.ok(said.length > 1 && said.length <= 3, `${said.length} in 800 ms`);
  assert.deepEqual(said.at(-1), [filling("ada"), filling("bob")]);
  assert.ok(filling("ada").maxWidth < before.maxWidth);
  resize(642, 360);
  assert.deepEqual(await asked(), []);
});

test("behind another tab nothing is asked for, and all of it when one comes back", async (context) => {
  const { asked, filling } = await calling(context, "ada", "bob");
  await asked();
  hide(true);
  assert.deepEqual(await asked(), [[off("ada"), off("bob")]]);
  assert.deepEqual(await asked(5000), []);
  hide(false);
  assert.deepEqual(await asked(), [[filling("ada"), filling("bob")]]);
  hide(true);
  hide(false);
  assert.deepEqual(await asked(), [], "a glance aside is nothing");
});

test("nothing is asked for a tile that is scrolled away, until it is back", async (context) => {
  const { asked, filling, tile } = await calling(context, "ada", "bob");
  await asked();
  tile("bob").element.isScrolledAway = true;
  assert.deepEqual(await asked(), [[off("bob")]]);
  hide(true);
  assert.deepEqual(await asked(), [[off("ada")]], "the other is off already");
  hide(false);
  assert.deepEqual(await asked(), [[filling("ada")]], "and stays so");
  tile("bob").element.isScrolledAway = false;
  assert.deepEqual(await asked(), [[filling("bob")]]);
});

test("of those who leave nothing is said; the tiles of the others grow, and one who comes back is asked for again", async (context) => {
  const { asked, filling, server, tile } = await calling(context, "ada", "bob", "cid");
  await asked();
  server.happens("participant.left", person("cid"));
  assert.equal(tile("cid"), undefined);
  assert.deepEqual(await asked(), [[filling("ada"), filling("bob")]]);
  server.happens("participant.joined", person("cid"));
  assert.deepEqual(await asked(), [[filling("ada"), filling("bob"), filling("cid")]]);
});

test("a tile that has gone is let go, in view or out of it", async (context) => {
  const { asked, server, tile } = await calling(context, "ada", "bob", "cid");
  await asked();
  tile("cid").element.isScrolledAway = true;
  await asked();
  const before = inView();
  const gone = ["bob", "cid"].map((name) => new WeakRef(tile(name).element));
  for (const name of ["bob", "cid"]) server.happens("participant.left", person(name));
  await asked();
  await asked();
  assert.equal(inView(), before - 2);
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  assert.deepEqual(gone.map((each) => each.deref()), [undefined, undefined]);
});

test("of a screen the best is asked for, however small its tile, and nothing when it is out of sight", async (context) => {
  const { asked, server, tile } = await calling(context, "ada");
  await asked();
  const screen = { ...camera("TR_screen"), source: "screen_share" };
  server.happens("track.published", { id: "PA_ada", identity: "ada" }, screen);
  server.say({ type: "slots", assignments: [{ mid: "1", track: "TR_screen" }] });
  await settled();
  assert.ok(tile("ada", "screen"));
  assert.deepEqual((await asked()).flat().filter(({ track }) => track === "TR_screen"), [{ track: "TR_screen" }]);
  resize(400, 720);
  assert.deepEqual((await asked()).flat().filter(({ track }) => track === "TR_screen"), []);
  tile("ada", "screen").element.isScrolledAway = true;
  assert.deepEqual(await asked(), [[{ track: "TR_screen", quality: "off" }]]);
  tile("ada", "screen").element.isScrolledAway = false;
  assert.deepEqual(await asked(), [[{ track: "TR_screen" }]]);
});

test("what the server has no time for is said again, as it is by then", async (context) => {
  const { asked, filling, server } = await calling(context, "ada", "bob");
  await asked();
  server.refuses.set("view", { code: "rate-limited", retry: "after" });
  hide(true);
  assert.deepEqual(await asked(), [[off("ada"), off("bob")]]);
  assert.deepEqual(await asked(900), [], "not at once");
  assert.deepEqual(await asked(400), [[off("ada"), off("bob")]]);
  hide(false);
  assert.deepEqual(await asked(), [[filling("ada"), filling("bob")]], "what is new doesn't wait");
  server.refuses.clear();
  assert.deepEqual(await asked(1300), [[filling("ada"), filling("bob")]]);
  assert.deepEqual(await asked(5000), []);
});

test("what the server refuses for good is not said all the time, and again with the next change", async (context) => {
  const { asked, filling, server, tile } = await calling(context, "ada", "bob");
  await asked();
  server.refuses.set("view", { code: "not-allowed", retry: "never" });
  hide(true);
  assert.equal((await asked()).length, 1);
  assert.deepEqual(await asked(5000), []);
  server.refuses.clear();
  hide(false);
  tile("bob").element.isScrolledAway = true;
  assert.deepEqual(await asked(), [[filling("ada"), off("bob")]]);
});

test("a hundred tiles are said in as many messages as the server takes, and nothing is asked for those of other pages", async (context) => {
  const names = Array.from({ length: 100 }, (_, index) => `p${index}`);
  const { asked, filling, stage, tile } = await calling(context, ...names);
  const wanted = () => names.map((name) => (tile(name).isAway ? off(name) : filling(name)));
  const said = await asked();
  assert.deepEqual(said.map(({ length }) => length), [64, 36]);
  assert.deepEqual(said.flat(), wanted());
  const [first, { pages }] = [names.filter((name) => !tile(name).isAway), stage.view];
  assert.ok(pages > 1 && first.length < 50 && first.length * pages >= 100, `${first.length} on each of ${pages}`);
  assert.equal(first[0], "p0");
  stage.look({ page: 1 });
  const turned = (await asked()).flat();
  assert.ok(first.every((name) => tile(name).isAway));
  assert.deepEqual(turned, wanted().filter(({ track, quality }) => !quality || first.includes(track.slice(3))));
});

test("nothing is asked for pictures that one doesn't want, and all of them when one does again", async (context) => {
  const { asked, filling, stage, tile } = await calling(context, "ada", "bob");
  await asked();
  stage.declines = true;
  assert.deepEqual(await asked(), [[off("ada"), off("bob")]]);
  assert.ok(["ada", "bob"].every((name) => tile(name).element.getAttribute("aria-label").includes("Incoming video is off")));
  stage.declines = false;
  assert.deepEqual(await asked(), [[filling("ada"), filling("bob")]]);
  assert.ok(["ada", "bob"].every((name) => tile(name).element.getAttribute("aria-label") === name));
});

test("what is shown in a window of its own is asked for in the larger of its sizes, and behind another tab too", async (context) => {
  const { asked, filling, stage, tile } = await calling(context, "ada", "bob");
  await asked();
  const outside = { tile: tile("bob"), maxWidth: 384, maxHeight: 1024 };
  assert.ok(filling("bob").maxWidth > 384 && filling("bob").maxHeight < 1024);
  Object.assign(stage, { outside });
  stage.layout();
  assert.deepEqual(await asked(), [[{ ...filling("bob"), maxHeight: 1024 }]]);
  hide(true);
  assert.deepEqual(await asked(), [[off("ada"), { track: "TR_bob", maxWidth: 384, maxHeight: 1024 }]]);
  stage.outside = null;
  stage.layout();
  assert.deepEqual(await asked(), [[off("bob")]]);
});

test("who speaks comes to the first page for the one that was silent for longest, once it isn't a cough", async (context) => {
  const names = Array.from({ length: 60 }, (_, index) => `p${index}`);
  const { asked, stage, tile } = await calling(context, ...names);
  await asked();
  stage.hear([tile("p1")]);
  pass(1);
  stage.hear([tile("p0")]);
  pass(1000);
  assert.ok(tile("p59").isAway);
  stage.hear([tile("p59")]);
  pass(900);
  stage.hear([]);
  pass(2000);
  assert.ok(tile("p59").isAway, "a cough");
  stage.hear([tile("p59")]);
  pass(1000);
  assert.ok(!tile("p59").isAway && tile("p2").isAway && !tile("p0").isAway && !tile("p1").isAway);
  const said = (await asked()).flat();
  assert.deepEqual(said.map(({ track, quality }) => [track, quality ?? "shown"]), [["TR_p2", "off"], ["TR_p59", "shown"]]);
});

test("a session that is joined again is asked for what is shown", async (context) => {
  const { asked, filling, server } = await calling(context, "ada", "bob");
  await asked();
  server.refuses.set("resume", { code: "session-gone", retry: "now" });
  FakeSocket.last.onclose({ code: 1006 });
  for (let turn = 0; turn < 3; turn++) {
    pass(100);
    await settled();
  }
  assert.equal(server.heard("auth").length, 2);
  server.say({ type: "slots", assignments: [{ mid: "1", track: "TR_ada" }] });
  const said = await asked();
  assert.ok(said.length > 0);
  for (const tracks of said) assert.deepEqual(tracks, [filling("ada"), filling("bob")]);
});
