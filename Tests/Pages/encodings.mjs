// What the server hears of the sizes of a publication's pictures: with its offer, and where they change behind it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pass } from "./StandIns/clock.mjs";
import { FakeConnection } from "./StandIns/connection.mjs";
import { FakeServer, settled } from "./StandIns/server.mjs";
import { FakeSocket } from "./StandIns/socket.mjs";

const { Room } = await import(`${process.env.PAGES}/roost.js`);

const camera = (width, height) => ({ kind: "video", getSettings: () => ({ width, height }) });
const sizes = (width, height) => ["f", "h", "q"].map((rid, index) => (
  { rid, width: Math.floor(width / 2 ** index), height: Math.floor(height / 2 ** index) }));

/** Publishes a camera of 1280 × 720. */
async function publishing(context) {
  const server = new FakeServer();
  const room = new Room({ url: "http://h", room: "r", token: "t", codecs: [] });
  context.after(() => {
    room.leave();
    FakeSocket.last.onclose?.({ code: 4000 });
  });
  await room.connect();
  const [publication] = await room.publish([camera(1280, 720)], { video: "camera" });
  await settled();
  let taken = 0;
  return {
    server, room, publication,
    /** What has been said of sizes since this was last asked. */
    async said() {
      await settled();
      const all = server.heard("layers").map(({ track, layers }) => {
        assert.equal(track, publication.id);
        return layers;
      });
      const found = all.slice(taken);
      taken = all.length;
      return found;
    },
  };
}

test("what an offer says of sizes is not said again", async (context) => {
  const { server, publication, said } = await publishing(context);
  assert.deepEqual(server.heard("offer").at(-1).tracks[0].layers, sizes(1280, 720));
  assert.deepEqual(await said(), []);
  await publication.sayLayers();
  assert.deepEqual(await said(), []);
});

test("encodings that are scaled otherwise, and another camera, are said with no new offer", async (context) => {
  const { server, publication, said } = await publishing(context);
  const offers = server.heard("offer").length;
  await publication.encode((encodings) => {
    encodings[1].scaleResolutionDownBy = 1.5;
    encodings[2].maxFramerate = 10;
  });
  const [scaled] = await said();
  assert.deepEqual(scaled.map(({ rid, width }) => [rid, width]), [["f", 1280], ["h", 853], ["q", 320]]);
  await publication.encode((encodings) => (encodings[2].maxFramerate = 15));
  assert.deepEqual(await said(), [], "it is as large as before");
  await publication.replace(camera(640, 480));
  assert.deepEqual((await said()).map((layers) => layers[0]), [{ rid: "f", width: 640, height: 480 }]);
  await publication.replace(null);
  assert.deepEqual(await said(), [], "what sends nothing has no size");
  assert.equal(server.heard("offer").length, offers);
});

test("encodings that the server turns off and on are as large as they were", async (context) => {
  const { server, publication, said } = await publishing(context);
  for (const active of [false, true]) {
    server.say({ type: "publish", track: publication.id, layers: ["f", "h", "q"].map((rid) => ({ rid, active })), codecs: [] });
    assert.deepEqual(await said(), []);
  }
});

test("a change that the browser refuses says nothing, and the next one is done", async (context) => {
  const { publication, said } = await publishing(context);
  const { sender } = publication.transceiver;
  sender.refuses = ["video/VP9"];
  await assert.rejects(publication.encode((encodings) => {
    encodings[0].scaleResolutionDownBy = 2;
    encodings[0].codec = { mimeType: "video/VP9", clockRate: 90_000 };
  }), { name: "InvalidModificationError" });
  assert.deepEqual(await said(), []);
  await publication.encode((encodings) => (encodings[0].scaleResolutionDownBy = 2));
  assert.deepEqual((await said()).map((layers) => layers[0].width), [640]);
});

test("a hundred changes at once are a few messages, the last of which says how it is", async (context) => {
  const { publication, said } = await publishing(context);
  for (let width = 1200; width > 1000; width -= 2) publication.replace(camera(width, 600));
  const found = await said();
  assert.ok(found.length >= 1 && found.length <= 3, `${found.length}`);
  assert.deepEqual(found.at(-1), sizes(1002, 600));
});

test("what the server has no time for is said again a second later, as it is by then", async (context) => {
  const { server, publication, said } = await publishing(context);
  server.refuses.set("layers", { code: "rate-limited", retry: "after" });
  await publication.replace(camera(640, 360));
  assert.equal((await said()).length, 1);
  await publication.replace(camera(320, 180));
  pass(900);
  assert.deepEqual(await said(), [], "not at once");
  server.refuses.clear();
  pass(200);
  assert.deepEqual(await said(), [sizes(320, 180)]);
  pass(5000);
  assert.deepEqual(await said(), []);
});

test("a server that knows no such message is asked once for each change, and nothing fails", async (context) => {
  const { server, room, publication, said } = await publishing(context);
  const errors = [];
  room.addEventListener("error", ({ detail }) => errors.push(detail));
  server.refuses.set("layers", { code: "unsupported", retry: "never" });
  await publication.replace(camera(640, 360));
  assert.equal((await said()).length, 1);
  pass(5000);
  assert.deepEqual(await said(), []);
  assert.deepEqual(errors, []);
});

test("what changes while an offer is on its way is said behind its answer", async (context) => {
  const { publication, room, said } = await publishing(context);
  const connection = FakeConnection.last;
  let takeIn;
  connection.takesIn = new Promise((resolve) => (takeIn = resolve));
  const offered = room.restartIce();
  await settled();
  publication.track.getSettings = () => ({ width: 640, height: 360 });
  assert.deepEqual(await said(), []);
  takeIn();
  await offered;
  assert.deepEqual(await said(), [sizes(640, 360)]);
});

test("a session that is joined again hears of sizes with its offer", async (context) => {
  const { server, publication, said } = await publishing(context);
  await publication.replace(camera(640, 360));
  await said();
  server.refuses.set("resume", { code: "session-gone", retry: "now" });
  FakeSocket.last.onclose({ code: 1006 });
  for (let turn = 0; turn < 3; turn++) {
    pass(100);
    await settled();
  }
  assert.equal(server.heard("auth").length, 2);
  assert.deepEqual(server.heard("offer").at(-1).tracks[0].layers, sizes(640, 360));
  assert.deepEqual(await said(), []);
});
