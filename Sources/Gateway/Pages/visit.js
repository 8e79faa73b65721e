// Who visits, by the address and by what was remembered of the last time.

export const query = new URLSearchParams(location.search);

/** A token from a link stays in memory only and leaves the address at once. @type {string | null} */
export const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) history.replaceState(null, "", location.pathname + location.search);

/** What the token says; the server alone judges it. */
export const claims = token ? readClaims(token) : null;

/** Whether the token lets one send that. @param {"camera" | "microphone" | "screen_share"} source */
export function mayPublish(source) {
  const { canPublish, canPublishSources } = claims?.video ?? {};
  return canPublish !== false && (!canPublishSources?.length || canPublishSources.includes(source));
}

/** Never a token. */
export const remembered = readMemory();

export function remember(change) {
  Object.assign(remembered, change);
  try {
    localStorage.setItem("roost", JSON.stringify(remembered));
  } catch {
    // Without storage it holds until the page is closed.
  }
}

function readMemory() {
  try {
    return JSON.parse(localStorage.getItem("roost")) ?? {};
  } catch {
    return {};
  }
}

function readClaims(text) {
  try {
    const part = text.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (character) => character.charCodeAt(0))));
  } catch {
    return null;
  }
}
