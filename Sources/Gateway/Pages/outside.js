// The call in a window of its own, above those of other programs: with its controls where the browser makes such windows for documents,
// else the picture alone. It shows what matters most.

import { element, text } from "/elements.js";
import { say } from "/words.js";

const size = { width: 384, height: 288 };
const controls = ["microphone", "camera", "leave"];

export class Outside {
  #stage;
  #video = Object.assign(document.createElement("video"), { playsInline: true, autoplay: true, muted: true });
  #window = null; // what closes it, and how large it is
  #caption = null;
  #observers = [];

  /** @param {import("/call.js").Call} call @param {import("/tiles.js").Stage} stage */
  constructor(call, stage) {
    this.#stage = stage;
    stage.addEventListener("layout", () => this.#follow());
    for (const type of ["loadeddata", "resize", "emptied"]) this.#video.addEventListener(type, () => this.#follow());
    call.addEventListener("leave", () => this.#window?.close());
  }

  get isOpen() {
    return this.#window !== null;
  }

  /** By the user's own act: a browser opens no such window otherwise. @throws where it doesn't */
  async toggle() {
    if (this.#window) this.#window.close();
    else if ("documentPictureInPicture" in window) await this.#openDocument();
    else await this.#openPicture();
  }

  async #openDocument() {
    const other = await documentPictureInPicture.requestWindow(size);
    const page = other.document;
    const { lang, dir } = document.documentElement;
    Object.assign(page.documentElement, { lang, dir });
    const styles = [...document.querySelectorAll("link[rel=stylesheet]")].map(({ href }) => href);
    for (const href of [...styles, new URL("/outside.css", location).href]) {
      page.head.append(Object.assign(page.createElement("link"), { rel: "stylesheet", href }));
    }
    page.body.className = "outside";
    this.#caption = text("p", "", { className: "outside-name", dir: "auto" });
    const bar = text("div", "", { className: "outside-controls" });
    bar.append(...controls.map((id) => this.#twin(element(id))));
    page.body.append(document.querySelector(".sprite").cloneNode(true), this.#video, this.#caption, bar);
    other.addEventListener("pagehide", () => this.#closed(), { once: true });
    other.addEventListener("resize", () => this.#follow());
    this.#window = { close: () => other.close(), size: () => [other.innerWidth, other.innerHeight, other.devicePixelRatio] };
    this.#watch();
  }

  /** A control that does what the page's does, and looks as it looks. */
  #twin(original) {
    const twin = original.cloneNode(true);
    const copy = () => {
      for (const { name, value } of original.attributes) if (name !== "id") twin.setAttribute(name, value);
      for (const { name } of [...twin.attributes]) if (!original.hasAttribute(name)) twin.removeAttribute(name);
      twin.querySelector("use").setAttribute("href", original.querySelector("use").getAttribute("href"));
    };
    twin.removeAttribute("id");
    twin.addEventListener("click", () => original.click());
    const observer = new MutationObserver(copy);
    observer.observe(original, { attributes: true, subtree: true });
    this.#observers.push(observer);
    return twin;
  }

  async #openPicture() {
    const { stream, hasPicture } = this.#stage.first ?? {};
    if (!hasPicture) throw new Error("nothing to show");
    this.#video.className = "unseen";
    element("call").append(this.#video);
    this.#video.srcObject = stream;
    try {
      await this.#video.play();
      const shown = await this.#video.requestPictureInPicture();
      this.#window = { close: () => document.exitPictureInPicture().catch(() => {}), size: () => [shown.width, shown.height, devicePixelRatio] };
      shown.addEventListener?.("resize", () => this.#follow());
    } catch (error) {
      this.#closed();
      throw error;
    }
    this.#video.addEventListener("leavepictureinpicture", () => this.#closed(), { once: true });
    this.#watch();
  }

  /** A picture comes and goes without another place for its tile. */
  #watch() {
    const observer = new MutationObserver(() => this.#follow());
    observer.observe(element("stage"), { subtree: true, attributeFilter: ["class"] });
    this.#observers.push(observer);
    this.#follow();
  }

  #closed() {
    for (const observer of this.#observers) observer.disconnect();
    this.#observers = [];
    this.#window = this.#caption = null;
    this.#video.srcObject = null;
    this.#video.remove();
    if (!this.#stage.outside) return;
    this.#stage.outside = null;
    this.#stage.layout();
  }

  /** What matters most may be another now. */
  #follow() {
    if (!this.#window) return;
    const tile = this.#stage.first;
    const stream = tile?.stream ?? null;
    if (this.#video.srcObject !== stream) {
      this.#video.srcObject = stream;
      if (stream) this.#video.play().catch(() => {});
    }
    this.#video.classList.toggle("own", tile?.own === true && !tile.element.classList.contains("outward"));
    const isRefused = tile && !tile.own && (this.#stage.declines || this.#stage.spares?.(tile));
    this.#video.style.visibility = tile?.hasPicture && !isRefused ? "" : "hidden";
    if (this.#caption) this.#caption.textContent = tile?.name ?? say("call.alone");
    const [width, height, ratio] = this.#window.size();
    const pixels = (length) => Math.max(64, Math.ceil((length * ratio) / 64) * 64);
    this.#ask(tile && { tile, maxWidth: pixels(width), maxHeight: pixels(height) });
  }

  /** Asks the server for it where that has changed. */
  #ask(wanted = null) {
    const before = this.#stage.outside;
    this.#stage.outside = wanted;
    const isSame = before?.tile === wanted?.tile && before?.maxWidth === wanted?.maxWidth && before?.maxHeight === wanted?.maxHeight;
    if (!isSame) this.#stage.layout();
  }
}
