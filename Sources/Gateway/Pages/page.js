// The page: puts its parts together and shows either the lobby or the call. Everything that people call themselves is set as
// text only.

import { Banner } from "/banner.js";
import { Call } from "/call.js";
import { Choices } from "/choices.js";
import { Devices } from "/devices.js";
import { element } from "/elements.js";
import { listenForKeys } from "/keyboard.js";
import { Lobby } from "/lobby.js";
import { ending, joinProblem } from "/messages.js";
import { notice, say } from "/notices.js";
import { People } from "/people.js";
import { Readings } from "/readings.js";
import { Screen } from "/screen.js";
import { Sending } from "/sending.js";
import { Switches } from "/switches.js";
import { Stage } from "/tiles.js";
import { claims, mayPublish, query, remembered, token } from "/visit.js";

const wanted = (kind, before) => query.get("publish") !== "0" && mayPublish(kind) && before !== false;
const devices = new Devices({
  generated: query.get("source") === "noise",
  wants: {
    camera: wanted("camera", remembered.wantsCamera),
    microphone: wanted("microphone", remembered.wantsMicrophone),
  },
});
const stage = new Stage(element("stage"), element("tile"));
const call = new Call();
const switches = new Switches(devices);
const choices = new Choices(devices, switches, stage);
const lobby = new Lobby(call, devices);
new People(call, stage);
new Sending(call, devices, stage);
new Screen(call, stage);
new Banner(call);
listenForKeys(call, new Readings(call));

call.addEventListener("enter", () => {
  view("call");
  element("call-room").textContent = call.roomName;
  // Who was invited can't invite: the token is theirs alone.
  element("invite").hidden = token !== null;
  document.title = `${call.roomName} – Roost`;
  if (!claims) {
    const address = new URL(location.href);
    address.searchParams.set("room", call.roomName);
    history.replaceState(null, "", address);
  }
  showPlace();
  element(mayPublish("microphone") ? "microphone" : "leave").focus();
});

call.addEventListener("leave", ({ detail }) => {
  view("lobby");
  document.title = "Roost";
  lobby.show();
  element("join-button").focus();
  const end = ending(detail);
  if (!end) say("You have left");
  else if (end.again) notice(end.text, "Join again", () => lobby.join());
  else notice(end.text);
});

call.on("event", showPlace);
call.on("connection", (state) => (document.body.dataset.connection = state));
call.on("error", (error) => notice(joinProblem(error)));
element("leave").addEventListener("click", () => call.leave());
element("invite").addEventListener("click", invite);
window.addEventListener("pagehide", () => call.leave());

function view(name) {
  document.body.dataset.view = name;
  element("lobby").hidden = name !== "lobby";
  element("call").hidden = name !== "call";
}

function showPlace() {
  const count = call.room.participants.size;
  element("place-room").textContent = call.roomName;
  element("place-people").textContent = count === 0 ? "nobody else is here yet" : `${count + 1} people`;
}

async function invite() {
  const link = new URL("/", location.href);
  link.searchParams.set("room", call.roomName);
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  try {
    await navigator.clipboard.writeText(link.href);
    say(isHere ? "Link copied. It works on this machine only: start with --dev --lan for others" : "Link copied");
  } catch {
    notice(`Copy this link: ${link.href}`);
  }
}

lobby.show();
choices.show();
// A link that joins by itself: ?room=…&identity=…&publish=0|1&autojoin=1
const begun = switches.begin();
if (query.get("autojoin") === "1") begun.then(() => lobby.join());
