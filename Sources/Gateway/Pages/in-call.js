// What a call needs once it shows: fetched then, so that it shows sooner.

import { Banner } from "/banner.js";
import { Chat } from "/chat.js";
import { deviceMenus } from "/device-menus.js";
import { Door } from "/door.js";
import { listenForKeys, panels } from "/keyboard.js";
import { Menu } from "/menu.js";
import { More } from "/more.js";
import { Hands } from "/hands.js";
import { Invite } from "/invite.js";
import { News } from "/news.js";
import { Passing } from "/passing.js";
import { Phone } from "/phone.js";
import { Reactions } from "/reactions.js";
import { Readings } from "/readings.js";
import { Recorded } from "/recorded.js";
import { goByF6 } from "/regions.js";
import { Saver } from "/saver.js";
import { Screen } from "/screen.js";
import { Side } from "/side.js";
import { Sizes } from "/sizes.js";
import { Talk } from "/talk.js";
import { Trouble } from "/trouble.js";
import { View } from "/view.js";
import { learn } from "/words.js";

await learn("call");

/**
 * Puts these parts together.
 * @param {{call: import("/call.js").Call, choices: import("/choices.js").Choices, devices: import("/devices.js").Devices,
 *   effects: import("/effects.js").Effects, stage: import("/tiles.js").Stage, switches: import("/switches.js").Switches, missed: [string, object][]}} page
 *   `missed`: what the room said before they were there
 */
export function complete({ call, choices, devices, effects, stage, switches, missed }) {
  const banner = new Banner(call, stage);
  new Sizes(call, stage);
  choices.offer(deviceMenus(choices, effects));
  new Screen(call, stage);
  new Recorded(call);
  new Talk(call, devices, switches);
  const view = new View(call, stage);
  view.more.push(new Saver(call, devices, stage));
  new Phone(call, devices, switches);
  const invite = new Invite(call);
  new Trouble(call, devices, switches, stage, banner);
  const readings = new Readings(call);
  const chat = new Chat(call);
  const side = new Side(call, chat, readings);
  const news = new News(call);
  new Door(call, side, news);
  new Hands(call, stage, news);
  new Reactions(call);
  new More();
  new Passing(stage);
  call.addEventListener("leave", () => Menu.closeAll());
  listenForKeys();
  panels.push(side, readings, invite);
  goByF6();
  for (const [type, detail] of missed) if (type === "history") chat.recall(detail); else chat.hear(detail);
  document.body.dataset.complete = "";
}
