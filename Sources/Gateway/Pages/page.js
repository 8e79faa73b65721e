// The page: puts its parts together and shows either the lobby or the call. Everything that people call themselves is set as
// text only.

import { Banner } from "/banner.js";
import { Call } from "/call.js";
import { Choices } from "/choices.js";
import { Devices } from "/devices.js";
import { element } from "/elements.js";
import { listenForKeys } from "/keyboard.js";
import { Lobby } from "/lobby.js";
import { Hosts } from "/hosts.js";
import { claims, forget, hasInvitation, isNeeded, mayPublish } from "/invitation.js";
import { ending, joinProblem } from "/messages.js";
import { hideNotice, hush, notice, say } from "/notices.js";
import { People } from "/people.js";
import { Readings } from "/readings.js";
import { Recorded } from "/recorded.js";
import { Screen } from "/screen.js";
import { Sizes } from "/sizes.js";
import { Sending } from "/sending.js";
import { Switches } from "/switches.js";
import { Talk } from "/talk.js";
import { Stage } from "/tiles.js";
import { query, remembered } from "/visit.js";

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
new Banner(call, stage);
new Recorded(call);
new Sizes(call, stage);
new Hosts(call, devices, switches);
new Talk(call, devices, switches);
listenForKeys(call, new Readings(call));

call.addEventListener("enter", () => {
  view("call");
  element("call-room").textContent = call.roomName;
  // An invitation is for one person: it can't be passed on.
  element("invite").hidden = hasInvitation;
  document.title = `${call.roomName} – Roost`;
  if (!claims) {
    const address = new URL(location.href);
    address.searchParams.set("room", call.roomName);
    history.replaceState(null, "", address);
  }
  showPlace();
  // On the call itself: the first control would take Space.
  element("call").focus();
});

call.addEventListener("leave", ({ detail }) => {
  view("lobby");
  hush();
  hideNotice();
  document.title = "Roost";
  lobby.show();
  element("join-button").focus();
  const end = ending(detail);
  // What ended for good isn't tried again by loading the page again.
  if (end && !end.again) forget();
  if (!end) say("You left the call");
  else if (end.again) notice(end.text, { label: "Rejoin", action: () => lobby.join() });
  else notice(end.text);
});

call.on("event", showPlace);
call.on("connection", (state) => (document.body.dataset.connection = state));
call.on("error", (error) => notice(joinProblem(error)));
element("leave").addEventListener("click", () => {
  forget();
  call.leave();
});
element("invite").addEventListener("click", invite);
window.addEventListener("pagehide", () => call.leave());

function view(name) {
  document.body.dataset.view = name;
  for (const each of ["lobby", "call", "uninvited"]) element(each).hidden = name !== each;
}

function showPlace() {
  const count = call.room.participants.size;
  element("place-room").textContent = call.roomName;
  element("place-people").textContent = count === 0 ? "no one else is here" : `${count + 1} people`;
}

async function invite() {
  const link = new URL("/", location.href);
  link.searchParams.set("room", call.roomName);
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  try {
    await navigator.clipboard.writeText(link.href);
    say(isHere ? "Link copied. It works on this computer only: to invite others, start the server with --dev --lan."
      : "Link copied");
  } catch {
    notice(`Copy this link: ${link.href}`);
  }
}

lobby.show();
choices.show();
if (!hasInvitation && (await isNeeded())) {
  // Nothing can be joined from here, so nothing is asked for.
  view("uninvited");
} else {
  // A link that joins by itself: ?room=…&identity=…&publish=0|1&autojoin=1
  await switches.begin();
  if (query.get("autojoin") === "1") lobby.join();
}
