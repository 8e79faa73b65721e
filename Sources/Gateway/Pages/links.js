// Links in what people write: addresses of the web alone, and nothing else of a text means anything.

const longest = 2000; // characters of an address
const most = 20; // links of a text: hundreds of texts are shown at once, and each could be nothing but addresses
// Neither spaces nor signs that turn the text around, nor what stands around an address in any script; a host has no apostrophe either.
const around = "\\s<>\"`\\p{C}\\u200e\\u200f\\u061c，。；：！？、（）《》【】「」『』“”‘’«»";
const address = new RegExp(`https?://[^'/?#${around}]+(?:[/?#][^${around}]*)?`, "giu");
const closing = ".,;:!?…'\")]}";
const pairs = { ")": "(", "]": "[", "}": "{" };
// A part of a host's name: letters of Latin, or of other scripts, not of both. Signs of every script, such as those that look like a slash,
// are in none: with them the name of one site reads as that of another.
const part = /^(?:[\p{Script=Latin}0-9-]+|(?:[0-9ー-]|(?![\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}])[\p{L}\p{M}\p{Nd}])+)$/u;

// Scripts that are written without spaces go on right behind an address. If anything else follows, it isn't that.
const goesOn = /^(https?:\/\/[a-z0-9.-]*[a-z0-9](?::\d{1,5})?)[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+$/iu;

/**
 * A text in pieces, of which some are links; what stands behind as many as there may be is text.
 * @param {string} text
 * @returns {{text: string, href?: string}[]}
 */
export function pieces(text) {
  const found = [];
  let [place, links] = [0, 0];
  for (const match of text.matchAll(address)) {
    let words = trimmed(match[0]);
    let href = reachable(words);
    const [, shorter] = (!href && goesOn.exec(words)) || [];
    if (shorter) [words, href] = [shorter, reachable(shorter)];
    if (!href) continue;
    if (match.index > place) found.push({ text: text.slice(place, match.index) });
    found.push({ text: words, href });
    place = match.index + words.length;
    links += 1;
    if (links === most) break;
  }
  if (place < text.length) found.push({ text: text.slice(place) });
  return found;
}

/** Without what ends the sentence, or a bracket that was opened before it: each sign is looked at twice, however many there are. */
function trimmed(words) {
  const counts = new Map();
  for (const sign of words) counts.set(sign, (counts.get(sign) ?? 0) + 1);
  let end = words.length;
  for (; end > 0 && closing.includes(words[end - 1]); end--) {
    const last = words[end - 1];
    const count = counts.get(last);
    if (pairs[last] && count <= (counts.get(pairs[last]) ?? 0)) break;
    counts.set(last, count - 1);
  }
  return words.slice(0, end);
}

/** The address, if it leads where it seems to: its host is a name or a number and nothing else, and no name stands before an @. */
function reachable(words) {
  if (words.length > longest) return null;
  const [, number, host] = /^https?:\/\/(?:(\[[\da-f:]+\])|([^/?#:]*?)\.?)(?::\d{1,5})?(?:[/?#]|$)/i.exec(words) ?? [];
  if (!number && !host?.split(".").every((each) => part.test(each))) return null;
  try {
    return new URL(words).href;
  } catch {
    return null;
  }
}
