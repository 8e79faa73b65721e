// What the bar has no room for on a narrow screen, as a menu: the same buttons, pressed from there.

import { element } from "/elements.js";
import { Menu } from "/menu.js";
import { say } from "/words.js";

export class More {
  constructor() {
    new Menu(element("more"), element("more-menu"), () => [{
      label: say("call.more"),
      items: [...document.querySelectorAll(".extras [data-more]")].filter((button) => !button.hidden && !button.checkVisibility?.())
        .map((button) => item(button)),
    }]);
  }
}

/** What is on or off, such as one's hand, is so in the menu too. */
function item(button) {
  const pressed = button.getAttribute("aria-pressed");
  const role = pressed === null ? "menuitem" : "menuitemcheckbox";
  return { text: button.getAttribute("aria-label"), role, isChosen: pressed === "true", choose: () => button.click() };
}
