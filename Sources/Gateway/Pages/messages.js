// What went wrong, in words that say what to do about it.

/** @param {Error} error of getUserMedia @param {string} device "camera", "microphone", both, or "screen" */
export function deviceProblem(error, device) {
  switch (error.name) {
    case "NotAllowedError":
    case "SecurityError":
      return `The browser may not use your ${device}. Allow it by the sign beside the address and try again, `
        + "or join to watch and listen.";
    case "NotFoundError":
    case "OverconstrainedError":
      return `No ${device} was found. Plug one in and try again, or choose another.`;
    case "NotReadableError":
    case "AbortError":
      return `Your ${device} does not answer: another program may be using it. Close that one and try again.`;
    default:
      return `Your ${device} cannot be used: ${error.message || error.name}`;
  }
}

/** A device that was in use has gone. */
export function deviceLost(device) {
  const without = device === "camera" ? "seen" : "heard";
  return `Your ${device} has gone: it was unplugged, or the browser has taken it back. You are not ${without}.`;
}

/** @param {string} deadline RFC 3339 */
export function restart(deadline) {
  const time = new Date(deadline);
  if (Number.isNaN(time.getTime())) return "The server restarts soon. You can join again a moment later.";
  return `The server restarts at ${time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" })}. `
    + "You can join again a moment later.";
}

export const insecure = "Browsers give camera and microphone only to pages from https or localhost. "
  + "Open this one by https to be seen and heard; you can join to watch.";

export const tokenNeeded = "This server lets in those who have an invitation. Open the link that you were given, "
  + "with everything behind the #.";

/** @param {{code?: string, message: string}} error of roost.js */
export function joinProblem(error) {
  switch (error.code) {
    case "unreachable":
      return "The server does not answer. See whether it runs and whether you are online, then join again.";
    case "token-expired":
      return "Your invitation has expired: ask for a new one.";
    case "token-not-yet-valid":
      return "Your invitation does not hold yet: try again later.";
    case "token-not-for-this":
      return "Your invitation is for another room.";
    case "token-absent":
    case "token-malformed":
    case "token-signature":
    case "token-algorithm":
    case "token-unknown-key":
      return "The server does not accept this invitation. See whether the link is whole, or ask for a new one.";
    case "not-allowed":
      return "Your invitation does not allow that.";
    case "room-full":
      return "The room is full: try again when somebody has left.";
    case "unavailable":
      return "The server is busy or about to stop: try again in a while.";
    case "declined":
      return `Others cannot get this: ${error.message}.`;
    default:
      return `That did not work: ${error.message}`;
  }
}

/**
 * @param {{reason: string}} end what `closed` says
 * @returns {{text: string, again: boolean} | null} `again`: whether to join again can help; null where nothing needs to be said
 */
export function ending({ reason }) {
  switch (reason) {
    case "left":
      return null;
    case "removed":
      return { text: "Somebody who runs this room has removed you. Ask them if you think that this is a mistake.", again: false };
    case "duplicateIdentity":
      return { text: "You have joined in another window, so this one has left. Join again to go on here.", again: true };
    case "movedElsewhere":
      return { text: "You have gone on with this call elsewhere. Join again to have it here.", again: true };
    case "roomClosed":
      return { text: "The room was closed for everybody. Join again to open it anew.", again: true };
    case "tokenExpired":
      return { text: "Your invitation has expired: ask for a new one.", again: false };
    case "serverShutdown":
      return { text: "The server was stopped. Try to join again in a moment.", again: true };
    case "session-gone":
      return { text: "You were away for too long, so the others go on without you. Join again to be back.", again: true };
    default:
      return { text: "The connection to the server is lost. See whether you are online, then join again.", again: true };
  }
}

/** @param {{state: string, reason?: string}} stream what a tile says while its track doesn't come */
export function absence({ state, reason }) {
  if (state === "waiting") return "The picture comes as soon as there is room";
  if (state === "paused" && reason === "codec") return "Your browser cannot play this picture";
  if (state === "paused" && reason === "no-media") return "No picture comes from there";
  return "";
}
