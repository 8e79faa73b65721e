// Where tiles go: they fill the window whatever its shape. What matters most is large where one looks at it so, and what is more than
// can be made out goes on to further pages.

const gap = 10;
const most = 49; // tiles on a page
const smallest = 112; // pixels in width, in which a face can still be made out
const foot = 54; // pixels beneath the tiles for the buttons of the pages

/**
 * @typedef {import("/tiles.js").Tile} Tile
 * @typedef {object} View how one looks at the call
 * @property {"grid" | "speaker" | "sidebar"} mode
 * @property {number} page of those that aren't large, from 0
 * @property {Tile | null} speaker the last of the others that spoke
 * @property {{right: boolean, bottom: boolean} | null} corner where one's own picture floats, once it has been moved
 * @property {boolean} isRightToLeft
 */

/** @type {View} */
const plain = { mode: "grid", page: 0, speaker: null, corner: null, isRightToLeft: false };

/**
 * Puts tiles into an area of that size, in CSS pixels.
 * @param {Tile[]} all @param {View} [view]
 * @returns {{page: number, pages: number, floating: Tile | null} | null} null: there is no area
 */
export function arrange(all, wide, high, view = plain) {
  const area = { x: gap, y: gap, width: wide - 2 * gap, height: high - 2 * gap };
  if (area.width <= 0 || area.height <= 0) return null;
  const { places, ...arranged } = plan(all.filter((tile) => !tile.isHidden), area, view);
  for (const tile of all) show(tile, places.get(tile), tile === arranged.floating);
  // The next change moves them; the first place is taken at once.
  requestAnimationFrame(() => {
    for (const tile of all) tile.element.classList.remove("new");
  });
  return arranged;
}

/** Those that are large: what is pinned, else the others' screens, else who speaks. @param {Tile[]} shown @param {View} view */
export function prominent(shown, { mode, speaker }) {
  const pinned = shown.filter(({ isPinned }) => isPinned);
  if (pinned.length > 0) return pinned;
  const others = shown.filter(({ own }) => !own);
  const screens = others.filter(({ group }) => group === "screen");
  if (screens.length > 0 || mode === "grid" || shown.length < 2) return screens;
  return [others.includes(speaker) ? speaker : others[0]].filter(Boolean);
}

/** How many tiles an area holds, so that each can be made out. @param {number} shape of the smallest: its height by its width */
export function capacity({ width, height }, shape) {
  const least = Math.min(Math.max(width / 6.5, smallest), 240);
  const columns = Math.max(1, Math.floor((width + gap) / (least + gap)));
  const rows = Math.max(1, Math.floor((height + gap) / (least * shape + gap)));
  return Math.min(most, columns * rows);
}

/** Brings a tile of a further page to the first one, in place of the one there that has been silent for longest. What is one's own, pinned or
 * has the focus stays. @param {Tile[]} order changed in place @returns {boolean} whether it was */
export function promote(order, tile) {
  if (!tile.isAway || tile.isHidden) return false;
  const silent = order.filter((each) => !each.isAway && !each.own && !each.isPinned && !each.hasFocus && each.group === "camera")
    .reduce((first, each) => (!first || (each.spokeAt ?? 0) < (first.spokeAt ?? 0) ? each : first), null);
  if (!silent) return false;
  const [from, to] = [order.indexOf(tile), order.indexOf(silent)];
  [order[from], order[to]] = [silent, tile];
  return true;
}

/** Where each tile goes that is on the page. @param {Tile[]} shown @param {View} view */
function plan(shown, area, view) {
  const places = new Map();
  const put = (tile, x, y, width, height) =>
    places.set(tile, { x: view.isRightToLeft ? 2 * area.x + area.width - x - width : x, y, width, height });
  const isTall = area.height > area.width * 1.1;
  const self = ownOfTwo(shown);
  if (self) {
    place(shown.filter((tile) => tile !== self), area, isTall ? 0.2 : 1.2, isTall ? 5 : 2.4, put);
    places.set(self, corner(area, isTall, view));
    return { places, page: 0, pages: 1, floating: self };
  }
  const large = prominent(shown, view);
  const rest = shown.filter((tile) => !large.includes(tile));
  const shape = large.length === 0 && isTall ? 3 / 4 : 9 / 16;
  const parts = (room) => (large.length === 0 ? [null, room] : split(room, isTall, rest.length, view.mode));
  let [main, others] = parts(area);
  if (rest.length > capacity(others, shape)) [main, others] = parts({ ...area, height: area.height - foot });
  const count = capacity(others, shape);
  const pages = Math.max(1, Math.ceil(rest.length / count));
  const page = Math.min(view.page, pages - 1);
  const isRead = large.some(({ group }) => group === "screen");
  if (main) place(large, main, isRead ? 0.2 : isTall ? 0.6 : 1.2, isRead ? 5 : 16 / 9, put);
  place(rest.slice(page * count, (page + 1) * count), others, main ? 1 : isTall ? 0.6 : 1.2, 16 / 9, put);
  return { places, page, pages, floating: null };
}

/** One's own picture in a call of two, where it floats over the other's. */
function ownOfTwo(shown) {
  const isCallOfTwo = shown.length === 2 && shown.every(({ group, isPinned }) => group === "camera" && !isPinned)
    && shown.some(({ own }) => !own);
  return isCallOfTwo ? shown.find(({ own }) => own) ?? null : null;
}

/** A large part, and a strip for the rest: beneath it, or beside it. */
function split({ x, y, width, height }, isTall, people, mode) {
  if (people === 0) return [{ x, y, width, height }, { x, y, width: 0, height: 0 }];
  if (isTall || mode === "speaker") {
    const strip = mode === "speaker" ? Math.min(Math.max(height * 0.2, 84), 160) : height * 0.32;
    return [{ x, y, width, height: height - strip - gap }, { x, y: y + height - strip, width, height: strip }];
  }
  const strip = Math.min(Math.max(width * 0.21, 150), 340);
  return [{ x, y, width: width - strip - gap, height }, { x: x + width - strip, y, width: strip, height }];
}

/** Tiles as large as can be in rows of equal length, the last one centred. */
function place(tiles, area, narrowest, widest, put) {
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

/** Where one's own picture floats: at the end of the last line unless it has been moved. */
function corner(area, isTall, { corner: chosen, isRightToLeft }) {
  const width = isTall ? Math.min(area.width * 0.3, 150) : Math.min(area.width * 0.24, 240);
  const height = isTall ? (width * 4) / 3 : (width * 9) / 16;
  const { right, bottom } = chosen ?? { right: !isRightToLeft, bottom: true };
  const x = right ? area.x + area.width - width - gap : area.x + gap;
  return { x, y: bottom ? area.y + area.height - height - gap : area.y + gap, width, height };
}

/** @param {{x: number, y: number, width: number, height: number} | undefined} place undefined: on another page, or hidden */
function show(tile, place, isFloating) {
  const { element } = tile;
  if (isFloating) element.classList.add("floating");
  else element.classList.remove("floating");
  if (place && tile.isAway) element.classList.add("new"); // It comes where it belongs, not from where it was once.
  tile.isAway = !place;
  element.hidden = !place;
  if (!place) return;
  element.style.transform = `translate(${Math.round(place.x)}px, ${Math.round(place.y)}px)`;
  element.style.width = `${Math.floor(place.width)}px`;
  element.style.height = `${Math.floor(place.height)}px`;
}
