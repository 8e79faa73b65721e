// The page: puts its parts together and shows either the lobby or the call. Everything that people call themselves is set as
// text only.

import { Call } from "/call.js";
import { Choices } from "/choices.js";
import { Devices } from "/devices.js";
import { Effects } from "/effects.js";
import { element } from "/elements.js";
import { Lobby } from "/lobby.js";
import { Hosts } from "/hosts.js";
import { forget, hasInvitation, isNeeded, mayPublish } from "/invitation.js";
import { ending, joinProblem } from "/messages.js";
import { hideNotice, hush, notice, tell } from "/notices.js";
import { People } from "/people.js";
import { Sending } from "/sending.js";
import { Switches } from "/switches.js";
import { Stage } from "/tiles.js";
import { query, remembered } from "/visit.js";
import { locale, say, translate } from "/words.js";

const mostMissed = 500;

translate();

const generated = query.get("source") === "noise";
const joinsAtOnce = query.get("autojoin") === "1";
// A link that joins at once may be a stranger's: it opens neither camera nor microphone, whatever is allowed and remembered.
const wanted = (kind, before) =>
  query.get("publish") !== "0" && mayPublish(kind) && before !== false && (generated || !joinsAtOnce);
const devices = new Devices({
  generated,
  wants: {
    camera: wanted("camera", remembered.wantsCamera),
    microphone: wanted("microphone", remembered.wantsMicrophone),
  },
  effects: { noise: remembered.noise !== false, blur: remembered.blur === true },
});
const stage = new Stage(element("stage"), element("tile"));
const call = new Call();
const switches = new Switches(devices);
const effects = new Effects(devices);
const choices = new Choices(devices, switches, stage);
const lobby = new Lobby(call, devices, stage);
new People(call, stage);
new Sending(call, devices, stage);
new Hosts(call, devices, switches);

// What a call needs once it shows is fetched then; what comes before waits for it.
let missed = [];
let whole = null;
call.on("joined", () => missed?.splice(0));
for (const type of ["history", "data"]) {
  call.on(type, (detail) => {
    if (missed?.push([type, detail]) > mostMissed) missed.shift();
  });
}
function complete() {
  whole ??= import("/in-call.js").then((part) => {
    part.complete({ call, choices, devices, effects, stage, switches, missed });
    missed = null;
  }, () => {
    whole = null;
    if (call.hasEntered) notice(say("call.partly"), { label: say("all.again"), action: complete });
  });
}

call.addEventListener("enter", () => {
  view("call");
  element("call-room").textContent = call.roomName;
  document.title = `${call.roomName} – Roost`;
  // Under its own address alone the tab keeps an invitation.
  if (!hasInvitation) {
    const address = new URL(location.href);
    address.searchParams.set("room", call.roomName);
    history.replaceState(null, "", address);
  }
  showPlace();
  // On the call itself: the first control would take Space.
  element("call").focus();
  queueMicrotask(complete); // The call shows first.
});

call.addEventListener("leave", ({ detail }) => {
  // What one was being asked is over too, and would keep the focus.
  for (const each of document.querySelectorAll("dialog[open]")) each.close();
  view("lobby");
  hush();
  hideNotice();
  document.title = "Roost";
  lobby.show();
  element("join-button").focus();
  const end = ending(detail);
  // What ended for good isn't tried again by loading the page again.
  if (end && !end.again) forget();
  if (!end) tell(say("end.left"));
  else if (end.again) notice(end.text, { label: say("end.rejoin"), action: () => lobby.join() });
  else notice(end.text);
});

// A host has to let one in: before the call, or again after the server has lost one.
call.on("waiting", ({ until }) => {
  if (call.hasEntered) {
    tell(say("waiting.again"));
    return;
  }
  view("waiting");
  const time = new Date(until).toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit" });
  element("waiting-text").textContent = say("waiting.text", { room: call.roomName, time });
  element("waiting").focus();
});
call.addEventListener("refuse", () => {
  if (element("waiting").hidden) return;
  view("lobby");
  setTimeout(() => element("join-button").focus()); // Once it can be pressed again.
});
element("waiting-leave").addEventListener("click", () => call.leave());

for (const type of ["joined", "event"]) call.on(type, showPlace);
call.on("connection", (state) => (document.body.dataset.connection = state));
call.on("error", (error) => notice(joinProblem(error)));
element("leave").addEventListener("click", () => {
  forget();
  call.leave();
});
window.addEventListener("pagehide", () => call.leave());

function view(name) {
  document.body.dataset.view = name;
  for (const each of ["lobby", "waiting", "call", "uninvited"]) element(each).hidden = name !== each;
  if (name === "uninvited") element(name).append(...document.querySelectorAll("[for=language], #language"));
}

function showPlace() {
  const count = call.room.participants.size;
  element("place-room").textContent = call.roomName;
  element("place-people").textContent = count === 0 ? say("call.alone") : say("call.people", { count: count + 1 });
}

lobby.show();
choices.show();
if (!hasInvitation && (await isNeeded())) {
  // Nothing can be joined from here, so nothing is asked for.
  view("uninvited");
} else {
  await switches.begin();
  if (joinsAtOnce) lobby.join();
}
