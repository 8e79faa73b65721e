// Devices, and what is done to sound and picture, in the menus of a call.

import { element } from "/elements.js";
import { mayPublish } from "/invitation.js";
import { Menu } from "/menu.js";
import { say } from "/words.js";

const shown = { camera: ["camera"], microphone: ["microphone", "speaker"] };

/** @param {import("/choices.js").Choices} choices @param {import("/effects.js").Effects} effects @returns {Object<string, Menu>} by kind */
export function deviceMenus(choices, effects) {
  return Object.fromEntries(Object.entries(shown).map(([kind, all]) => {
    element(`${kind}-more`).disabled = !mayPublish(kind) && !all.includes("speaker");
    return [kind, new Menu(element(`${kind}-more`), element(`${kind}-menu`), () => groups(choices, effects, all))];
  }));
}

function groups(choices, effects, all) {
  const found = all.map((kind) => ({
    label: say(`kind.${kind}`),
    items: choices.of(kind).map(({ id, text, isChosen }) => ({ text, isChosen, choose: () => choices.choose(kind, id) })),
  })).filter(({ items }) => items.length > 0);
  const [kind] = all;
  const items = effects.items(kind);
  if (items.length > 0 && found.length > 0) found.push({ label: say("effects.title"), items });
  if (found.length > 0) return found;
  return [{ label: say(`kind.${kind}`), items: [{ text: choices.absence(kind), isChosen: false, choose: () => choices.choose(kind, "") }] }];
}
