// What every part of administration shares: the server that is asked, what the token allows, and how something is done and said.

import { element } from "/elements.js";
import { hideNotice, notice, tell } from "/notices.js";
import { say } from "/words.js";

/** Who administers, and what. */
export const desk = {
  /** @type {import("/rest.js").REST | null} null: no one has signed in */
  rest: null,
  /** What the token says that it allows; the server alone judges it. @type {object} */
  grants: {},
};

/** @param {string} token */
export function grantsOf(token) {
  try {
    const part = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (character) => character.charCodeAt(0)))).video ?? {};
  } catch {
    return {};
  }
}

/** Whether the token lets one see what those see who are in a room. */
export const maySee = ({ canSubscribe, roomJoin }) => canSubscribe ?? roomJoin ?? false;

/** @param {Error & {status?: number, type?: string}} error */
export function problem({ status, type, message }) {
  if (type === "draining") return say("admin.problem.draining");
  if (status === 404) return say("admin.problem.gone");
  if (status === 429) return say(type === "too-many-streams" ? "admin.problem.windows" : "admin.problem.too-much");
  if (status === 403) return say("admin.problem.forbidden");
  return message;
}

/** Does it, and says so, or why not. @param {() => Promise<unknown>} request @param {string} [done] @returns {Promise<boolean>} whether it is done */
export async function act(request, done) {
  try {
    await request();
  } catch (error) {
    notice(problem(error));
    return false;
  }
  if (done) tell(done);
  return true;
}

/**
 * A question that is to be answered before something is done that can't be undone.
 * @param {{title: string, text: string, yes: string}} words
 * @returns {Promise<boolean>}
 */
export function ask({ title, text, yes }) {
  const dialog = element("question");
  element("question-title").textContent = title;
  element("question-text").textContent = text;
  const button = element("question-yes");
  button.textContent = yes;
  const answer = new Promise((resolve) => {
    button.onclick = () => resolve(true);
    // It comes a moment behind the closing: by then the next question may be open.
    dialog.onclose = () => { if (!dialog.open) resolve(false); };
  });
  dialog.showModal();
  return answer;
}

const troubled = new Set(); // streams that can't be read at the moment

/** Says that a stream can't be read, until all can. @param {string} stream @param {Error | null} error null: it can again */
export function trouble(stream, error) {
  if (error) {
    troubled.add(stream);
    notice(problem(error), { topic: "away" });
  } else {
    troubled.delete(stream);
    if (troubled.size === 0) hideNotice("away");
  }
}

/** With a stream its trouble is over. */
export function forgetTrouble() {
  troubled.clear();
  hideNotice("away");
}

// -- words

/** What is known of something, one thing behind the other. @param {...(string | false | null | undefined)} parts */
export const listed = (...parts) => parts.filter(Boolean).join(" · ");

/** @param {number} seconds */
export function age(seconds) {
  if (seconds < 90) return say("admin.age.seconds", { count: Math.round(seconds) });
  if (seconds < 5400) return say("admin.age.minutes", { count: Math.round(seconds / 60) });
  return seconds < 129600 ? say("admin.age.hours", { count: Math.round(seconds / 3600) })
    : say("admin.age.days", { count: Math.round(seconds / 86400) });
}

/** What an element says, which is left alone where it says that already. @param {Element} place */
export function write(place, words) {
  if (place.textContent !== words) place.textContent = words;
}

/** A list that is searched and sorted by the server: calls when that has changed, a moment behind the last letter.
 * @returns {() => void} forgets what has changed and isn't called for yet */
export function finder(search, sort, changed) {
  let timer = 0;
  const soon = (pause) => {
    clearTimeout(timer);
    timer = setTimeout(changed, pause);
  };
  search.addEventListener("input", () => soon(300));
  search.addEventListener("keydown", ({ key }) => { if (key === "Enter") soon(0); });
  sort.addEventListener("change", () => soon(0));
  return () => clearTimeout(timer);
}

const most = new Uint8Array(128);

/** What the server can look for: a text of that many bytes at most, without control characters. */
function searched(text) {
  const words = text.replace(/\p{Cc}/gu, " ").trim();
  return words.slice(0, new TextEncoder().encodeInto(words, most).read).trim();
}

/** What the server is asked for, as it stands in a list's fields. */
export function query(search, sort) {
  const text = searched(search.value);
  return { limit: 100, ...(text && { search: text }), ...(sort.value && { sort: sort.value }) };
}
