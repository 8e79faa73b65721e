// Who visits, by the address and by what was remembered of the last time.

export const query = new URLSearchParams(location.search);

const secrets = new URLSearchParams(location.hash.slice(1));
/** A token from a link, and an invitation for more than one: they leave the address at once. @type {string | null} */
export const tokenFromAddress = secrets.get("token");
export const invitationFromAddress = secrets.get("invitation");
if (tokenFromAddress || invitationFromAddress) history.replaceState(null, "", location.pathname + location.search);

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
