// What plays, apart from how one joins: playback.js, given who is there, the sections of a connection and what the server assigns.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./StandIns/connection.mjs";

const { Playback } = await import(`${process.env.PAGES}/playback.js`);
const { Roster } = await import(`${process.env.PAGES}/roster.js`);

const track = (id, source) => ({ id, kind: /camera|share$/.test(source) ? "video" : "audio", source, muted: false, mutedByAdmin: false });
const ann = { id: "PA_ann", identity: "ann", attributes: {}, tracks: [track("TR_voice", "microphone"), track("TR_face", "camera")] };
const bob = { id: "PA_bob", identity: "bob", attributes: {}, tracks: [track("TR_screen", "screen_share")] };

/** Four sections, and what is said of what plays: of whom, which group, and what the stream has of the sections. */
function playing(...participants) {
  const roster = new Roster();
  roster.begin({ participant: { id: "PA_0", identity: "me", tracks: [] }, participants });
  const sections = new Map(["0", "1", "2", "3"].map((mid) => [mid, { mid }]));
  const said = [];
  const playback = new Playback(roster, (mid) => sections.get(mid), ({ participant, group, stream, tracks }) =>
    said.push([participant.identity, group, stream.getTracks().map(({ mid }) => mid).join(), tracks.map(({ id }) => id).join()]));
  playback.begin();
  return { playback, roster, said: () => said.splice(0) };
}

test("camera and microphone are one stream, a screen is another, in whichever sections they are", () => {
  const { playback, said } = playing(ann, bob);
  playback.assign([{ mid: "0", track: "TR_voice" }, { mid: "1", track: "TR_face" }, { mid: "3", track: "TR_screen" }]);
  assert.deepEqual(said(), [], "not before the connection has its answer");
  playback.settle(1);
  assert.deepEqual(said(), [["ann", "camera", "0,1", "TR_voice,TR_face"], ["bob", "screen", "3", "TR_screen"]]);
  assert.equal(playback.at("1").track.id, "TR_face");
  playback.settle(1);
  assert.deepEqual(said(), [], "what stays is not said again");
  playback.assign([{ mid: "1", track: "TR_screen" }, { mid: "3", track: null }]);
  playback.settle(1);
  assert.deepEqual(said(), [["ann", "camera", "0", "TR_voice"], ["bob", "screen", "1", "TR_screen"]]);
});

test("what ends plays no longer, whatever the server says of its section", () => {
  const { playback, roster, said } = playing(ann);
  playback.assign([{ mid: "0", track: "TR_voice" }, { mid: "1", track: "TR_face" }]);
  playback.settle(1);
  said();
  playback.end(["TR_face"]);
  roster.drop(["TR_face"]);
  assert.deepEqual(said(), [["ann", "camera", "0", "TR_voice"]]);
  playback.settle(1);
  playback.end(["TR_voice"]);
  assert.deepEqual(said(), [["ann", "camera", "", ""]]);
  assert.equal(playback.at("0"), undefined);
});

test("after a resumption slots wait for the events that make their tracks known, one that hosts alone get among them", () => {
  for (const last of [7, 9]) {
    const { playback, roster, said } = playing(ann);
    playback.resume(7);
    playback.assign([{ mid: "3", track: "TR_screen" }]);
    playback.settle(5);
    assert.deepEqual([said(), playback.isDue(6)], [[], false]);
    roster.follow({ id: last, type: "participant.joined", participant: bob }, () => {});
    assert.equal(playback.isDue(last), true);
    playback.settle(last);
    assert.deepEqual(said(), [["bob", "screen", "3", "TR_screen"]]);
    assert.equal(playback.isDue(last + 1), false);
  }
});

test("another session begins with nothing in its slots, not even what was still to be announced", () => {
  const { playback, roster, said } = playing(ann);
  playback.assign([{ mid: "0", track: "TR_voice" }, { mid: "3", track: "TR_screen" }]);
  playback.settle(1);
  said();
  playback.end(roster.tracks);
  roster.begin({ participant: roster.me, participants: [ann, bob] });
  playback.begin();
  playback.settle(1);
  assert.deepEqual(said(), [["ann", "camera", "", ""]]);
});
