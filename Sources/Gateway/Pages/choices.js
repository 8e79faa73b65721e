// Which camera, microphone and speaker: lists in the lobby, menus in the call.

import { element } from "/elements.js";
import { mayPublish } from "/invitation.js";
import { tell } from "/notices.js";
import { query, remember, remembered } from "/visit.js";
import { onLanguage, say } from "/words.js";

const kinds = ["camera", "microphone", "speaker"];
const canChooseSpeaker = "setSinkId" in HTMLMediaElement.prototype;
/** Where the browser itself has the user choose a speaker, and names no other. */
const asksForSpeaker = canChooseSpeaker && "selectAudioOutput" in (navigator.mediaDevices ?? {});
const ask = "ask";

export class Choices {
  #devices;
  #switches;
  #stage;
  #menus = {}; // once there is a call
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
    switches.choose = (kind) => {
      if (element("call").hidden) element(`${kind}-choice`).focus();
      else this.#menus[kind]?.open();
    };
    // There from the start, so that nothing moves under a finger once the devices are known.
    element("speaker-field").hidden = !canChooseSpeaker;
    for (const kind of kinds) {
      element(`${kind}-choice`).addEventListener("change", ({ target }) => this.choose(kind, target.value));
    }
    devices.addEventListener("change", () => this.show());
    devices.addEventListener("list", () => this.show());
    onLanguage(() => this.show());
  }

  /** @param {Object<string, import("/menu.js").Menu>} menus the same choices in the call, by kind */
  offer(menus) {
    this.#menus = menus;
  }

  /** What can be chosen of a kind. @returns {{id: string, text: string, isChosen: boolean}[]} */
  of(kind) {
    return this.#lists[kind];
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
    const list = found.map(({ deviceId: id, label }, index) =>
      ({ id, text: label || say("kind.numbered", { kind: say(`kind.${kind}`), count: index + 1 }), isChosen: id === chosen }));
    return kind === "speaker" && asksForSpeaker ? this.#withAsking(list) : list;
  }

  #withAsking(list) {
    const isChosen = list.every((each) => !each.isChosen);
    const standard = list.length === 0 ? [{ id: "", text: say("choices.default"), isChosen }] : [];
    return [...standard, ...list, { id: ask, text: say("choices.ask"), isChosen: false }];
  }

  /** Plays by the speaker that was chosen if it is there, else by the browser's own. @returns which it is */
  #listen(found) {
    const isThere = found.some(({ deviceId }) => deviceId === remembered.speaker);
    if (!isThere && this.#stage.speaker) tell(say("choices.speaker-lost"));
    this.#stage.speaker = isThere ? remembered.speaker : "";
    return isThere ? remembered.speaker : found[0]?.deviceId;
  }

  /** Speakers are named once a microphone may be used. */
  #isOpening(kind) {
    return kind === "speaker" ? canChooseSpeaker && this.#devices.isOpening("microphone") : this.#devices.isOpening(kind);
  }

  #fill(kind) {
    const list = this.#lists[kind];
    const select = element(`${kind}-choice`);
    if (kind === "speaker") element("speaker-field").hidden = list.length === 0 && !this.#isOpening(kind);
    const options = list.map(({ id, text, isChosen }) => new Option(text, id, isChosen, isChosen));
    if (options.length === 0) {
      options.push(new Option(this.absence(kind), ""));
    }
    select.disabled = list.length === 0;
    select.replaceChildren(...options);
  }

  /** What stands in a list with nothing in it. */
  absence(kind) {
    if (query.get("source") === "noise") return say("choices.generated");
    if (kind !== "speaker" && !mayPublish(kind)) return say("choices.forbidden");
    if (this.#isOpening(kind)) return say("choices.waiting");
    if (this.#unnamed.has(kind)) return say("choices.unnamed");
    return say("choices.none");
  }

  async choose(kind, id) {
    if (kind === "speaker" && id === ask) {
      try {
        id = (await navigator.mediaDevices.selectAudioOutput()).deviceId;
      } catch {
        id = remembered.speaker ?? ""; // One has changed one's mind.
      }
    }
    // A camera that is off stays off: only the choice is kept.
    if (kind === "speaker" || !(this.#devices[kind] || this.#devices.wants[kind])) remember({ [kind]: id });
    else await this.#switches.open(kind, id);
    await this.show();
  }
}
