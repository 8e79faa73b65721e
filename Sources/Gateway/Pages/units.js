// Figures with their units, as the language writes them; "" for what isn't known.

import { figure, say } from "/words.js";

/** @param {number | undefined} bits a second */
export function rate(bits) {
  if (bits === undefined) return "";
  // By what is shown: what would be a thousand of the smaller unit is one of the larger.
  return bits >= 999_500 ? say("unit.megabits", { figure: figure(bits / 1e6, bits >= 9_950_000 ? 0 : 1) })
    : say("unit.kilobits", { figure: figure(bits / 1000) });
}

/** @param {number | undefined} share 0 to 1 */
export const percent = (share) => (share === undefined ? "" : say("unit.percent", { figure: figure(share * 100, 1) }));

/** @param {number | undefined} seconds @param {number} [digits] behind the point */
export function milliseconds(seconds, digits = 0) {
  return seconds === undefined ? "" : say("unit.milliseconds", { figure: figure(seconds * 1000, digits) });
}

/** The size of a picture. */
export const pixels = (width, height) => `${width}×${height}`;
