// How large pictures are shown: the server sends none that is larger, and none of what is out of sight.

const patience = 300; // ms; a window that is being dragged changes all the time
const pause = 1000; // ms until what the server had no time for is said again
const step = 64; // pixels; a little more or less is no other picture

/** Says for each tile in what size it shows its picture. */
export class Sizes {
  #call;
  #stage;
  #timer = 0;
  #said = new Map(); // track id → what was said of it, as text
  #unseen = new Set(); // elements of tiles that are not on the screen
  #observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) this.#unseen.delete(target);
      else this.#unseen.add(target);
    }
    this.#soon();
  });

  /** @param {import("/call.js").Call} call @param {import("/tiles.js").Stage} stage */
  constructor(call, stage) {
    this.#call = call;
    this.#stage = stage;
    stage.addEventListener("layout", () => this.#soon());
    document.addEventListener("visibilitychange", () => this.#soon());
    call.on("joined", () => this.#said.clear());
    call.on("media", () => this.#soon());
    if (call.hasEntered) this.#soon();
  }

  #soon() {
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      this.#say();
    }, patience);
  }

  #say() {
    this.#forget();
    const shown = new Map();
    for (const participant of this.#call.room?.participants.values() ?? []) {
      for (const { id, kind, source } of participant.tracks) {
        if (kind !== "video") continue;
        const tile = this.#stage.find(`${participant.id} ${source === "screen_share" ? "screen" : "camera"}`);
        if (tile) shown.set(id, JSON.stringify(this.#within(this.#stage, tile)));
      }
    }
    const changed = [...shown].filter(([id, wanted]) => this.#said.get(id) !== wanted);
    this.#said = shown;
    if (changed.length === 0) return;
    this.#call.room.view(changed.map(([track, wanted]) => ({ track, ...JSON.parse(wanted) })))
      .catch((error) => this.#refused(changed, error));
  }

  /** What was refused counts as never said. */
  #refused(changed, { retry }) {
    for (const [id, wanted] of changed) if (this.#said.get(id) === wanted) this.#said.delete(id);
    if (retry === "after") setTimeout(() => this.#soon(), pause);
  }

  /** Tiles that have gone are not looked at any more. */
  #forget() {
    for (const element of this.#unseen) {
      if (element.isConnected) continue;
      this.#observer.unobserve(element);
      this.#unseen.delete(element);
    }
  }

  /** Also for who doesn't want pictures at all, and for what is shown in a window of its own, whether the page is seen or not. */
  #within({ declines, outside, spares }, tile) {
    const wanted = this.#wanted(tile);
    if (declines || spares?.(tile)) return { quality: "off" };
    if (outside?.tile !== tile) return tile.isAway ? { quality: "off" } : wanted;
    if (tile.group === "screen") return {};
    const larger = (name) => Math.max(tile.isAway ? 0 : wanted[name] ?? 0, outside[name]);
    return { maxWidth: larger("maxWidth"), maxHeight: larger("maxHeight") };
  }

  #wanted(tile) {
    this.#observer.observe(tile.element);
    if (document.hidden || this.#unseen.has(tile.element)) return { quality: "off" };
    // A screen is read: the best there is.
    if (tile.group === "screen") return {};
    const pixels = (length) => Math.max(step, Math.ceil((length * devicePixelRatio) / step) * step);
    return { maxWidth: pixels(tile.element.clientWidth), maxHeight: pixels(tile.element.clientHeight) };
  }
}
