// The people as tiles, laid out so that they fill the window whatever its shape and however many they are.

const gap = 10;

/** One tile: somebody's picture, or their screen. */
export class Tile {
  #video;
  #wantsPicture = false;

  /** @param {DocumentFragment} content of the template @param {{own: boolean, group: "camera" | "screen"}} kind */
  constructor(content, { own, group }) {
    this.element = content.querySelector("figure");
    this.own = own;
    this.group = group;
    this.element.classList.add(group, "new");
    this.element.classList.toggle("own", own);
    this.#video = this.element.querySelector("video");
    this.#video.muted = own;
    for (const event of ["loadeddata", "resize", "emptied"]) {
      this.#video.addEventListener(event, () => this.#showPicture());
    }
    const expand = this.element.querySelector(".expand");
    expand.hidden = group !== "screen" || own;
    expand.addEventListener("click", () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else this.element.requestFullscreen().catch(() => {});
    });
  }

  /** As text, whatever it contains. */
  set name(name) {
    const shown = this.group === "screen" ? `${name}: screen` : name;
    this.element.querySelector(".tile-name").textContent = shown;
    this.element.querySelector(".expand").setAttribute("aria-label", `Full window: ${shown}`);
    this.#video.setAttribute("aria-label", shown);
    this.element.querySelector(".avatar").textContent = initials(name);
    this.element.style.setProperty("--hue", String(hue(name)));
  }

  /**
   * @param {MediaStream} stream
   * @param {boolean} hasPicture whether there is a picture in it worth showing
   * @returns whether the browser wants a click before it plays sound
   */
  async play(stream, hasPicture) {
    this.#wantsPicture = hasPicture;
    this.#showPicture();
    if (this.#video.srcObject !== stream) this.#video.srcObject = stream;
    try {
      await this.#video.play();
    } catch (error) {
      return error.name === "NotAllowedError";
    }
    return false;
  }

  set hasPicture(hasPicture) {
    this.#wantsPicture = hasPicture;
    this.#showPicture();
  }

  /** The microphone. */
  set muted(muted) {
    this.element.querySelector(".microphone-mark").hidden = !muted;
  }

  set speaking(speaking) {
    this.element.toggleAttribute("data-speaking", speaking);
  }

  /** @param {string} quality as `quality` says it */
  set quality(quality) {
    const mark = this.element.querySelector(".quality");
    mark.hidden = false;
    mark.dataset.quality = quality;
    mark.setAttribute("aria-label", `connection: ${quality}`);
    mark.title = `Connection: ${quality}`;
  }

  set note(text) {
    this.element.querySelector(".tile-note").textContent = text;
  }

  end() {
    this.#video.srcObject = null;
    this.element.remove();
  }

  #showPicture() {
    const size = this.#video.videoWidth;
    this.element.classList.toggle("has-picture", this.#wantsPicture && size > 0);
  }
}

/** All tiles. */
export class Stage {
  #element;
  #template;
  #tiles = new Map();

  constructor(element, template) {
    this.#element = element;
    this.#template = template;
    new ResizeObserver(() => this.layout()).observe(element);
  }

  /** The tile of that key, made if there is none yet. */
  tile(key, kind) {
    let tile = this.#tiles.get(key);
    if (!tile) {
      tile = new Tile(this.#template.content.cloneNode(true), kind);
      this.#tiles.set(key, tile);
      this.#element.append(tile.element);
      this.layout();
    }
    return tile;
  }

  /** @returns {Tile | undefined} */
  find(key) {
    return this.#tiles.get(key);
  }

  remove(key) {
    this.#tiles.get(key)?.end();
    if (this.#tiles.delete(key)) this.layout();
  }

  clear() {
    for (const key of [...this.#tiles.keys()]) this.remove(key);
  }

  layout() {
    const area = { x: gap, y: gap, width: this.#element.clientWidth - 2 * gap,
      height: this.#element.clientHeight - 2 * gap };
    if (area.width <= 0 || area.height <= 0) return;
    const all = [...this.#tiles.values()];
    const screens = all.filter((tile) => tile.group === "screen" && !tile.own);
    const people = all.filter((tile) => !screens.includes(tile));
    const isTall = area.height > area.width * 1.1;
    for (const tile of all) tile.element.classList.remove("floating");
    if (screens.length > 0) {
      const [large, small] = split(area, isTall, people.length);
      place(screens, large, 0.2, 5);
      place(people, small, 1, 16 / 9);
    } else if (isTall && people.length === 2 && people.some((tile) => tile.own)) {
      place(people.filter((tile) => !tile.own), area, 0.2, 5);
      float(people.find((tile) => tile.own), area);
    } else {
      place(people, area, isTall ? 0.6 : 1.2, 16 / 9);
    }
    // The next change moves them; the first place is taken at once.
    requestAnimationFrame(() => {
      for (const tile of all) tile.element.classList.remove("new");
    });
  }
}

/** A large part for screens and a strip for people. */
function split({ x, y, width, height }, isTall, people) {
  if (people === 0) return [{ x, y, width, height }, { x, y, width: 0, height: 0 }];
  if (isTall) {
    const strip = height * 0.32;
    return [{ x, y, width, height: height - strip - gap }, { x, y: y + height - strip, width, height: strip }];
  }
  const strip = Math.min(Math.max(width * 0.21, 150), 340);
  return [{ x, y, width: width - strip - gap, height }, { x: x + width - strip, y, width: strip, height }];
}

/** Tiles as large as can be in rows of equal length, the last one centred. */
function place(tiles, area, narrowest, widest) {
  const count = tiles.length;
  let best = null;
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    let width = (area.width - gap * (columns - 1)) / columns;
    let height = (area.height - gap * (rows - 1)) / rows;
    if (width <= 0 || height <= 0) continue;
    if (width / height > widest) width = height * widest;
    else if (width / height < narrowest) height = width / narrowest;
    if (!best || width * height > best.width * best.height * 1.001) best = { columns, rows, width, height };
  }
  if (!best) return;
  const { columns, rows, width, height } = best;
  const top = area.y + (area.height - rows * height - (rows - 1) * gap) / 2;
  tiles.forEach((tile, index) => {
    const row = Math.floor(index / columns);
    const inRow = Math.min(columns, count - row * columns);
    const left = area.x + (area.width - inRow * width - (inRow - 1) * gap) / 2;
    put(tile, left + (index % columns) * (width + gap), top + row * (height + gap), width, height);
  });
}

/** One's own picture in a corner of the other's. */
function float(tile, area) {
  const width = Math.min(area.width * 0.3, 150);
  const height = (width * 4) / 3;
  tile.element.classList.add("floating");
  put(tile, area.x + area.width - width - gap, area.y + area.height - height - gap, width, height);
}

function put({ element }, x, y, width, height) {
  element.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  element.style.width = `${Math.floor(width)}px`;
  element.style.height = `${Math.floor(height)}px`;
}

function initials(name) {
  const words = name.trim().split(/\s+/u).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  return letters.map((word) => [...word][0]).join("").toUpperCase();
}

function hue(name) {
  let sum = 7;
  for (const character of name) sum = (sum * 31 + character.codePointAt(0)) % 360;
  return sum;
}
