// The reason of `explain` in words.

import { rate } from "/units.js";
import { say } from "/words.js";

const reasons = ["best", "publisher", "bandwidth", "view", "off", "muted", "no-media", "no-slot", "codec", "key-frame", "connecting"];

/**
 * @param {{reason: string, sent?: {width?: number, height?: number}, wanted?: WantedPicture}} subscription as the server explains it
 * @param {{target?: number}} [transport]
 */
export function why({ reason, sent, wanted }, transport) {
  if (reason === "bandwidth" && transport?.target) return say("reason.bandwidth.rate", { rate: rate(transport.target) });
  if (reason === "publisher" && sent?.width && sent.height) {
    return say("reason.publisher.size", { lines: String(Math.min(sent.width, sent.height)) });
  }
  if (reason === "view" && wanted) return asked(wanted);
  return say(`reason.${reasons.includes(reason) ? reason : "unknown"}`);
}

/** What of that which was asked for is the bound. */
function asked({ quality, maxWidth, maxHeight, maxFrameRate }) {
  if (quality === "low" || quality === "medium") return say(`reason.view.${quality}`);
  // Whether it is the tile or the frame rate the server alone knows.
  if (maxFrameRate && (maxWidth || maxHeight)) return say("reason.view");
  if (maxWidth) return say("reason.view.width", { count: maxWidth });
  if (maxHeight) return say("reason.view.height", { count: maxHeight });
  return maxFrameRate ? say("reason.view.frames", { count: maxFrameRate }) : say("reason.view");
}
