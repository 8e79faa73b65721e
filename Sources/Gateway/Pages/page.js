// The page: puts devices, room and tiles together. Everything that people call themselves is set as text only.

import { Devices, meter } from "/devices.js";
import { absence, deviceProblem, ending, insecure, joinProblem, tokenNeeded } from "/messages.js";
import { Room } from "/roost.js";
import { Stage } from "/tiles.js";
import { Statistics, show } from "/statistics.js";

const element = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);

// A token from a link stays in memory only and leaves the address at once.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) history.replaceState(null, "", location.pathname + location.search);
const claims = token ? readClaims(token) : null;

const remembered = readMemory();
const devices = new Devices({ generated: query.get("source") === "noise" });
const stage = new Stage(element("stage"), element("tile"));
/** What one wants to send; whether there is a device for it is another matter. */
const wants = {
  camera: query.get("publish") !== "0" && remembered.wantsCamera !== false,
  microphone: query.get("publish") !== "0" && remembered.wantsMicrophone !== false,
};

let room = null;
let publications = { camera: null, microphone: null, screen: [] };
let screenStream = null;
let endMeter = null;
let readings = null;

// -- the lobby

element("room").value = claims?.video?.room ?? query.get("room") ?? remembered.room ?? "demo";
element("name").value = claims?.name ?? claims?.sub ?? query.get("name") ?? query.get("identity")
  ?? remembered.name ?? "";
element("room").readOnly = element("name").readOnly = claims !== null;

element("join").addEventListener("submit", (event) => {
  event.preventDefault();
  join();
});
for (const kind of ["camera", "microphone"]) {
  element(`${kind}-choice`).addEventListener("change", () => open(kind, { asked: true }));
  element(`preview-${kind}`).addEventListener("click", () => toggle(kind));
  element(kind).addEventListener("click", () => toggle(kind));
}
devices.addEventListener("change", devicesChanged);
navigator.mediaDevices?.addEventListener("devicechange", listDevices);

/** Opens a device and sends it if there is a call. @returns whether it worked */
async function open(kind, { asked = false } = {}) {
  if (!devices.isPossible) {
    if (asked) notice(insecure);
    return false;
  }
  const chosen = element(`${kind}-choice`).value || remembered[kind];
  try {
    await devices.open(kind, chosen);
  } catch (error) {
    wants[kind] = false;
    devicesChanged();
    notice(deviceProblem(error, kind), "Try again", () => {
      wants[kind] = true;
      return open(kind, { asked: true });
    });
    return false;
  }
  if (asked) remember({ [kind]: chosen });
  await send(kind);
  return true;
}

async function toggle(kind) {
  wants[kind] = !wants[kind];
  remember({ wantsCamera: wants.camera, wantsMicrophone: wants.microphone });
  // A camera that is off is let go, so that its light is off too; a microphone only keeps silent.
  if (!wants[kind] && kind === "camera") devices.close(kind);
  if (wants[kind] && !devices[kind]) {
    await open(kind, { asked: true });
  } else {
    await send(kind);
  }
  devicesChanged();
}

function devicesChanged() {
  for (const kind of ["camera", "microphone"]) {
    const isOn = wants[kind] && devices[kind] !== null;
    for (const id of [kind, `preview-${kind}`]) {
      element(id).setAttribute("aria-pressed", String(isOn));
      element(id).querySelector("use").setAttribute("href", `#icon-${kind}${isOn ? "" : "-off"}`);
    }
  }
  if (devices.microphone) devices.microphone.enabled = wants.microphone;
  const preview = element("preview");
  const track = devices.camera;
  if (preview.srcObject?.getTracks()[0] !== track) preview.srcObject = track ? new MediaStream([track]) : null;
  preview.hidden = !track;
  element("preview-text").textContent = track ? "" : wants.camera ? "Waiting for the camera" : "Your camera is off";
  showOwnTile();
  measureLevel();
  listDevices();
}

let measured = null;
function measureLevel() {
  const track = room ? null : devices.microphone;
  if (measured === track) return;
  endMeter?.();
  endMeter = null;
  measured = track;
  element("level").value = 0;
  if (track) endMeter = meter(track, (level) => (element("level").value = wants.microphone ? level : 0));
}

async function listDevices() {
  for (const kind of ["camera", "microphone"]) {
    const found = await devices.list(kind);
    const select = element(`${kind}-choice`);
    const inUse = devices[kind]?.getSettings().deviceId ?? remembered[kind];
    const options = found.map(({ deviceId, label }, index) =>
      new Option(label || `${kind === "camera" ? "Camera" : "Microphone"} ${index + 1}`, deviceId));
    if (options.length === 0) options.push(new Option(query.get("source") === "noise" ? "Generated" : "None found", ""));
    select.replaceChildren(...options);
    select.disabled = found.length === 0;
    if (found.some(({ deviceId }) => deviceId === inUse)) select.value = inUse;
  }
}

// -- joining and leaving

async function join() {
  const name = element("name").value.trim();
  const roomName = element("room").value.trim();
  if (!name || !roomName) return;
  hideNotice();
  element("join-button").disabled = true;
  element("join-button").textContent = "Joining…";
  let joining = null;
  try {
    joining = new Room({ url: location.origin, room: roomName, token: token ?? (await developmentToken(roomName, name)) });
    follow(joining);
    room = joining;
    // For the curious at the console, and for tests.
    window.roostPage = { get peerConnection() { return joining.connection; }, room: joining };
    await joining.connect();
    if (!claims) remember({ name, room: roomName });
    enter(name, roomName);
    await Promise.all([send("camera"), send("microphone")]);
  } catch (error) {
    if (room === joining) leaveView();
    joining?.leave();
    notice(joinProblem(error), "Join again", join);
  } finally {
    element("join-button").disabled = false;
    element("join-button").textContent = "Join";
  }
}

async function developmentToken(roomName, name) {
  const identity = query.get("identity") ?? `${name.slice(0, 24)}-${Math.random().toString(36).slice(2, 8)}`;
  let answer;
  try {
    answer = await fetch("/dev/token", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ room: roomName, identity, name }),
    });
  } catch {
    throw Object.assign(new Error(), { code: "unreachable" });
  }
  if (answer.status === 404) throw new Error(tokenNeeded);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail ?? body.title);
  return body.token;
}

function enter(name, roomName) {
  document.body.dataset.view = "call";
  element("lobby").hidden = true;
  element("call").hidden = false;
  element("call-room").textContent = roomName;
  element("invite").hidden = token !== null;
  document.title = `${roomName} – Roost`;
  if (!claims) {
    const address = new URL(location.href);
    address.searchParams.set("room", roomName);
    history.replaceState(null, "", address);
  }
  measureLevel();
  showOwnTile();
  showPlace();
  element("microphone").focus();
}

function leaveView() {
  const wasInCall = !element("call").hidden;
  room = null;
  publications = { camera: null, microphone: null, screen: [] };
  stopScreen();
  stage.clear();
  showStatistics(false);
  element("help").close();
  document.body.dataset.view = "lobby";
  element("call").hidden = true;
  element("lobby").hidden = false;
  document.title = "Roost";
  devicesChanged();
  if (wasInCall) element("join-button").focus();
}

element("leave").addEventListener("click", () => room?.leave());
window.addEventListener("pagehide", () => room?.leave());

/** What the room says becomes what the page shows. */
function follow(joining) {
  const on = (type, handle) => joining.addEventListener(type, ({ detail }) => {
    if (room === joining) handle(detail);
  });
  on("joined", ({ participants, gone }) => {
    // Joined anew, somebody may have gone unseen.
    for (const { id } of gone) for (const group of ["camera", "screen"]) stage.remove(`${id} ${group}`);
    participants.forEach(showPerson);
  });
  on("state", (state) => {
    const before = document.body.dataset.signalling;
    document.body.dataset.signalling = state;
    if (state === "reconnecting") say("The server is out of reach; looking for it");
    else if (before === "reconnecting") say("The server is back");
  });
  on("event", eventHappened);
  on("media", play);
  on("speakers", showSpeakers);
  on("quality", ({ participant, quality }) => {
    const tile = stage.find(participant === joining.me?.id ? "own camera" : `${participant} camera`);
    if (tile) tile.quality = quality;
  });
  on("stream", showAbsence);
  on("connection", (state) => (document.body.dataset.connection = state));
  on("error", (error) => notice(joinProblem(error)));
  on("closed", (end) => {
    leaveView();
    const text = ending(end);
    if (text) notice(text, "Join again", join);
    else say("You have left");
  });
}

// -- the others

const nameOf = (participant) => participant.name || participant.identity || "Somebody";

function eventHappened(event) {
  const { type, participant, track } = event;
  const isOwn = participant?.id === room.me?.id;
  switch (type) {
    case "participant.joined":
      if (isOwn) return;
      showPerson(participant);
      say(`${nameOf(participant)} has joined`);
      break;
    case "participant.left":
      stage.remove(`${participant.id} camera`);
      stage.remove(`${participant.id} screen`);
      if (!isOwn) say(`${nameOf(participant)} has left`);
      break;
    case "track.published":
      if (!isOwn && track.source === "screen_share") say(`${nameOf(participant)} shares a screen`);
      break;
    default:
  }
  if (participant && !isOwn && type !== "participant.left") showPerson(room.participants.get(participant.id));
  showPlace();
}

/** The tile of somebody, with what is known of them. */
function showPerson(participant) {
  if (!participant) return;
  const tile = stage.tile(`${participant.id} camera`, { own: false, group: "camera" });
  tile.name = nameOf(participant);
  const microphone = participant.tracks.filter(({ source }) => source === "microphone");
  tile.muted = microphone.length === 0 || microphone.every(({ muted }) => muted);
  const camera = participant.tracks.find(({ source }) => source === "camera");
  if (!camera || camera.muted) tile.hasPicture = false;
  else if (tile.isPlaying) tile.hasPicture = true;
  if (!camera) tile.note = "";
}

async function play({ participant, group, stream, tracks }) {
  const key = `${participant.id} ${group}`;
  if (group === "screen" && tracks.length === 0) {
    stage.remove(key);
    return;
  }
  const tile = stage.tile(key, { own: false, group });
  tile.name = nameOf(participant);
  const picture = tracks.find(({ kind }) => kind === "video");
  tile.isPlaying = picture !== undefined;
  if (picture) tile.note = "";
  if (await tile.play(stream, picture !== undefined && !picture.muted)) {
    notice("The browser waits for a click before it plays sound.", "Turn the sound on", () => {
      for (const video of document.querySelectorAll("#stage video")) video.play().catch(() => {});
    });
  }
}

function showAbsence({ track, state, reason }) {
  for (const participant of room.participants.values()) {
    const found = participant.tracks.find(({ id }) => id === track);
    if (found?.kind !== "video") continue;
    const tile = stage.find(`${participant.id} ${found.source === "screen_share" ? "screen" : "camera"}`);
    if (tile) tile.note = absence({ state, reason });
  }
}

function showSpeakers(speakers) {
  const speaking = new Set(speakers.map(({ participant }) => participant));
  for (const id of [room.me?.id, ...room.participants.keys()]) {
    const tile = stage.find(id === room.me?.id ? "own camera" : `${id} camera`);
    if (tile) tile.speaking = speaking.has(id);
  }
}

function showPlace() {
  if (!room) return;
  const count = room.participants.size;
  const people = count === 0 ? "nobody else is here yet" : count === 1 ? "2 people" : `${count + 1} people`;
  element("place").textContent = `${element("call-room").textContent} · ${people}`;
}

// -- oneself

function showOwnTile() {
  if (!room || element("call").hidden) return;
  const tile = stage.tile("own camera", { own: true, group: "camera" });
  tile.name = `${element("name").value.trim()} (you)`;
  tile.muted = !(wants.microphone && devices.microphone);
  const current = ownStream.getTracks()[0] ?? null;
  if (current !== devices.camera) {
    if (current) ownStream.removeTrack(current);
    if (devices.camera) ownStream.addTrack(devices.camera);
  }
  tile.play(ownStream, devices.camera !== null);
}
const ownStream = new MediaStream();

let sending = Promise.resolve();
/** Publishes what is wanted, or changes what is published: one after the other. */
function send(kind) {
  sending = sending.then(() => update(kind)).catch((error) => {
    if (room) notice(joinProblem(error));
  });
  return sending;
}

async function update(kind) {
  const track = devices[kind];
  const publication = publications[kind];
  const isOn = wants[kind] && track !== null;
  if (!room?.connection || !room.me) return;
  showOwnTile();
  if (!publication) {
    if (!isOn) return;
    [publications[kind] = null] = await room.publish([track], { video: "camera", audio: "microphone" });
    return;
  }
  if (publication.track !== track) await publication.replace(track);
  if (publication.muted === isOn) await room.mute(publication, !isOn);
}

// -- the screen

element("screen").addEventListener("click", () => (screenStream ? stopScreen() : shareScreen()));

async function shareScreen() {
  if (!navigator.mediaDevices?.getDisplayMedia) {
    notice("This browser cannot share a screen.");
    return;
  }
  try {
    screenStream = await navigator.mediaDevices.getDisplayMedia({ video: { frameRate: { max: 30 } }, audio: true });
  } catch (error) {
    // Who changes their mind needs no message.
    if (error.name !== "NotAllowedError") notice(deviceProblem(error, "screen"));
    return;
  }
  const [track] = screenStream.getVideoTracks();
  track.contentHint = "detail";
  track.addEventListener("ended", stopScreen);
  element("screen").setAttribute("aria-pressed", "true");
  const tile = stage.tile("own screen", { own: true, group: "screen" });
  tile.name = "Your";
  tile.play(screenStream, true);
  try {
    publications.screen = await room.publish(screenStream, { video: "screen_share", audio: "screen_share_audio" });
    say("You share your screen");
  } catch (error) {
    notice(joinProblem(error));
    stopScreen();
  }
}

function stopScreen() {
  for (const track of screenStream?.getTracks() ?? []) track.stop();
  if (screenStream && room) {
    room.unpublish(publications.screen).catch(() => {});
    say("You no longer share your screen");
  }
  screenStream = null;
  publications.screen = [];
  stage.remove("own screen");
  element("screen").setAttribute("aria-pressed", "false");
}

// -- statistics, invitation, help

element("statistics-toggle").addEventListener("click", () => showStatistics(element("statistics").hidden));
element("statistics-close").addEventListener("click", () => {
  showStatistics(false);
  element("statistics-toggle").focus();
});

function showStatistics(isShown) {
  clearInterval(readings);
  element("statistics").hidden = !isShown;
  element("statistics-toggle").setAttribute("aria-pressed", String(isShown));
  if (!isShown) return;
  const statistics = new Statistics();
  const read = async () => {
    if (room?.connection) show(await statistics.read(room.connection, section), element("transport"), element("track-rows"));
  };
  read();
  readings = setInterval(read, 1000);
}

/** What a section of the connection carries, for people. */
function section(mid) {
  const words = { camera: "camera", microphone: "microphone", screen_share: "screen",
    screen_share_audio: "screen sound", unknown: "track" };
  const sent = room.publications.find((each) => each.mid === mid);
  if (sent) return `You: ${words[sent.source] ?? sent.source}`;
  const slot = room.trackAt(mid);
  return slot ? `${nameOf(slot.participant)}: ${words[slot.track.source] ?? slot.track.source}` : "";
}

element("invite").addEventListener("click", invite);

async function invite() {
  const link = new URL("/", location.href);
  link.searchParams.set("room", element("call-room").textContent);
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  try {
    await navigator.clipboard.writeText(link.href);
    say(isHere ? "Link copied. It works on this machine only: start with --dev --lan for others" : "Link copied");
  } catch {
    notice(`Copy this link: ${link.href}`);
  }
}

element("help-open").addEventListener("click", () => element("help").showModal());
element("single-keys").checked = remembered.keys !== false;
element("single-keys").addEventListener("change", (event) => remember({ keys: event.target.checked }));

const keys = { m: "microphone", v: "camera", s: "screen", i: "statistics-toggle", c: "invite", Q: "leave", "?": "help-open" };
document.addEventListener("keydown", (event) => {
  if (element("call").hidden || element("help").open || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && !element("statistics").hidden) element("statistics-close").click();
  if (remembered.keys === false || event.repeat || event.target.closest("input, select, textarea")) return;
  const button = element(keys[event.key]);
  if (button && !button.hidden) button.click();
});

// -- what is said

let silence = null;
/** For a moment at the foot of the page, and by screen readers. */
function say(text) {
  clearTimeout(silence);
  element("status").textContent = text;
  silence = setTimeout(() => (element("status").textContent = ""), 5000);
}

/** Until it is closed, at the top of the page. */
function notice(text, label = null, action = null) {
  element("notice-text").textContent = text;
  const button = element("notice-action");
  button.hidden = !label;
  button.textContent = label ?? "";
  button.onclick = () => {
    hideNotice();
    action?.();
  };
  element("notice").hidden = false;
}

function hideNotice() {
  element("notice").hidden = true;
}
element("notice-close").addEventListener("click", hideNotice);

// -- what is remembered: never a token

function readMemory() {
  try {
    return JSON.parse(localStorage.getItem("roost")) ?? {};
  } catch {
    return {};
  }
}

function remember(change) {
  Object.assign(remembered, change);
  try {
    localStorage.setItem("roost", JSON.stringify(remembered));
  } catch {
    // Without storage it holds until the page is closed.
  }
}

function readClaims(text) {
  try {
    const part = text.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (character) => character.charCodeAt(0))));
  } catch {
    return null;
  }
}

// -- the beginning

devicesChanged();
const opened = devices.isPossible
  ? Promise.all(["camera", "microphone"].filter((kind) => wants[kind]).map((kind) => open(kind)))
  : notice(insecure);
// A link that joins by itself: ?room=…&identity=…&publish=0|1&autojoin=1
if (query.get("autojoin") === "1") Promise.resolve(opened).then(join);
