// A language for tests: English as if it were written from right to left, so that what stays on the left shows.

const [override, end] = ["\u202e", "\u202c"];

/** @param {Object<string, string | Object<string, string>>} words @returns the same keys and placeholders, every text turned around */
export function mirror(words) {
  return Object.fromEntries(Object.entries(words).map(([key, found]) => [key, typeof found === "string" ? turned(found) : mirror(found)]));
}

/** What stands in braces stays as it is: a value has a direction of its own. */
function turned(text) {
  return text.split(/(\{\w+\})/).map((piece, index) => (index % 2 || !piece ? piece : `${override}${piece}${end}`)).join("");
}
