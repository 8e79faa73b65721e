// Where tiles go: they fill the window whatever its shape and however many they are.

const gap = 10;

/** Puts tiles into an area of that size, in CSS pixels. @param {import("/tiles.js").Tile[]} all */
export function arrange(all, wide, high) {
  const area = { x: gap, y: gap, width: wide - 2 * gap, height: high - 2 * gap };
  if (area.width <= 0 || area.height <= 0) return;
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
