// The invitation: the access token that the page came with, or a link for many, which gives a token of one's own; what the token says, and
// where it is kept.

import { invitationFromAddress, tokenFromAddress } from "/visit.js";

const place = "roost-invitation";

/** The tab keeps it, so that a reload goes on with it: until one leaves, and for the page's own address alone. */
const known = tokenFromAddress || invitationFromAddress ? null : stored();
let token = tokenFromAddress ?? known?.token ?? null;
/** What a link for many has in place of a token, until one has been in. */
let secret = tokenFromAddress ? null : invitationFromAddress ?? known?.secret ?? null;
if (token || secret) keep(token);

/** What the token says that the page came with; the server alone judges it. */
export const claims = token ? readClaims(token) : null;

export const hasInvitation = token !== null || secret !== null;

/** @returns {string | null} as the server renewed it last */
export const invitation = () => token;

/** Keeps a token, or one that takes its place. */
export function keep(renewed) {
  token = renewed;
  store(JSON.stringify({ token, secret, address: address() }));
}

/** One is in: from here on the server renews the token. */
export function keepToken() {
  secret = null;
  if (token) keep(token);
}

/** The token was over before one has been in, or has another name than one wants. @returns {boolean} whether the link gives another */
export function dropToken() {
  if (secret) keep(null);
  return secret !== null;
}

/**
 * Has a link for many give a token, with an identity of one's own.
 * @param {string} name what one is called
 * @returns {Promise<string | null>} null where one came by no such link
 * @throws with a `code`, as the errors of roost.js
 */
export async function openInvitation(name) {
  if (secret === null) return null;
  let answer;
  try {
    answer = await fetch("/v1/invitations/open", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ invitation: secret, name }),
    });
  } catch {
    throw Object.assign(new Error(), { code: "unreachable" });
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(body.title), { code: body.type?.split(":").at(-1) });
  keep(body.token);
  return token;
}

/** The tab keeps it no longer; the page itself does until it is closed or loaded again. */
export function forget() {
  store(null);
}

/** Whether the token lets one send that. @param {"camera" | "microphone" | "screen_share"} source */
export function mayPublish(source) {
  const { canPublish, canPublishSources } = (token && readClaims(token)?.video) || {};
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
  const secrets = new URLSearchParams(location.hash.slice(1));
  if (secrets.has("token") || secrets.has("invitation")) location.reload();
});

/** However it is written: a space of a room's name may be %20 or +. */
function address() {
  return `${location.pathname}?${new URLSearchParams(location.search)}`;
}

function stored() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(place));
    return kept?.address === address() ? kept : null;
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

/** What a token says of its bearer. */
export function readClaims(text) {
  try {
    const part = text.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (character) => character.charCodeAt(0))));
  } catch {
    return null;
  }
}
