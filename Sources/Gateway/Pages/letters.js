// What the page sends as data: an object, as JSON in UTF-8 in base64.

/** @param {object} object @returns {string} */
export function encoded(object) {
  let binary = "";
  for (const byte of new TextEncoder().encode(JSON.stringify(object))) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** @param {string} payload @returns {object | null} what another page sent; where it is a text and nothing more, `{text}` */
export function decoded(payload) {
  let text;
  try {
    const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
  try {
    const object = JSON.parse(text);
    if (typeof object === "object" && object !== null && !Array.isArray(object)) return object;
  } catch {
    // Not all programs send JSON.
  }
  return { text };
}
