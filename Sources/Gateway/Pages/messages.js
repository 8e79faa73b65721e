// What the page says to people about what happened, in words that say what to do about it.

import { locale, say } from "/words.js";

/** What is said of the microphone, of the camera, or of both at once. @param {string[]} kinds */
const both = (kinds) => (kinds.length === 2 ? "both" : kinds[0]);

// -- devices

/** @param {Error} error of getUserMedia @param {"camera" | "microphone" | "both" | "screen"} kind */
export function deviceProblem(error, kind) {
  const device = say(`device.${kind}`);
  switch (error.name) {
    case "NotAllowedError":
    case "SecurityError":
      return say("device.blocked", { device });
    case "NotFoundError":
    case "OverconstrainedError":
      return say("device.absent", { device });
    case "NotReadableError":
    case "AbortError":
      return say("device.busy", { device });
    default:
      return say("device.other", { device, reason: error.message || error.name });
  }
}

/** A device that was in use has gone. */
export const deviceLost = (kind) => say(`device.lost.${kind}`);

/** @param {"camera" | "microphone"} kind what has just been turned on or off */
export const switched = (kind, isOn) => say(`switched.${kind}.${isOn ? "on" : "off"}`);

// -- hosts

/** @param {("camera" | "microphone")[]} kinds what an administrator has muted */
export const hostMuted = (kinds) => say(`host.muted.${both(kinds)}`);

/** @param {("camera" | "microphone" | "screen")[]} kinds what isn't allowed in this room */
export const notPermitted = (kinds) => say(`host.forbidden.${both(kinds)}`);

/** @returns {[string, string]} what can be done again, and a button's label for it */
export const lifted = (kinds) => [say(`host.lifted.${both(kinds)}`), say(`host.turn-on.${both(kinds)}`)];

/** To a participant who presses what is blocked. */
export function whyBlocked(kind, reason) {
  return reason === "muted" ? hostMuted([kind]) : notPermitted([kind]);
}

/** What one's own tile says. @param {{camera: string | null, microphone: string | null}} blocked */
export function stoppedByHost(blocked) {
  const kinds = ["microphone", "camera"].filter((kind) => blocked[kind] === "muted");
  return kinds.length > 0 ? say(`tile.host.${both(kinds)}`) : "";
}

// -- joining and leaving

/** @param {string} deadline RFC 3339 */
export function restart(deadline) {
  const time = new Date(deadline);
  if (Number.isNaN(time.getTime())) return say("restart.soon");
  return say("restart.at", { time: time.toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit", second: "2-digit" }) });
}

const problems = {
  unreachable: "unreachable",
  "token-needed": "needed",
  "token-expired": "expired",
  "token-not-yet-valid": "early",
  "token-not-for-this": "other-room",
  "token-removed": "removed",
  "token-absent": "invalid",
  "token-malformed": "invalid",
  "token-signature": "invalid",
  "token-algorithm": "invalid",
  "token-unknown-key": "invalid",
  "token-too-long": "invalid",
  "token-revoked": "gone",
  "invitation-not-found": "gone",
  refused: "refused",
  "not-admitted": "not-admitted",
  "admission-required": "admission",
  "room-locked": "room-locked",
  "not-allowed": "not-allowed",
  "room-full": "room-full",
  "room-not-found": "room-not-found",
  unavailable: "unavailable",
  "rate-limited": "rate-limited",
  declined: "declined",
};

/** @param {{code?: string, message: string}} error of roost.js */
export function joinProblem({ code, message }) {
  return say(`problem.${Object.hasOwn(problems, code ?? "") ? problems[code] : "other"}`, { reason: message });
}

// Why a call is over, and whether joining again can help.
const ends = {
  removed: ["removed", false],
  duplicateIdentity: ["duplicate", true],
  movedElsewhere: ["moved", true],
  roomClosed: ["closed", true],
  tokenExpired: ["expired", false],
  serverShutdown: ["shutdown", true],
  "session-gone": ["gone", true],
};

/**
 * @param {{reason: string}} end what `closed` says
 * @returns {{text: string, again: boolean} | null} `again`: whether joining again can help; null where nothing needs to be said
 */
export function ending({ reason }) {
  if (reason === "left") return null;
  const [key, again] = Object.hasOwn(ends, reason) ? ends[reason] : ["lost", true];
  return { text: say(`end.${key}`), again };
}

// -- tiles

/** @param {{state: string, reason?: string}} stream what a tile says while its track doesn't come */
export function absence({ state, reason }) {
  if (state === "waiting") return say("tile.waiting");
  return state === "paused" && ["codec", "no-media", "bandwidth"].includes(reason) ? say(`tile.${reason}`) : "";
}

const qualities = ["excellent", "good", "poor", "lost"];

/** @param {string} quality as `quality` says it */
export const quality = (quality) => (qualities.includes(quality) ? say(`quality.${quality}`) : "");
