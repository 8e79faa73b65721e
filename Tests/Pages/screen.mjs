// How one's own screen is sent: screen.js, with all that is between its button and the connection.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeConnection } from "./StandIns/connection.mjs";
import { load, tileTemplate } from "./StandIns/dom.mjs";
import { FakeServer, settled } from "./StandIns/server.mjs";
import { FakeSocket } from "./StandIns/socket.mjs";

const { Call } = await import(`${process.env.PAGES}/call.js`);
const { element } = await import(`${process.env.PAGES}/elements.js`);
const { Screen } = await import(`${process.env.PAGES}/screen.js`);
const { Stage } = await import(`${process.env.PAGES}/tiles.js`);
const { learn } = await import(`${process.env.PAGES}/words.js`);
await learn("call");

class FakeTrack extends EventTarget {
  enabled = true;
  contentHint = "";
  isStopped = false;

  constructor(kind) {
    super();
    this.kind = kind;
  }

  stop() {
    this.isStopped = true;
  }
}

async function sharing(context) {
  load();
  const server = new FakeServer();
  const tracks = [new FakeTrack("video"), new FakeTrack("audio")];
  navigator.mediaDevices.getDisplayMedia = async () => new MediaStream(tracks);
  const call = new Call();
  const stage = new Stage(element("stage"), tileTemplate);
  new Screen(call, stage);
  await call.join("r", "me");
  context.after(() => {
    call.leave();
    FakeSocket.last.onclose?.({ code: 4000 });
  });
  element("screen").dispatchEvent(new Event("click"));
  await settled();
  return { server, stage, tracks, sections: FakeConnection.last.getTransceivers().filter(({ direction }) => direction !== "recvonly") };
}

test("a screen is sent sharp: as detail from the first picture on, in one encoding of its full size", async (context) => {
  const { server, sections } = await sharing(context);
  const [picture, sound] = sections;
  assert.deepEqual(sections.map(({ direction, sender }) => [direction, sender.track.kind]), [["sendonly", "video"], ["sendonly", "audio"]]);
  assert.equal(picture.contentHint, "detail");
  assert.equal(picture.init.sendEncodings, undefined);
  assert.deepEqual(picture.sender.encodings, [{ active: true }]);
  assert.deepEqual(server.heard("offer").at(-1).tracks.map(({ mid, source }) => [mid, source]),
    [[picture.mid, "screen_share"], [sound.mid, "screen_share_audio"]]);
});

test("a screen is sent in the best codec that all take, still in one encoding", async (context) => {
  navigator.mediaCapabilities = { encodingInfo: async () => ({ supported: true, powerEfficient: true }) };
  const { server, sections: [{ mid, sender }] } = await sharing(context);
  const codecs = [{ payloadType: 96, codec: "VP8" }, { payloadType: 98, codec: "VP9" }];
  // The server names no layers of what isn't a simulcast.
  server.say({ type: "publish", track: `TR_${mid}`, layers: [], codecs });
  await settled();
  const [{ active, codec, scalabilityMode }, ...more] = sender.encodings;
  assert.deepEqual([active, codec.mimeType, scalabilityMode, more.length], [true, "video/VP9", undefined, 0]);
});

test("one's own screen is a card by which it is stopped, and shows nothing of itself", async (context) => {
  const { server, stage, tracks } = await sharing(context);
  const tile = stage.find("own screen");
  assert.equal(tile.stream ?? null, null);
  const card = tile.element.children.at(-1);
  assert.ok(card.children.some(({ name, textContent }) => name === "p" && textContent === "You're sharing your screen"));
  const button = card.children.find(({ name }) => name === "button");
  assert.equal(button.textContent, "Stop sharing");
  button.dispatchEvent(new Event("click"));
  await settled();
  assert.ok(tracks.every(({ isStopped }) => isStopped));
  assert.deepEqual(server.heard("offer").at(-1).tracks, []);
  assert.equal(stage.find("own screen"), undefined);
});

test("a screen that is stopped is stopped for good, with its sound", async (context) => {
  const { server, tracks, sections } = await sharing(context);
  element("screen").dispatchEvent(new Event("click"));
  await settled();
  assert.ok(tracks.every(({ isStopped }) => isStopped));
  assert.ok(sections.every(({ direction }) => direction === "stopped"));
  assert.deepEqual(server.heard("offer").at(-1).tracks, []);
});
