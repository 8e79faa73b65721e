// QR codes (ISO/IEC 18004): text as bytes of UTF-8, in the smallest of twenty versions that has room, with error correction M.

/** Of versions 1 to 20, level M (table 9): bytes of correction in each block, and blocks. */
const correction = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const blocks = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];
/** Whether a mask turns a module over (table 10). */
const masks = [
  (x, y) => (x + y) % 2 === 0,
  (x, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/**
 * The modules of a code, without the quiet zone of four around it.
 * @param {string} text
 * @returns {Uint8Array[] | null} rows, 1 is dark; null where no version has room for it
 */
export function encode(text) {
  const bytes = new TextEncoder().encode(text);
  for (let version = 1; version <= blocks.length; version++) {
    // Mode and length stand before the bytes: 4 bits, and 8 or 16 (table 3).
    if (bytes.length + (version < 10 ? 2 : 3) > capacity(version)) continue;
    const code = new Code(version);
    code.fill(withCorrection(message(bytes, version), version));
    return code.masked();
  }
  return null;
}

/** As the outline of an SVG path, a module to a unit: one stretch for each run of dark modules. @param {Uint8Array[]} rows */
export function outline(rows) {
  const pieces = [];
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      const start = x;
      while (row[x + 1]) x++;
      pieces.push(`M${start} ${y}h${x + 1 - start}v1h${start - x - 1}z`);
    }
  }
  return pieces.join("");
}

// -- what is written

/** Bytes that a version has for data and correction together: its modules without those of the patterns. */
function codewords(version) {
  let modules = (16 * version + 128) * version + 64;
  if (version > 1) {
    const count = Math.floor(version / 7) + 2;
    modules -= (25 * count - 10) * count - 55;
    if (version > 6) modules -= 36;
  }
  return Math.floor(modules / 8);
}

function capacity(version) {
  return codewords(version) - correction[version - 1] * blocks[version - 1];
}

/** Mode, length and bytes, filled up to what the version has (7.4.10). */
function message(bytes, version) {
  const bits = [];
  const put = (value, count) => {
    while (count-- > 0) bits.push((value >>> count) & 1);
  };
  put(0b0100, 4);
  put(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) put(byte, 8);
  const room = capacity(version);
  put(0, Math.min(4, room * 8 - bits.length));
  put(0, -bits.length & 7);
  const all = [];
  for (let index = 0; index < bits.length; index += 8) all.push(bits.slice(index, index + 8).reduce((sum, bit) => sum * 2 + bit, 0));
  for (let pad = 0xec; all.length < room; pad ^= 0xec ^ 0x11) all.push(pad);
  return all;
}

/** The blocks, each with its correction, byte by byte in turn (7.6). */
function withCorrection(data, version) {
  const [count, length] = [blocks[version - 1], correction[version - 1]];
  const divisor = generator(length);
  const short = Math.floor(data.length / count);
  const longer = data.length % count; // so many at the end have a byte more
  const parts = [];
  for (let index = 0, start = 0; index < count; index++) {
    const end = start + short + (index >= count - longer ? 1 : 0);
    const part = data.slice(start, end);
    parts.push({ part, check: remainder(part, divisor) });
    start = end;
  }
  const all = [];
  for (let index = 0; index <= short; index++) for (const { part } of parts) if (index < part.length) all.push(part[index]);
  for (let index = 0; index < length; index++) for (const { check } of parts) all.push(check[index]);
  return all;
}

/** In the field of 256 elements over x⁸ + x⁴ + x³ + x² + 1. */
function product(a, b) {
  let sum = 0;
  for (let bit = 7; bit >= 0; bit--) {
    sum = (sum << 1) ^ ((sum >>> 7) * 0x11d);
    sum ^= ((b >>> bit) & 1) * a;
  }
  return sum;
}

/** The polynomial whose roots are the first powers of 2, without its highest coefficient. */
function generator(degree) {
  const all = new Array(degree).fill(0);
  all[degree - 1] = 1;
  let root = 1;
  for (let step = 0; step < degree; step++) {
    for (let index = 0; index < degree; index++) all[index] = product(all[index], root) ^ (all[index + 1] ?? 0);
    root = product(root, 2);
  }
  return all;
}

function remainder(data, divisor) {
  const rest = new Array(divisor.length).fill(0);
  for (const byte of data) {
    const factor = byte ^ rest.shift();
    rest.push(0);
    for (const [index, each] of divisor.entries()) rest[index] ^= product(each, factor);
  }
  return rest;
}

// -- where it stands

class Code {
  #version;
  #size;
  #dark;
  #isPattern;

  constructor(version) {
    this.#version = version;
    this.#size = 17 + 4 * version;
    this.#dark = this.#rows();
    this.#isPattern = this.#rows();
    this.#patterns();
  }

  /** Bits in columns of two, up and down from the right, past the patterns (7.7.3). */
  fill(bytes) {
    let next = 0;
    let isUpward = true;
    for (let right = this.#size - 1; right > 0; right -= 2) {
      if (right === 6) right = 5; // The timing pattern's column.
      for (let step = 0; step < this.#size; step++) {
        const y = isUpward ? this.#size - 1 - step : step;
        for (const x of [right, right - 1]) {
          if (this.#isPattern[y][x]) continue;
          this.#dark[y][x] = (bytes[next >>> 3] >>> (7 - (next & 7))) & 1; // Behind the last one there is 0.
          next++;
        }
      }
      isUpward = !isUpward;
    }
  }

  /** Under the mask by which it is read best (7.8.3). */
  masked() {
    let best = null;
    for (const index of masks.keys()) {
      const rows = this.#under(index);
      const cost = penalty(rows);
      if (best === null || cost < best.cost) best = { rows, cost };
    }
    return best.rows;
  }

  #under(index) {
    this.#writeFormat(index);
    return this.#dark.map((row, y) => row.map((dark, x) => (this.#isPattern[y][x] ? dark : dark ^ Number(masks[index](x, y)))));
  }

  #rows() {
    return Array.from({ length: this.#size }, () => new Uint8Array(this.#size));
  }

  #put(x, y, dark) {
    if (x < 0 || y < 0 || x >= this.#size || y >= this.#size) return;
    this.#dark[y][x] = Number(dark);
    this.#isPattern[y][x] = 1;
  }

  #patterns() {
    const last = this.#size - 1;
    for (let index = 0; index < this.#size; index++) {
      this.#put(index, 6, index % 2 === 0);
      this.#put(6, index, index % 2 === 0);
    }
    for (const [x, y] of [[3, 3], [last - 3, 3], [3, last - 3]]) this.#square(x, y, 4, [2, 4]);
    const places = this.#alignments();
    for (const x of places) {
      for (const y of places) {
        const isCorner = (x === 6 && y === 6) || (x === 6 && y === last - 6) || (x === last - 6 && y === 6);
        if (!isCorner) this.#square(x, y, 2, [1]);
      }
    }
    this.#writeFormat(0);
    this.#writeVersion();
  }

  /** Dark, but for the rings at those distances from its middle. */
  #square(middleX, middleY, reach, light) {
    for (let y = -reach; y <= reach; y++) {
      for (let x = -reach; x <= reach; x++) {
        this.#put(middleX + x, middleY + y, !light.includes(Math.max(Math.abs(x), Math.abs(y))));
      }
    }
  }

  /** Rows and columns of the middles of alignment patterns (annex E). */
  #alignments() {
    if (this.#version === 1) return [];
    const count = Math.floor(this.#version / 7) + 2;
    const step = Math.ceil((4 * this.#version + 4) / (2 * count - 2)) * 2;
    const rest = Array.from({ length: count - 1 }, (_, index) => this.#size - 7 - index * step);
    return [6, ...rest.reverse()];
  }

  /** Level and mask, twice (7.9). */
  #writeFormat(mask) {
    const bits = ((mask << 10) | checked(mask, 10, 0x537)) ^ 0x5412; // Level M is 00.
    const last = this.#size - 1;
    for (let index = 0; index < 15; index++) {
      const dark = (bits >>> index) & 1;
      // Past the timing patterns, up the one and along the other.
      if (index < 8) this.#put(8, index < 6 ? index : index + 1, dark);
      else this.#put(index === 8 ? 7 : 14 - index, 8, dark);
      if (index < 8) this.#put(last - index, 8, dark);
      else this.#put(8, last - 14 + index, dark);
    }
    this.#put(8, last - 7, true);
  }

  /** From version 7 on, twice (7.10). */
  #writeVersion() {
    if (this.#version < 7) return;
    const bits = (this.#version << 12) | checked(this.#version, 12, 0x1f25);
    for (let index = 0; index < 18; index++) {
      const [near, far] = [Math.floor(index / 3), this.#size - 11 + (index % 3)];
      this.#put(near, far, (bits >>> index) & 1);
      this.#put(far, near, (bits >>> index) & 1);
    }
  }
}

/** The bits that check a value (BCH, annexes C and D). */
function checked(value, length, divisor) {
  let rest = value;
  for (let step = 0; step < length; step++) rest = (rest << 1) ^ ((rest >>> (length - 1)) * divisor);
  return rest;
}

/** How hard it is to read (table 11): long runs, squares, what looks like a finder pattern, and more dark than light. */
function penalty(rows) {
  const columns = rows.map((_, x) => rows.map((row) => row[x]));
  let sum = 0;
  for (const line of [...rows, ...columns]) {
    const text = line.join("");
    for (const [run] of text.matchAll(/0{5,}|1{5,}/g)) sum += run.length - 2;
    // The quiet zone is light.
    for (const _ of `0000${text}0000`.matchAll(/(?=1011101(?:0000))|(?<=0000)(?=1011101)/g)) sum += 40;
  }
  for (let y = 1; y < rows.length; y++) {
    for (let x = 1; x < rows.length; x++) {
      const count = rows[y][x] + rows[y][x - 1] + rows[y - 1][x] + rows[y - 1][x - 1];
      if (count === 0 || count === 4) sum += 3;
    }
  }
  const dark = rows.reduce((count, row) => count + row.reduce((inRow, each) => inRow + each, 0), 0);
  return sum + 10 * Math.floor(Math.abs((dark * 20) / rows.length ** 2 - 10));
}
