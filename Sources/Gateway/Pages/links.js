// Links in what people write: addresses of the web alone, and nothing else of a text means anything.

const longest = 2000; // characters of an address
// Neither spaces nor signs that turn the text around, nor what stands around an address in any script.
const address = /https?:\/\/[^\s<>"'`\p{C}\u200e\u200f\u061c，。；：！？、（）《》【】「」『』“”‘’«»]+/giu;
const closing = /[.,;:!?…'")\]}]$/;
const pairs = { ")": "(", "]": "[", "}": "{" };

/**
 * A text in pieces, of which some are links.
 * @param {string} text
 * @returns {{text: string, href?: string}[]}
 */
export function pieces(text) {
  const found = [];
  let place = 0;
  for (const match of text.matchAll(address)) {
    const words = trimmed(match[0]);
    const href = reachable(words);
    if (!href) continue;
    if (match.index > place) found.push({ text: text.slice(place, match.index) });
    found.push({ text: words, href });
    place = match.index + words.length;
  }
  if (place < text.length) found.push({ text: text.slice(place) });
  return found;
}

/** Without what ends the sentence, or a bracket that was opened before it. */
function trimmed(words) {
  let end = words.length;
  while (end > 0 && closing.test(words.slice(0, end))) {
    const last = words[end - 1];
    const count = (sign) => words.slice(0, end).split(sign).length;
    if (pairs[last] && count(last) <= count(pairs[last])) break;
    end -= 1;
  }
  return words.slice(0, end);
}

/** The address, if there is a server behind it; one that shows a name before an @ leads elsewhere than it seems to. */
function reachable(words) {
  if (words.length > longest) return null;
  try {
    const { protocol, hostname, username, password, href } = new URL(words);
    return ["http:", "https:"].includes(protocol) && hostname && !username && !password ? href : null;
  } catch {
    return null;
  }
}
