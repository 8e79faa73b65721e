// Administration: rooms, participants and their tracks; mute and remove. Names are set as text only.

import { element, isolated, nameOf } from "/elements.js";
import { Explained, isWorthShowing } from "/explained.js";
import { List } from "/list.js";
import { hideNotice, notice, say } from "/notices.js";
import { REST } from "/rest.js";
import { tokenFromAddress } from "/visit.js";

const period = 2000; // ms between two looks
const step = 100; // rooms or people more at a time
const sources = { camera: "Camera", microphone: "Microphone", screen_share: "Screen", screen_share_audio: "Screen sound",
  unknown: "Track" };

/** @type {REST | null} */
let rest = null;
let chosen = null; // the name of a room
let shown = { rooms: step, people: step };
let timer = null;
let looks = 0; // the last look that was begun; what an earlier one brings is out of date
let isAway = false; // whether it was said that the server doesn't respond

const rooms = new List(element("rooms"), element("room-row"), {
  key: (room) => room.id,
  make: (row, room) => row.querySelector("button").addEventListener("click", () => choose(room.name)),
  update: (row, room) => {
    row.querySelector(".name").textContent = room.name;
    row.querySelector(".about").textContent = `${count(room.participants, "person", "people")}, ${
      count(room.tracks, "track")}, open for ${age(room.age)}`;
    row.querySelector("button").setAttribute("aria-current", String(room.name === chosen));
  },
});

const people = new List(element("people"), element("person-row"), {
  key: (person) => person.id,
  make: (row, person) => {
    row.tracks = new List(row.querySelector(".tracks"), element("track-row"), {
      key: (track) => track.id,
      make: (line, track) => line.querySelector(".mute").addEventListener("click", () => mute(line.person, line.track)),
      update: (line, track) => showTrack(line, row.person, track),
    });
    row.querySelector(".remove").addEventListener("click", () => remove(row.person));
    row.explained = new Explained(row.querySelector(".explanations"));
    row.querySelector(".gets").addEventListener("toggle", () => lookAround());
  },
  update: (row, person) => {
    row.person = person;
    const name = nameOf(person);
    row.querySelector(".name").textContent = name;
    row.querySelector(".mark").hidden = !person.hidden;
    row.querySelector(".person .about").textContent = [
      name === person.identity ? null : person.identity,
      `since ${new Date(person.joinedAt).toLocaleTimeString()}`,
      person.quality && `connection ${person.quality}`,
    ].filter(Boolean).join(" · ");
    row.querySelector(".remove").setAttribute("aria-label", `Remove ${name}`);
    row.tracks.show(person.tracks);
    row.querySelector(".gets-name").textContent = name;
  },
});

/** What the people get whose part is open. */
async function explain(asked, look) {
  const rows = [...document.querySelectorAll("#people > li")];
  const open = new Map(rows.filter((row) => row.querySelector(".gets").open).map((row) => [row.person, row]));
  if (open.size === 0) return;
  const items = await asked.explain(chosen, rows.map(({ person }) => person), (person) => open.has(person));
  if (look !== looks) return;
  const now = performance.now();
  for (const [{ id }, row] of open) {
    const found = items.find((each) => each.id === id);
    if (!found) continue; // The list has changed since: the next look has it.
    const subscriptions = found.subscriptions.filter(isWorthShowing);
    row.explained.show(subscriptions.map((subscription) => ({
      key: subscription.track, subscription,
      title: `${isolated(subscription.publisherIdentity)}: ${(sources[subscription.source] ?? "track").toLowerCase()}`,
      transport: found.transports.find(({ transport }) => transport === subscription.transport),
    })), now);
    row.querySelector(".gets-nothing").hidden = subscriptions.length > 0;
  }
}

function showTrack(line, person, track) {
  Object.assign(line, { person, track });
  const source = sources[track.source] ?? track.source;
  line.querySelector(".kind").textContent = source;
  line.querySelector(".about").textContent = track.mutedByAdmin ? "Muted by a host" : track.muted ? "Muted" : "";
  const button = line.querySelector(".mute");
  // The page of a participant that an administrator has muted stays muted until the participant unmutes.
  button.textContent = track.mutedByAdmin ? "Allow unmute" : "Mute";
  const whose = `${nameOf(person)}’s ${source.toLowerCase()}`;
  button.setAttribute("aria-label", track.mutedByAdmin ? `Allow unmute of ${whose}` : `Mute ${whose}`);
}

// -- signing in

element("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  signIn(element("token").value.trim());
});
element("sign-out").addEventListener("click", () => signOut());

async function signIn(given) {
  hideNotice();
  // What no header can carry would look as if the server didn't respond.
  if (!/^[\x21-\x7e]+$/.test(given)) {
    signOut("This isn't an access token. A token has three parts with dots between them.");
    return;
  }
  isAway = false;
  rest = new REST(given);
  await lookAround();
}

function signOut(words = null) {
  clearTimeout(timer);
  looks += 1;
  rest = chosen = null;
  isAway = false;
  rooms.show([]);
  people.show([]);
  element("token").value = "";
  show({ isSignedIn: false });
  element("token").focus();
  if (words) notice(words);
}

function show({ isSignedIn }) {
  element("sign-in").hidden = isSignedIn;
  element("sign-out").hidden = element("signed-in").hidden = !isSignedIn;
  if (isSignedIn) element("token").value = "";
}

// -- looking

/** Looks at everything that is shown, and again after a while. */
async function lookAround() {
  clearTimeout(timer);
  looks += 1;
  const [look, asked] = [looks, rest];
  try {
    const found = await REST.upTo(shown.rooms, (query) => asked.rooms(query));
    if (look !== looks) return;
    // Until one is chosen it is the first, and rather one that isn't empty.
    chosen ??= (found.items.find(({ participants }) => participants > 0) ?? found.items[0])?.name ?? null;
    const room = found.items.find(({ name }) => name === chosen);
    const there = room ? await REST.upTo(shown.people, (query) => asked.participants(chosen, query)).catch(unseen) : none;
    if (look !== looks) return;
    show({ isSignedIn: true });
    showRooms(found);
    showRoom(room, there);
    if (isAway) hideNotice();
    isAway = false;
    await explain(asked, look).catch(unseen);
    if (look !== looks) return;
  } catch (error) {
    if (look !== looks) return;
    if (error.status === 401 || error.status === 403) {
      signOut(error.status === 401 ? `The server didn't accept this token: ${error.message}.`
        : "This token isn't allowed to do that. Use one that can list and administer rooms.");
      return;
    }
    if (!isAway) notice(error.message);
    isAway = true;
  }
  // A window in the background isn't looked at.
  if (!document.hidden) timer = setTimeout(lookAround, period);
}

const none = { items: [], hasMore: false };

/** A room may have ended between two requests, or be another administrator's. */
function unseen(error) {
  if (error.status === 404) return none;
  if (error.status === 403) return { ...none, isRefused: true };
  throw error;
}

document.addEventListener("visibilitychange", () => {
  if (rest && !document.hidden) lookAround();
});

function showRooms({ items, hasMore }) {
  rooms.show(items);
  element("rooms-count").textContent = hasMore ? `${items.length} rooms or more` : count(items.length, "room");
  element("no-rooms").hidden = items.length > 0;
  element("more-rooms").hidden = !hasMore;
}

function showRoom(room, { items, hasMore, isRefused = false }) {
  element("room").hidden = chosen === null;
  element("room-title").textContent = chosen ?? "";
  element("room-about").textContent = !room ? "This room has ended."
    : isRefused ? "Your token isn't valid for this room."
      : `${count(room.participants, "person", "people")}, ${room.publishers} sending`;
  people.show(items);
  element("no-people").hidden = !room || isRefused || items.length > 0;
  element("more-people").hidden = !hasMore;
}

element("more-rooms").addEventListener("click", () => more("rooms"));
element("more-people").addEventListener("click", () => more("people"));

function more(what) {
  shown[what] += step;
  lookAround();
}

async function choose(name) {
  chosen = name;
  shown.people = step;
  await lookAround();
  element("room-title").focus();
}

// -- doing

async function mute(person, track) {
  const isMuted = !track.mutedByAdmin;
  await act(() => rest.mute(chosen, person.identity, track.id, isMuted),
    isMuted ? `You muted ${isolated(nameOf(person))}’s ${(sources[track.source] ?? "track").toLowerCase()}`
      : `${isolated(nameOf(person))} can unmute now`);
}

async function remove(person) {
  const dialog = element("removal");
  element("removal-title").textContent = `Remove ${isolated(nameOf(person))} from ${isolated(chosen)}?`;
  const room = chosen;
  const isSure = new Promise((resolve) => {
    dialog.querySelector("[value=remove]").onclick = () => resolve(true);
    // It comes a moment behind the closing: by then the next question may be open.
    dialog.onclose = () => { if (!dialog.open) resolve(false); };
  });
  dialog.showModal();
  if (!await isSure || !rest) return;
  await act(() => rest.remove(room, person.identity), `You removed ${isolated(nameOf(person))}`);
  // The button that had the focus has gone.
  if (rest && document.activeElement === document.body) element("room-title").focus();
}

/** Does it, says so, and looks at what has become of it. */
async function act(request, words) {
  try {
    await request();
    say(words);
  } catch (error) {
    notice(error.message);
  }
  if (rest) await lookAround();
}

// -- words

function count(number, one, many = `${one}s`) {
  return `${number} ${number === 1 ? one : many}`;
}

function age(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}

if (tokenFromAddress) signIn(tokenFromAddress);
else element("token").focus();
