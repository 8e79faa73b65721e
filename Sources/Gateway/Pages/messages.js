// What the page says to people, in words that say what to do about it.

// -- devices

/** @param {Error} error of getUserMedia @param {string} device "camera", "microphone", both, or "screen" */
export function deviceProblem(error, device) {
  switch (error.name) {
    case "NotAllowedError":
    case "SecurityError":
      return `Your browser is blocking your ${device}. Click the icon next to the address to allow ${device}, then try again. `
        + "You can also join to watch and listen.";
    case "NotFoundError":
    case "OverconstrainedError":
      return `No ${device} found. Connect one or choose another, then try again.`;
    case "NotReadableError":
    case "AbortError":
      return `Your ${device} isn't responding. Another app may be using it: close that app and try again.`;
    default:
      return `Your ${device} can't be used: ${error.message || error.name}`;
  }
}

/** A device that was in use has gone. */
export function deviceLost(device) {
  return `Your ${device} was disconnected. Others can't ${device === "camera" ? "see" : "hear"} you.`;
}

export const insecure = "Browsers allow camera and microphone only on pages opened with https or from localhost. "
  + "Open this page with https to be seen and heard. You can still join to watch and listen.";

export const playProblem = "This speaker can't be used. Sound stays where it was.";

/** @param {"camera" | "microphone"} kind what has just been turned on or off */
export function switched(kind, isOn) {
  if (kind === "camera") return isOn ? "Camera on" : "Camera off";
  return isOn ? "Microphone on" : "Microphone muted";
}

/** To a participant who talks while muted. @param {{byHost: boolean, byKeys: boolean}} how whether a host muted it, and
 * whether keys may be pressed */
export function mutedTalk({ byHost, byKeys }) {
  if (byHost) return "You're muted by a host. Others can't hear you.";
  const hasKeyboard = byKeys && matchMedia("(any-hover: hover)").matches;
  return hasKeyboard ? "You're muted. Press M to unmute, or hold Space to talk." : "You're muted. Unmute to talk.";
}

// -- hosts

/** @param {boolean} isOn whether the room is recorded from here on */
export function recording(isOn) {
  return isOn ? "This call is being recorded" : "The recording has ended";
}

/** @param {("camera" | "microphone")[]} kinds what an administrator has muted */
export function hostMuted(kinds) {
  if (kinds.length === 2) {
    return "A host muted your microphone and turned off your camera. You can't turn them on until a host allows it.";
  }
  return kinds[0] === "camera" ? "A host turned off your camera. You can't turn it on until a host allows it."
    : "A host muted your microphone. You can't unmute until a host allows it.";
}

const acts = { microphone: "speak", camera: "turn on your camera", screen_share: "share your screen" };

/** @param {("camera" | "microphone" | "screen_share")[]} kinds what isn't allowed in this room */
export function notPermitted(kinds) {
  return `You don't have permission to ${kinds.map((kind) => acts[kind]).join(" or ")} in this room.`;
}

/** @returns {[string, string]} what can be done again, and a button's label for it */
export function lifted(kinds) {
  if (kinds.length === 2) return ["You can unmute and turn on your camera now.", "Turn on both"];
  return kinds[0] === "camera" ? ["You can turn on your camera now.", "Turn on camera"] : ["You can unmute now.", "Unmute"];
}

/** To a participant who presses what is blocked. */
export function whyBlocked(kind, reason) {
  return reason === "muted" ? hostMuted([kind]) : notPermitted([kind]);
}

/** What one's own tile says. @param {{camera: string | null, microphone: string | null}} blocked */
export function stoppedByHost({ camera, microphone }) {
  return [microphone === "muted" && "Muted by a host", camera === "muted" && "Camera turned off by a host"].filter(Boolean).join(" · ");
}

export const screenStopped = "A host stopped your screen sharing.";

// -- joining and leaving

/** @param {string} deadline RFC 3339 */
export function restart(deadline) {
  const time = new Date(deadline);
  if (Number.isNaN(time.getTime())) return "The server restarts soon. You can rejoin shortly after.";
  return `The server restarts at ${time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" })}. `
    + "You can rejoin shortly after.";
}

export const tokenNeeded = "You need an invitation to join. Open the full link that you were sent, including everything after the #.";

/** @param {{code?: string, message: string}} error of roost.js */
export function joinProblem(error) {
  switch (error.code) {
    case "unreachable":
      return "The server isn't responding. Check your internet connection, then try again.";
    case "token-expired":
      return "Your invitation has expired. Ask for a new one.";
    case "token-not-yet-valid":
      return "Your invitation isn't valid yet. Try again later.";
    case "token-not-for-this":
      return "Your invitation is for another room.";
    case "token-removed":
      return "A host removed you from this room. You need a new invitation to come back.";
    case "token-absent":
    case "token-malformed":
    case "token-signature":
    case "token-algorithm":
    case "token-unknown-key":
    case "token-too-long":
      return "Your invitation isn't valid. Check that you have the full link, or ask for a new one.";
    case "not-allowed":
      return "You don't have permission to do this.";
    case "room-full":
      return "This room is full. Try again when someone has left.";
    case "room-not-found":
      return "This room isn't open. Try again later.";
    case "unavailable":
      return "The server is busy or about to restart. Try again in a moment.";
    case "rate-limited":
      return "That was too much at once. Wait a moment and try again.";
    case "declined":
      return `Others can't receive this: ${error.message}.`;
    default:
      return `Something went wrong: ${error.message}`;
  }
}

/**
 * @param {{reason: string}} end what `closed` says
 * @returns {{text: string, again: boolean} | null} `again`: whether joining again can help; null where nothing needs to be said
 */
export function ending({ reason }) {
  switch (reason) {
    case "left":
      return null;
    case "removed":
      return { text: "A host removed you from this room.", again: false };
    case "duplicateIdentity":
      return { text: "You joined this call in another window, so this one left. Rejoin to continue here.", again: true };
    case "movedElsewhere":
      return { text: "You moved this call to another device. Rejoin to continue here.", again: true };
    case "roomClosed":
      return { text: "A host ended the call for everyone.", again: true };
    case "tokenExpired":
      return { text: "Your invitation has expired. Ask for a new one.", again: false };
    case "serverShutdown":
      return { text: "The server has stopped. Try to rejoin in a moment.", again: true };
    case "session-gone":
      return { text: "You were disconnected for too long, so the others went on without you.", again: true };
    default:
      return { text: "You lost the connection to the call. Check your internet connection, then rejoin.", again: true };
  }
}

// -- tiles

/** @param {{state: string, reason?: string}} stream what a tile says while its track doesn't come */
export function absence({ state, reason }) {
  if (state === "waiting") return "Video appears when there is room for it";
  if (state === "paused" && reason === "codec") return "Your browser can't play this video";
  if (state === "paused" && reason === "no-media") return "No video is coming through";
  if (state === "paused" && reason === "bandwidth") return "Your connection is too slow for this video";
  return "";
}

const qualities = { excellent: "Excellent connection", good: "Good connection", poor: "Poor connection", lost: "Connection lost" };

/** @param {string} quality as `quality` says it */
export function quality(quality) {
  return qualities[quality] ?? `Connection: ${quality}`;
}
