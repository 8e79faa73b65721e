// Who visits, by the address and by what was remembered of the last time.

export const query = new URLSearchParams(location.search);

/** A token from a link leaves the address at once. @type {string | null} */
export const tokenFromAddress = new URLSearchParams(location.hash.slice(1)).get("token");
if (tokenFromAddress) history.replaceState(null, "", location.pathname + location.search);

/** Never a token. */
export const remembered = readMemory();

export function remember(change) {
  Object.assign(remembered, change);
  try {
    localStorage.setItem("roost", JSON.stringify(remembered));
  } catch {
    // Without storage it lasts until the page is closed.
  }
}

function readMemory() {
  try {
    return JSON.parse(localStorage.getItem("roost")) ?? {};
  } catch {
    return {};
  }
}
