// What the hosts of a room, its administrators, have muted or don't allow: the controls follow, and it is said.

import { hostMuted, lifted, notPermitted } from "/messages.js";
import { hideNotice, notice } from "/notices.js";
import { mayPublish } from "/invitation.js";

const kinds = ["microphone", "camera"];

export class Hosts {
  #call;
  #devices;
  #switches;
  #over = () => {}; // hears whether what is offered has been done

  /** @param {import("/call.js").Call} call @param {import("/devices.js").Devices} devices
   * @param {import("/switches.js").Switches} switches */
  constructor(call, devices, switches) {
    this.#call = call;
    this.#devices = devices;
    this.#switches = switches;
    this.#rest();
    call.addEventListener("enter", () => this.#look());
    call.addEventListener("leave", () => {
      this.#forget();
      this.#rest();
    });
    call.on("joined", () => this.#look());
    call.on("event", ({ participant }) => {
      if (participant?.id === call.room.me?.id) this.#look();
    });
  }

  /** Outside a call the invitation alone counts. */
  #rest() {
    for (const kind of kinds) this.#devices.block(kind, mayPublish(kind) ? null : "forbidden");
  }

  #look() {
    const { me } = this.#call.room;
    if (!this.#call.hasEntered || !me) return;
    const before = { ...this.#devices.blocked };
    for (const kind of kinds) this.#devices.block(kind, reason(me, kind, before[kind]));
    const { blocked } = this.#devices;
    const changed = kinds.filter((kind) => blocked[kind] !== before[kind]);
    if (changed.length === 0) return;
    this.#forget();
    const all = (why) => kinds.filter((kind) => blocked[kind] === why);
    const words = [
      changed.some((kind) => blocked[kind] === "muted") && hostMuted(all("muted")),
      changed.some((kind) => blocked[kind] === "forbidden") && notPermitted(all("forbidden")),
    ].filter(Boolean);
    if (words.length > 0) notice(words.join(" "), { topic: "hosts" });
    else this.#offer(changed);
  }

  /** What has been lifted is turned on by the participant alone. */
  #offer(changed) {
    const [words, label] = lifted(changed);
    notice(words, { topic: "lifted", label, action: () => {
      for (const kind of changed) if (!this.#devices.isOn(kind)) this.#switches.toggle(kind);
    } });
    this.#over = () => {
      if (!changed.every((kind) => this.#devices.isOn(kind))) return;
      this.#forget();
      hideNotice("lifted");
    };
    this.#devices.addEventListener("change", this.#over);
  }

  #forget() {
    this.#devices.removeEventListener("change", this.#over);
  }
}

function reason({ permissions, tracks }, source, before) {
  if (permissions && !isPermitted(permissions, source)) return "forbidden";
  const own = tracks.filter((track) => track.source === source);
  // Between two sessions nothing is known of it.
  if (own.length === 0) return before === "muted" ? before : null;
  return own.some(({ mutedByAdmin }) => mutedByAdmin) ? "muted" : null;
}

/** @param {import("/types.js").Permissions} permissions */
export function isPermitted({ canPublish, canPublishSources }, source) {
  return canPublish && (!canPublishSources || canPublishSources.includes(source));
}
