// The reason of `explain` in words.

import { rate } from "/units.js";
import { say } from "/words.js";

const reasons = ["best", "publisher", "bandwidth", "view", "off", "muted", "no-media", "no-slot", "codec", "key-frame", "connecting"];

/**
 * @param {{reason: string, sent?: {width?: number, height?: number}, wanted?: {maxWidth?: number}}} subscription as the server explains it
 * @param {{target?: number}} [transport]
 */
export function why({ reason, sent, wanted }, transport) {
  if (reason === "bandwidth" && transport?.target) return say("reason.bandwidth.rate", { rate: rate(transport.target) });
  if (reason === "publisher" && sent?.width && sent.height) {
    return say("reason.publisher.size", { lines: String(Math.min(sent.width, sent.height)) });
  }
  if (reason === "view" && wanted?.maxWidth) return say("reason.view.width", { count: wanted.maxWidth });
  return say(`reason.${reasons.includes(reason) ? reason : "unknown"}`);
}
