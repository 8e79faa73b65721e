// What stands for a participant where there is no picture: the initials of its name, on a colour of its identity.

/** Of the first word and the last one; letters and digits alone, of any script. */
export function initials(name) {
  const words = name.split(/\s+/u).map(first).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words;
  // A name without any is shown by its first sign, as a flag or a family is one.
  return letters.length > 0 ? letters.join("") : graphemes(name.trim())[0] ?? "";
}

/** The first letter or digit of a word, with its marks. */
function first(word) {
  const letter = graphemes(word).find((each) => /[\p{L}\p{N}]/u.test(each));
  const capital = letter?.toUpperCase();
  // Some become two, as ß does.
  return capital && graphemes(capital).length === 1 ? capital : letter;
}

function graphemes(text) {
  return [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
}

/**
 * The hue of an identity, in degrees: the same for everybody who sees it.
 * Steps by the golden angle keep identities apart that differ by little, as guest-1 and guest-2 do.
 */
export function hue(identity) {
  let sum = 0;
  for (const byte of new TextEncoder().encode(identity)) sum = (Math.imul(sum, 31) + byte) >>> 0;
  return Math.floor((Math.imul(sum, 0x9e3779b1) >>> 0) / 2 ** 32 * 360);
}
