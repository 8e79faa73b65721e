import assert from "node:assert/strict";
import { test } from "node:test";

/** A socket whose far end is the test. */
class FakeSocket {
  static OPEN = 1;
  static last;
  readyState = 1;
  constructor() {
    FakeSocket.last = this;
    queueMicrotask(() => this.onopen?.());
  }
  send() {}
  close() {
    this.readyState = 3;
  }
  say(message) {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}
globalThis.WebSocket = FakeSocket;
globalThis.RTCPeerConnection = class extends EventTarget {
  addTransceiver() {}
  getTransceivers() {
    return [];
  }
  close() {}
};
const { Room } = await import(`${process.env.PAGES}/roost.js`);

const { Publication } = await import(`${process.env.PAGES}/publication.js`);

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

const track = (id, more) => ({ id, kind: "audio", source: "microphone", muted: false, mutedByAdmin: false, ...more });
const ids = (participant) => participant.tracks.map(({ id }) => id);

test("the events of a track change the tracks of their publisher, and nothing else of it", async (context) => {
  const room = new Room({ url: "http://h", room: "r", token: "t", patience: 5 });
  room.connect().catch(() => {});
  const eve = { id: "PA_1", identity: "eve", metadata: "m", attributes: { a: "b" }, tracks: [track("TR_1"), track("TR_2")] };
  const me = { id: "PA_0", identity: "me", metadata: "n", attributes: {}, tracks: [] };
  await new Promise((resolve) => setTimeout(resolve, 20));
  const { last: socket } = FakeSocket;
  context.after(() => {
    room.leave();
    socket.onclose?.({ code: 4000 });
  });
  socket.say({ type: "joined", participant: me, participants: [eve], iceServers: [], resumeToken: "r", lastEvent: 1, pingInterval: 20 });
  let id = 1;
  const happens = (type, of, track) =>
    socket.say({ type: "event", event: { id: ++id, type, participant: { id: of, identity: "who" }, track } });

  const muted = track("TR_1", { muted: true });
  happens("track.muted", "PA_1", muted);
  assert.deepEqual(room.participants.get("PA_1"), { ...eve, tracks: [muted, track("TR_2")] });
  happens("track.published", "PA_1", track("TR_3"));
  assert.deepEqual(ids(room.participants.get("PA_1")), ["TR_1", "TR_2", "TR_3"]);
  happens("track.unpublished", "PA_1", muted);
  assert.deepEqual(room.participants.get("PA_1"), { ...eve, tracks: [track("TR_2"), track("TR_3")] });
  happens("track.published", "PA_0", track("TR_4"));
  assert.deepEqual(room.me, { ...me, tracks: [track("TR_4")] });
  happens("track.unpublished", "PA_0", track("TR_4"));
  assert.deepEqual(room.me, me);
  assert.equal(room.participants.size, 1);
});
