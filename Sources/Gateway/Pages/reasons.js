// The bars of a tile explain themselves: how good that participant's connection is, and why its picture is as it is.

import { element, text } from "/elements.js";
import { milliseconds, percent, pixels } from "/units.js";
import { why } from "/why.js";
import { say } from "/words.js";

const pause = 2000; // ms between two readings
const margin = 8; // pixels

export class Reasons {
  #call;
  #stage;
  #panel = Object.assign(document.createElement("div"), { id: "reasons", className: "reasons", popover: "manual", hidden: true });
  #bars = null; // those that are being explained
  #timer = 0;

  /** @param {import("/call.js").Call} call @param {import("/tiles.js").Stage} stage */
  constructor(call, stage) {
    this.#call = call;
    this.#stage = stage;
    this.#panel.setAttribute("role", "status");
    element("call").append(this.#panel);
    element("stage").addEventListener("click", ({ target }) => {
      const bars = target.closest(".quality");
      if (bars && bars === this.#bars) this.#close();
      else if (bars) this.#open(bars);
    });
    document.addEventListener("pointerdown", ({ target }) => {
      if (!this.#panel.contains(target) && target.closest?.(".quality") !== this.#bars) this.#close();
    });
    // Ahead of what else Escape closes.
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.#bars) return;
      event.stopPropagation();
      this.#bars.focus();
      this.#close();
    }, true);
    stage.addEventListener("layout", () => this.#follow());
    call.addEventListener("leave", () => this.#close());
  }

  #open(bars) {
    this.#close();
    this.#bars = bars;
    bars.setAttribute("aria-expanded", "true");
    bars.setAttribute("aria-controls", this.#panel.id);
    this.#panel.hidden = false;
    this.#panel.showPopover?.();
    this.#read();
    this.#timer = setInterval(() => this.#read(), pause);
  }

  #close() {
    if (!this.#bars) return;
    clearInterval(this.#timer);
    this.#bars.setAttribute("aria-expanded", "false");
    this.#bars.removeAttribute("aria-controls");
    this.#bars = null;
    this.#panel.hidePopover?.();
    this.#panel.hidden = true;
    this.#panel.replaceChildren();
  }

  async #read() {
    const bars = this.#bars;
    const tile = this.#stage.at(bars);
    if (!tile || !this.#call.room) return;
    let lines;
    try {
      lines = await (tile.own ? this.#own() : this.#others(tile));
    } catch {
      lines = [say("reason.unknown")]; // The server is out of reach, or has been asked too often.
    }
    if (this.#bars === bars) this.#show([say("trouble.connection", { name: tile.name, quality: bars.getAttribute("aria-label") }), ...lines]);
  }

  /** What is sent of one's own picture, and over which path. */
  async #own() {
    const { transport } = await this.#call.explain();
    const limits = [...(await this.#call.room.connection.getStats()).values()]
      .filter(({ type, kind }) => type === "outbound-rtp" && kind === "video").map((each) => each.qualityLimitationReason);
    const limit = ["cpu", "bandwidth"].find((each) => limits.includes(each));
    const [loss, roundTrip] = [percent(transport?.loss), milliseconds(transport?.roundTrip)];
    return [limit && say(`trouble.limited.${limit}`), loss && roundTrip && say("trouble.path", { loss, time: roundTrip })].filter(Boolean);
  }

  /** What comes of another's picture. */
  async #others(tile) {
    const source = tile.group === "screen" ? "screen_share" : "camera";
    const participant = this.#call.room.participants.get(tile.key.split(" ")[0]);
    const track = participant?.tracks.find((each) => each.kind === "video" && each.source === source);
    if (!track || track.muted) return [say("trouble.no-picture")];
    const { transport, subscriptions } = await this.#call.explain();
    const subscription = subscriptions.find((each) => each.track === track.id);
    if (!subscription) return [say("reason.unknown")];
    const { width, height } = subscription.sent ?? {};
    return [width && height && say("trouble.gets", { size: pixels(width, height) }), why(subscription, transport)].filter(Boolean);
  }

  /** Said again by screen readers only where it has changed. */
  #show([title, ...lines]) {
    const shown = [text("strong", title), ...lines.map((line) => text("p", line))];
    if (shown.map((each) => each.textContent).join("\n") !== [...this.#panel.children].map((each) => each.textContent).join("\n")) {
      this.#panel.replaceChildren(...shown);
    }
    this.#place();
  }

  #follow() {
    if (!this.#bars) return;
    if (!this.#bars.isConnected || this.#stage.at(this.#bars)?.isAway !== false) this.#close();
    else this.#place();
  }

  /** Above the bars, or beneath them where there is no room. */
  #place() {
    const bars = this.#bars.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height, style } = this.#panel;
    style.left = `${Math.max(margin, Math.min(bars.left, innerWidth - width - margin))}px`;
    style.top = `${bars.top - height >= margin ? bars.top - height : Math.min(bars.bottom, innerHeight - height - margin)}px`;
  }
}
