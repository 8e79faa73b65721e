// How what a participant publishes is sent: publication.js, and roost.js where the server says so.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeConnection } from "./StandIns/connection.mjs";
import { FakeServer, settled } from "./StandIns/server.mjs";
import { FakeSocket } from "./StandIns/socket.mjs";

const { Room } = await import(`${process.env.PAGES}/roost.js`);
const { affordableCodecs, Publication } = await import(`${process.env.PAGES}/publication.js`);

test("of a camera those encodings are sent that are watched", async () => {
  // As it goes out: { "type": "publish", "layers": […] }
  let parameters;
  const connection = {
    addTransceiver: (_, init) => {
      parameters = { encodings: init.sendEncodings };
      return { sender: {
        getParameters: () => structuredClone(parameters),
        setParameters: async (changed) => { parameters = changed; },
      } };
    },
  };
  const camera = new Publication(connection, { kind: "video" }, {}, "camera");
  assert.deepEqual(parameters.encodings.map(({ rid }) => rid), ["f", "h", "q"]);
  const active = () => parameters.encodings.map((each) => each.active);
  camera.advised([{ rid: "f", active: false }, { rid: "h", active: true }, { rid: "q", active: false }], [], []);
  camera.advised([{ rid: "q", active: true }, { rid: "unknown", active: false }], [], []);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(active(), [false, true, true]);
  const screen = new Publication(connection, { kind: "video" }, {}, "screen_share");
  assert.equal(parameters.encodings, undefined);
  assert.equal(screen.kind, "video");
});

test("a camera is sent in the best codec that all take, and back in the first of those", async () => {
  const codecs = [
    { payloadType: 98, mimeType: "video/VP9", clockRate: 90_000, sdpFmtpLine: "profile-id=0" },
    { payloadType: 100, mimeType: "video/VP9", clockRate: 90_000, sdpFmtpLine: "profile-id=2" },
    { payloadType: 96, mimeType: "video/VP8", clockRate: 90_000 },
    { payloadType: 45, mimeType: "video/AV1", clockRate: 90_000 },
  ];
  let parameters;
  const connection = {
    addTransceiver: (_, init) => {
      parameters = { encodings: init.sendEncodings, codecs };
      return { sender: {
        getParameters: () => structuredClone(parameters),
        setParameters: async (changed) => { parameters = changed; },
      } };
    },
  };
  const camera = new Publication(connection, { kind: "video" }, {}, "camera");
  const sent = async (taken, wanted) => {
    camera.advised([], taken, wanted);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const found = parameters.encodings.map(({ codec }) => codec && `${codec.mimeType} ${codec.sdpFmtpLine}`);
    assert.equal(new Set(found).size, 1, "encodings of one camera have one codec");
    return found[0];
  };
  const [vp8, vp9, av1] = [{ payloadType: 96, codec: "VP8" }, { payloadType: 98, codec: "VP9" }, { payloadType: 45, codec: "AV1" }];
  assert.equal(await sent([vp8], ["VP9"]), undefined, "nothing was changed");
  assert.equal(await sent([vp8, vp9, av1], ["VP9"]), "video/VP9 profile-id=0");
  assert.ok(parameters.encodings.every(({ scalabilityMode }) => scalabilityMode === "L1T3"));
  assert.equal(await sent([vp8, vp9, av1], ["AV1", "VP9"]), "video/AV1 undefined");
  assert.equal(await sent([], ["VP9"]), "video/AV1 undefined", "none that all take is none to go to");
  assert.equal(await sent([vp8, av1], ["VP9"]), "video/VP8 undefined");
  assert.equal(await sent([vp8, { payloadType: 100, codec: "VP9" }], ["VP9"]), "video/VP9 profile-id=2");
});

/** Newer versions of Node have one. */
const own = Object.getOwnPropertyDescriptor(globalThis, "navigator");

/** A machine that has so many processors, and says of what it encodes what `encodingInfo` does. */
function machine(context, processors, encodingInfo) {
  context.after(() => (own ? Object.defineProperty(globalThis, "navigator", own) : delete globalThis.navigator));
  const value = { mediaDevices: {}, hardwareConcurrency: processors, mediaCapabilities: encodingInfo && { encodingInfo } };
  Object.defineProperty(globalThis, "navigator", { value, configurable: true });
}

test("a better codec is wanted of a machine that encodes it without effort, and of no other", async (context) => {
  const able = { supported: true, smooth: true, powerEfficient: false };
  const cases = [
    ["its hardware encodes it", 2, { ...able, powerEfficient: true }, ["VP9"]],
    ["it has the processors for it", 4, able, ["VP9"]],
    ["it has too few processors", 3, able, []],
    ["it doesn't say how many processors it has", undefined, able, []],
    ["it isn't fast enough, however many processors it has", 32, { ...able, smooth: false }, []],
    ["it can't encode it, whatever else it says", 32, { supported: false, smooth: true, powerEfficient: true }, []],
    ["it says nothing", 32, {}, []],
    ["it refuses the question", 32, new TypeError("webrtc is no type"), []],
  ];
  for (const [why, processors, answer, wanted] of cases) {
    const asked = [];
    machine(context, processors, async (question) => {
      asked.push(question);
      if (answer instanceof Error) throw answer;
      return answer;
    });
    assert.deepEqual(await affordableCodecs(), wanted, why);
    // It is asked for the largest picture that a camera is sent in.
    const video = { contentType: "video/VP9", width: 1280, height: 720, bitrate: 1_700_000, framerate: 30 };
    assert.deepEqual(asked, [{ type: "webrtc", video }]);
  }
  machine(context, 32, () => { throw new TypeError("it throws at once"); });
  assert.deepEqual(await affordableCodecs(), []);
  machine(context, 32, undefined);
  assert.deepEqual(await affordableCodecs(), [], "it can't be asked");
});

/** Joins, with a camera published, whose answer the connection takes in once `takeIn` is called. */
async function publishing(context, codecs = ["VP9"]) {
  const server = new FakeServer();
  const room = new Room({ url: "http://h", room: "r", token: "t", codecs });
  context.after(() => {
    room.leave();
    FakeSocket.last.onclose?.({ code: 4000 });
  });
  await room.connect();
  const connection = FakeConnection.last;
  let takeIn;
  connection.takesIn = new Promise((resolve) => (takeIn = resolve));
  const published = room.publish([{ kind: "video" }], { video: "camera" });
  await settled();
  const { mid, sender } = connection.getTransceivers().at(-1);
  return { server, published, sender, track: `TR_${mid}`, takeIn };
}

const layers = [{ rid: "f", active: false }, { rid: "h", active: true }, { rid: "q", active: true }];
const taken = [{ payloadType: 96, codec: "VP8" }, { payloadType: 98, codec: "VP9" }];

test("what the server says of a publication right behind its answer is done once the connection has that", async (context) => {
  const { server, published, sender, track, takeIn } = await publishing(context);
  server.say({ type: "publish", track, layers, codecs: taken });
  server.say({ type: "publish", track: "TR_unknown", layers: [{ rid: "h", active: false }], codecs: [] });
  await settled();
  assert.deepEqual(sender.encodings.map(({ codec }) => codec), [undefined, undefined, undefined]);
  takeIn();
  const [publication] = await published;
  await settled();
  assert.equal(publication.id, track);
  assert.deepEqual(sender.encodings.map(({ rid, active, codec }) => [rid, active, codec?.mimeType]),
    [["f", false, "video/VP9"], ["h", true, "video/VP9"], ["q", true, "video/VP9"]]);
});

for (const isAble of [true, false]) {
  test(`a camera ${isAble ? "goes on to" : "stays away from"} what its machine ${isAble ? "affords" : "doesn't afford"}, which is asked once`, async (context) => {
    let asked = 0;
    machine(context, 4, async () => {
      asked += 1;
      return { supported: true, smooth: isAble, powerEfficient: false };
    });
    const { server, published, sender, track, takeIn } = await publishing(context, null);
    takeIn();
    await published;
    for (const active of [false, true]) {
      server.say({ type: "publish", track, layers: [{ rid: "f", active }], codecs: taken });
      await settled();
      assert.deepEqual(sender.encodings.map((encoding) => encoding.active), [active, true, true]);
      assert.deepEqual(sender.encodings.map(({ codec }) => codec?.mimeType), Array(3).fill(isAble ? "video/VP9" : undefined));
    }
    assert.equal(asked, 1);
  });
}

test("encodings are turned off and on as the server says who watches them", async (context) => {
  const { server, published, sender, track, takeIn } = await publishing(context);
  takeIn();
  await published;
  for (const active of [[true, false, true], [false, false, true], [true, true, true]]) {
    server.say({ type: "publish", track, layers: ["f", "h", "q"].map((rid, index) => ({ rid, active: active[index] })) });
    await settled();
    assert.deepEqual(sender.encodings.map((encoding) => encoding.active), active);
    assert.deepEqual(sender.encodings.map(({ rid }) => rid), ["f", "h", "q"]);
  }
});

test("a codec that the browser refuses takes nothing of what is watched with it", async (context) => {
  const { server, published, sender, track, takeIn } = await publishing(context);
  takeIn();
  await published;
  sender.refuses = ["video/VP9"];
  for (const active of [[false, true, true], [true, false, true]]) {
    server.say({ type: "publish", track, layers: ["f", "h", "q"].map((rid, index) => ({ rid, active: active[index] })), codecs: taken });
    await settled();
    assert.deepEqual(sender.encodings.map((encoding) => encoding.active), active);
    assert.ok(sender.encodings.every(({ codec, scalabilityMode }) => !codec && !scalabilityMode));
  }
  sender.refuses = [];
  server.say({ type: "publish", track, layers, codecs: taken });
  await settled();
  assert.ok(sender.encodings.every(({ codec }) => codec.mimeType === "video/VP9"));
});

test("how large the pictures of each encoding are is said with the offer", async () => {
  const track = (kind, settings) => ({ kind, getSettings: () => settings });
  const connection = {
    addTransceiver: (of, init) => ({ sender: { track: of, getParameters: () => ({ encodings: init.sendEncodings ?? [{}] }) } }),
  };
  const layers = (of, source) => new Publication(connection, of, {}, source).layers;
  assert.deepEqual(layers(track("video", { width: 1279, height: 720 }), "camera"),
    [{ rid: "f", width: 1279, height: 720 }, { rid: "h", width: 639, height: 360 }, { rid: "q", width: 319, height: 180 }]);
  assert.deepEqual(layers(track("video", { width: 1920, height: 1080 }), "screen_share"), [{ width: 1920, height: 1080 }]);
  assert.deepEqual(layers(track("video", { width: 2, height: 1 }), "camera").at(-1), { rid: "q", width: 1, height: 1 });
  assert.deepEqual(layers(track("video", {}), "camera"), [], "not known yet");
  assert.deepEqual(layers(track("video", { width: 20_000, height: 1 }), "screen_share"), [{ width: 16_384, height: 1 }]);
  assert.deepEqual(layers(track("audio", { width: 4, height: 4 }), "microphone"), []);
});
