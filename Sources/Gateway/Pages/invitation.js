// The invitation: the access token that the page came with, what it says, and where it is kept.

import { tokenFromAddress } from "/visit.js";

const place = "roost-invitation";

/** The tab keeps it, so that a reload goes on with it: until one leaves, and for the page's own address alone. */
let token = tokenFromAddress ?? stored();
if (token) keep(token);

/** What the token says; the server alone judges it. */
export const claims = token ? readClaims(token) : null;

export const hasInvitation = token !== null;

/** @returns {string | null} as the server renewed it last */
export const invitation = () => token;

/** Keeps a token, or one that takes its place. */
export function keep(renewed) {
  token = renewed;
  store(JSON.stringify({ token, address: address() }));
}

/** The tab keeps it no longer; the page itself does until it is closed or loaded again. */
export function forget() {
  store(null);
}

/** Whether the token lets one send that. @param {"camera" | "microphone" | "screen_share"} source */
export function mayPublish(source) {
  const { canPublish, canPublishSources } = claims?.video ?? {};
  return canPublish !== false && (!canPublishSources?.length || canPublishSources.includes(source));
}

/** Whether an invitation is needed: only a server that runs for trying out gives tokens away. */
export async function isNeeded() {
  try {
    return (await fetch("/dev/token", { method: "HEAD" })).status === 404;
  } catch {
    return false; // Joining will say that there is no server.
  }
}

// Another link into the same page changes nothing but what follows the #.
addEventListener("hashchange", () => {
  if (new URLSearchParams(location.hash.slice(1)).has("token")) location.reload();
});

function address() {
  return location.pathname + location.search;
}

function stored() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(place));
    return kept?.address === address() ? kept.token : null;
  } catch {
    return null;
  }
}

function store(text) {
  try {
    if (text === null) sessionStorage.removeItem(place);
    else sessionStorage.setItem(place, text);
  } catch {
    // Without storage it lasts until the page is loaded again.
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
