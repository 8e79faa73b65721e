// Administration: signing in, and the stream of how the server and its rooms do. Names are set as text only.

import { desk, forgetTrouble, grantsOf, problem, trouble } from "/admin-desk.js";
import { RoomPart } from "/admin-room.js";
import { RoomsPart } from "/admin-rooms.js";
import { ServerPart } from "/admin-server.js";
import { element } from "/elements.js";
import { follow } from "/follow.js";
import { hideNotice, notice } from "/notices.js";
import { REST } from "/rest.js";
import { tokenFromAddress } from "/visit.js";
import { learn, offerLanguages, onLanguage, say, translate } from "/words.js";

await learn("call", "admin");
translate();

let stop = null; // of the stream
let figures = null; // as it has them

const server = new ServerPart();
const room = new RoomPart({ left: () => signOut(say("admin.token.over")) });
const rooms = new RoomsPart({
  changed: () => list(),
  choose: (name) => {
    choose(name);
    element("room-title").focus();
  },
});

offerLanguages(element("language"));
onLanguage(() => {
  if (figures) showFigures();
  room.sayAgain();
});

// -- signing in

element("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  signIn(element("token").value.trim());
});
element("sign-out").addEventListener("click", () => signOut());

function signIn(given) {
  hideNotice();
  // What no header can carry would look as if the server didn't respond.
  if (!/^[\x21-\x7e]+$/.test(given)) {
    signOut(say("admin.token.none"));
    return;
  }
  desk.rest = new REST(given);
  desk.grants = grantsOf(given);
  list();
}

function signOut(words = null) {
  stop?.();
  stop = figures = desk.rest = null;
  desk.grants = {};
  forgetTrouble();
  if (element("question").open) element("question").close();
  room.open(null);
  rooms.clear();
  show({ isSignedIn: false });
  element("token").value = "";
  element("token").focus();
  if (words) notice(words);
}

function show({ isSignedIn }) {
  element("sign-in").hidden = isSignedIn;
  for (const id of ["sign-out", "signed-in", "server"]) element(id).hidden = !isSignedIn;
  if (isSignedIn) element("token").value = "";
}

// -- what the server says of itself

/** Follows the list of rooms as it is asked for now. */
function list() {
  stop?.();
  const { rest } = desk;
  if (!rest) return;
  trouble("rooms", null);
  let deadline = null; // as this stream has it
  stop = follow((options) => rest.statistics(rooms.query, options), {
    event: (type, data) => {
      if (type === "draining") ({ deadline } = data);
      if (type !== "server") return;
      server.drain(deadline);
      take(data);
    },
    trouble: (error) => trouble("rooms", error),
    over: ({ reason, error }) => end(reason, error),
  });
}

function take(data) {
  figures = data;
  // Until one is chosen it is the first, and rather one that isn't empty.
  const first = data.items.find(({ participants }) => participants > 0) ?? data.items[0];
  if (rooms.chosen === null && first) choose(first.name);
  room.found(data.items);
  show({ isSignedIn: true });
  showFigures();
}

function showFigures() {
  server.show(figures);
  rooms.show(figures);
}

function choose(name) {
  rooms.chosen = name;
  if (figures) rooms.show(figures);
  room.open(name);
}

function end(reason, error) {
  const words = {
    401: say("admin.token.refused", { reason: error?.message ?? "" }), 403: say("admin.token.forbidden"), tokenExpired: say("admin.token.over"),
    removed: say("admin.token.over"), notAllowed: say("admin.token.forbidden"),
  }[reason ?? error.status];
  if (words) signOut(words);
  else notice(error ? problem(error) : say("rest.away"));
}

// A window in the background follows its room alone, for the charts: browsers open few connections to one server.
document.addEventListener("visibilitychange", () => {
  if (desk.rest === null) return;
  if (!document.hidden) list();
  else stop?.();
});

// Another link into the same page changes nothing but what follows the #.
addEventListener("hashchange", () => {
  if (new URLSearchParams(location.hash.slice(1)).has("token")) location.reload();
});

if (tokenFromAddress) signIn(tokenFromAddress);
else element("token").focus();
