// How one looks at the call: which layout, who is pinned, whether one sees oneself, the whole screen, a window of its own.

import { Corner } from "/corner.js";
import { element, styled } from "/elements.js";
import { acts } from "/keyboard.js";
import { Menu } from "/menu.js";
import { announce, tell } from "/notices.js";
import { Pager } from "/pager.js";
import { Reasons } from "/reasons.js";
import { remember } from "/visit.js";
import { say } from "/words.js";

const modes = ["grid", "speaker", "sidebar"];

export class View {
  /** What others add to the menu. @type {{item: object}[]} */
  more = [];

  #call;
  #stage;
  #menu;
  #outside = null;

  /** @param {import("/call.js").Call} call @param {import("/tiles.js").Stage} stage */
  constructor(call, stage) {
    this.#call = call;
    this.#stage = stage;
    styled("/view.css");
    this.#menu = new Menu(element("view"), element("view-menu"), () => this.#groups());
    acts.set("l", () => this.#look(modes[(modes.indexOf(stage.view.mode) + 1) % modes.length]));
    acts.set("f", () => this.#fill());
    new Pager(stage);
    new Corner(stage);
    new Reasons(call, stage);
    this.#listen(element("stage"));
    document.addEventListener("fullscreenchange", () => this.#menu.refresh());
    call.addEventListener("leave", () => {
      if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
      stage.declines = false;
    });
    new MutationObserver(() => stage.layout()).observe(document.documentElement, { attributes: true, attributeFilter: ["dir"] });
  }

  /** By pointer and by key: a tile is pinned. @param {HTMLElement} place of the tiles */
  #listen(place) {
    place.addEventListener("click", ({ target }) => {
      if (target.closest(".pin")) this.#pin(target);
    });
    place.addEventListener("dblclick", ({ target }) => {
      if (!target.closest("button")) this.#pin(target);
    });
    place.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.repeat || !event.target.matches(".tile")) return;
      event.preventDefault();
      this.#pin(event.target);
    });
  }

  #pin(target) {
    const tile = this.#stage.at(target);
    // Of one's own screen there is nothing to see.
    if (!tile || (tile.own && tile.group === "screen")) return;
    tile.isPinned = !tile.isPinned;
    this.#stage.layout();
    announce(say(tile.isPinned ? "layout.is-pinned" : "layout.is-unpinned", { name: tile.name }));
  }

  #groups() {
    const { view, declines } = this.#stage;
    const option = (words, isChosen, choose) => ({ text: say(words), isChosen, choose, role: "menuitemcheckbox" });
    const options = [
      option("layout.hide-self", view.hidesSelf, () => this.#hideSelf(!view.hidesSelf)),
      option("layout.decline", declines, () => (this.#stage.declines = !declines)),
    ];
    options.push(...this.more.map((each) => each.item));
    if (document.fullscreenEnabled) options.push(option("layout.full", document.fullscreenElement !== null, () => this.#fill()));
    if ("documentPictureInPicture" in window || document.pictureInPictureEnabled) {
      options.push(option("layout.outside", this.#outside?.isOpen ?? false, () => this.#float()));
    }
    return [
      { label: say("layout.title"), items: modes.map((mode) =>
        ({ text: say(`layout.${mode}`), isChosen: mode === view.mode, choose: () => this.#look(mode) })) },
      { label: say("layout.shown"), items: options },
    ];
  }

  #look(mode) {
    remember({ layout: mode });
    this.#stage.look({ mode, page: 0 });
    announce(say("layout.now", { layout: say(`layout.${mode}`) }));
  }

  #hideSelf(hidesSelf) {
    remember({ hidesSelf });
    this.#stage.look({ hidesSelf });
    announce(say(hidesSelf ? "layout.self-hidden" : "layout.self-shown"));
  }

  /** All of the page, so that what it has to say is seen too. */
  async #fill() {
    try {
      if (document.fullscreenElement) await document.exitFullscreen();
      else await document.documentElement.requestFullscreen();
    } catch {
      tell(say("layout.refused"));
    }
  }

  async #float() {
    try {
      this.#outside ??= new (await import("/outside.js")).Outside(this.#call, this.#stage);
      await this.#outside.toggle();
    } catch {
      tell(say("layout.refused"));
    }
  }
}
