import { Room } from "/roost.js";

const element = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const tiles = new Map(); // MediaStream → <figure>
let room = null;
let own = null;

// A token from a link stays in memory only and leaves the address at once.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) history.replaceState(null, "", location.pathname + location.search);
const claims = token ? readClaims(token) : null;

element("room").value = claims?.video?.room ?? query.get("room") ?? "demo";
element("name").value = claims?.name ?? claims?.sub ?? query.get("name") ?? query.get("identity") ?? "";
element("room").readOnly = element("name").readOnly = claims !== null;
element("publish").checked = query.get("publish") !== "0";

element("join").addEventListener("submit", (event) => {
  event.preventDefault();
  join().catch((error) => stop(error.message));
});
element("leave").addEventListener("click", () => room?.leave());
element("microphone").addEventListener("click", (event) => toggle(event.currentTarget, "audio"));
element("camera").addEventListener("click", (event) => toggle(event.currentTarget, "video"));

async function join() {
  const name = element("name").value;
  const roomName = element("room").value;
  say("Joining…");
  element("join").hidden = true;
  room = new Room({
    url: location.origin,
    room: roomName,
    token: token ?? (await developmentToken(roomName, name)),
  });
  room.addEventListener("slot", ({ detail }) => show(detail));
  room.addEventListener("event", countPeople);
  room.addEventListener("error", ({ detail }) => say(detail.message));
  room.addEventListener("closed", ({ detail }) => stop(`The call has ended: ${detail.reason}`));
  room.addEventListener("connection", ({ detail }) => (document.body.dataset.connection = detail));
  // For the curious at the console, and for tests.
  window.roostPage = {
    get peerConnection() {
      return room.connection;
    },
  };

  if (element("publish").checked) own = await capture();
  const joined = await room.connect();
  element("controls").hidden = false;
  element("microphone").hidden = element("camera").hidden = own === null;
  people = joined.participants.length;
  say(`In ${joined.room.name}`);
  if (own) {
    tile(own, name, true);
    await room.publish(own);
  }
}

/** Camera and microphone, or whichever of them there is. */
async function capture() {
  const video = { width: { ideal: 1280 }, height: { ideal: 720 } };
  for (const wish of [{ audio: true, video }, { audio: true }, { video }]) {
    try {
      return await navigator.mediaDevices.getUserMedia(wish);
    } catch (error) {
      if (error.name === "NotAllowedError") break;
    }
  }
  say("No camera or microphone: only watching");
  return null;
}

async function developmentToken(roomName, name) {
  const identity = query.get("identity") ?? `${name.slice(0, 24)}-${Math.random().toString(36).slice(2, 8)}`;
  const answer = await fetch("/dev/token", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ room: roomName, identity, name }),
  });
  if (answer.status === 404) throw new Error("A link with a token is needed to join");
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail ?? body.title);
  return body.token;
}

function show({ stream, tracks, participant }) {
  if (tracks.length === 0) {
    tiles.get(stream)?.remove();
    tiles.delete(stream);
    return;
  }
  tile(stream, participant?.name ?? participant?.identity ?? "", false);
}

function tile(stream, name, isOwn) {
  let figure = tiles.get(stream);
  if (!figure) {
    figure = document.createElement("figure");
    const video = document.createElement("video");
    video.autoplay = video.playsInline = true;
    video.muted = isOwn;
    video.srcObject = stream;
    figure.append(video, document.createElement("figcaption"));
    figure.classList.toggle("own", isOwn);
    element("tiles").append(figure);
    tiles.set(stream, figure);
    video.play().catch(() => {});
  }
  // As text, whatever the name contains.
  figure.querySelector("figcaption").textContent = name;
}

let people = 0;
function countPeople({ detail }) {
  if (detail.type === "participant.joined") people += 1;
  if (detail.type === "participant.left") people -= 1;
  say(people === 0 ? "Nobody else is here" : `${people} other${people === 1 ? "" : "s"} here`);
}

function toggle(button, kind) {
  const tracks = own?.getTracks().filter((track) => track.kind === kind) ?? [];
  for (const track of tracks) track.enabled = !track.enabled;
  button.setAttribute("aria-pressed", String(tracks.some((track) => track.enabled)));
}

function stop(message) {
  for (const track of own?.getTracks() ?? []) track.stop();
  own = null;
  element("tiles").replaceChildren();
  tiles.clear();
  element("controls").hidden = true;
  element("join").hidden = false;
  say(message);
}

function say(text) {
  element("status").textContent = text;
}

function readClaims(text) {
  try {
    const part = text.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (character) => character.charCodeAt(0))));
  } catch {
    return null;
  }
}

// A link that joins by itself: ?room=…&identity=…&publish=0|1&autojoin=1
if (query.get("autojoin") === "1") join().catch((error) => stop(error.message));
