// Which camera, microphone and speaker: lists in the lobby, menus in the call.

import { element } from "/elements.js";
import { Menu } from "/menu.js";
import { mayPublish } from "/invitation.js";
import { say } from "/notices.js";
import { query, remember, remembered } from "/visit.js";

const names = { camera: "Camera", microphone: "Microphone", speaker: "Speaker" };
const kinds = Object.keys(names);
const canChooseSpeaker = "setSinkId" in HTMLMediaElement.prototype;

export class Choices {
  #devices;
  #switches;
  #stage;
  #menus;
  /** What can be chosen of each kind. @type {Object<string, {id: string, text: string, isChosen: boolean}[]>} */
  #lists = { camera: [], microphone: [], speaker: [] };
  /** Kinds of which there are devices that the browser doesn't name before the user has allowed it. */
  #unnamed = new Set();

  /** @param {import("/devices.js").Devices} devices @param {import("/switches.js").Switches} switches
   * @param {import("/tiles.js").Stage} stage */
  constructor(devices, switches, stage) {
    this.#devices = devices;
    this.#switches = switches;
    this.#stage = stage;
    const menu = (kind, groups) => {
      element(`${kind}-more`).disabled = !mayPublish(kind) && !groups.includes("speaker");
      return new Menu(element(`${kind}-more`), element(`${kind}-menu`), () => this.#groups(groups));
    };
    this.#menus = { camera: menu("camera", ["camera"]), microphone: menu("microphone", ["microphone", "speaker"]) };
    switches.choose = (kind) => {
      if (element("call").hidden) element(`${kind}-choice`).focus();
      else this.#menus[kind].open();
    };
    for (const kind of kinds) {
      element(`${kind}-choice`).addEventListener("change", ({ target }) => this.#choose(kind, target.value));
    }
    devices.addEventListener("change", () => this.show());
    devices.addEventListener("list", () => this.show());
  }

  /** Brings lists and menus up to date. */
  async show() {
    await Promise.all(kinds.map(async (kind) => (this.#lists[kind] = await this.#list(kind))));
    for (const kind of kinds) this.#fill(kind);
    for (const menu of Object.values(this.#menus)) menu.refresh();
  }

  async #list(kind) {
    if (kind === "speaker" ? !canChooseSpeaker : !mayPublish(kind)) return [];
    const all = await this.#devices.list(kind);
    const found = all.filter(({ deviceId }) => deviceId !== "");
    if (found.length === 0 && all.length > 0) this.#unnamed.add(kind);
    else this.#unnamed.delete(kind);
    const chosen = kind === "speaker" ? this.#listen(found)
      : this.#devices[kind]?.getSettings().deviceId ?? remembered[kind];
    return found.map(({ deviceId: id, label }, index) =>
      ({ id, text: label || `${names[kind]} ${index + 1}`, isChosen: id === chosen }));
  }

  /** Plays by the speaker that was chosen if it is there, else by the browser's own. @returns which it is */
  #listen(found) {
    const isThere = found.some(({ deviceId }) => deviceId === remembered.speaker);
    if (!isThere && this.#stage.speaker) say("Your speaker was disconnected. Sound now plays on the default one.");
    this.#stage.speaker = isThere ? remembered.speaker : "";
    return isThere ? remembered.speaker : found[0]?.deviceId;
  }

  #fill(kind) {
    const list = this.#lists[kind];
    const select = element(`${kind}-choice`);
    if (kind === "speaker") element("speaker-field").hidden = list.length === 0;
    const options = list.map(({ id, text, isChosen }) => new Option(text, id, isChosen, isChosen));
    if (options.length === 0) {
      options.push(new Option(this.#absence(kind), ""));
    }
    select.disabled = list.length === 0;
    select.replaceChildren(...options);
  }

  /** What stands in a list with nothing in it. */
  #absence(kind) {
    if (query.get("source") === "noise") return "Generated";
    if (kind !== "speaker" && !mayPublish(kind)) return "Not allowed";
    if (this.#devices.isOpening(kind)) return "Waiting for permission…";
    if (this.#unnamed.has(kind)) return "Turn it on to choose";
    return "None found";
  }

  #groups(shown) {
    const groups = shown.map((kind) => ({
      label: names[kind],
      items: this.#lists[kind].map(({ id, text, isChosen }) =>
        ({ text, isChosen, choose: () => this.#choose(kind, id) })),
    })).filter(({ items }) => items.length > 0);
    if (groups.length > 0) return groups;
    const [kind] = shown;
    return [{ label: names[kind],
      items: [{ text: this.#absence(kind), isChosen: false, choose: () => this.#choose(kind, "") }] }];
  }

  async #choose(kind, id) {
    // A camera that is off stays off: only the choice is kept.
    if (kind === "speaker" || !(this.#devices[kind] || this.#devices.wants[kind])) remember({ [kind]: id });
    else await this.#switches.open(kind, id);
    await this.show();
  }
}
