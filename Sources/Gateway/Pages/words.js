// Words in the language of those who read them: each language has a file of its own, and the one that was chosen is fetched alone.

import { query, remember, remembered } from "/visit.js";

/** The languages that the pages speak, by their own names. */
const languages = { en: "English", de: "Deutsch", zh: "简体中文" };

/** English written from right to left, for tests of the layout: `?lang=x-rtl`. */
const mirrored = "x-rtl";
const tags = { zh: "zh-Hans", [mirrored]: "en-x-rtl" };
/** What is needed at first, what a call needs once it shows, and administration. */
const parts = {
  first: { en: () => import("/words-en.js"), de: () => import("/words-de.js"), zh: () => import("/words-zh.js") },
  call: { en: () => import("/words-call-en.js"), de: () => import("/words-call-de.js"), zh: () => import("/words-call-zh.js") },
  admin: { en: () => import("/words-admin-en.js"), de: () => import("/words-admin-de.js"), zh: () => import("/words-admin-zh.js") },
};
// What turns the direction of the text around it, and what is written from right to left.
const controls = /[\u202a-\u202e\u2066-\u2069]/g;
const needsIsolation = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

let chosen = wanted();
let words = {};
let plurals;
let numbers;
const learnt = []; // parts, in the order in which they were asked for
const followers = [];

await learn("first");

/** The language that is shown, as a key of `languages`. */
export function language() {
  return chosen;
}

/** The language that is shown, for Intl. */
export function locale() {
  return tags[chosen] ?? chosen;
}

/** Whether the page is written from right to left. */
export const isMirrored = () => chosen === mirrored;

/**
 * A text. Where it has a form for each plural, `values.count` decides; what stands in `{braces}` is taken from the values: numbers
 * as the language writes them, texts isolated, so that a name keeps its direction to itself.
 * @param {string} key @param {Object<string, string | number>} [values]
 * @returns {string}
 */
export function say(key, values = {}) {
  const found = words[key] ?? key;
  const text = typeof found === "string" ? found : found[plurals.select(values.count)] ?? found.other;
  return text.replace(/\{(\w+)\}/g, (place, name) => {
    const value = values[name];
    if (value === undefined) return place;
    return typeof value === "number" ? numbers.format(value) : isolated(String(value));
  });
}

/** A figure as the language writes it. @param {number} value @param {number} [digits] behind the point */
export function figure(value, digits = 0) {
  return value.toLocaleString(locale(), { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A name in a sentence: whatever it is made of, it turns nothing around that isn't its own. */
export function isolated(name) {
  if (!isMirrored() && !needsIsolation.test(name)) return name;
  return `\u2068${name.replace(controls, "")}\u2069`;
}

/**
 * Writes the texts of what stands in a document: `data-say` is what an element says, `data-say-label` its `aria-label`, `data-say-hint` its placeholder,
 * `data-say-title` both that and its tooltip, with its key if it has one. A child with `data-part` stands where the text has that name in braces.
 * @param {Document | DocumentFragment} [root]
 */
export function translate(root = document) {
  if (root === document) {
    document.documentElement.lang = locale();
    document.documentElement.dir = isMirrored() ? "rtl" : "ltr";
  }
  for (const each of root.querySelectorAll("[data-say]")) put(each, words[each.dataset.say] ?? each.dataset.say);
  for (const each of root.querySelectorAll("[data-say-label]")) each.setAttribute("aria-label", say(each.dataset.sayLabel));
  for (const each of root.querySelectorAll("[data-say-hint]")) each.placeholder = say(each.dataset.sayHint);
  for (const each of root.querySelectorAll("[data-say-title]")) {
    each.setAttribute("aria-label", say(each.dataset.sayTitle));
    each.title = withKey(say(each.dataset.sayTitle), each);
  }
  for (const each of root.querySelectorAll("template")) translate(each.content);
}

/** A tooltip, with the key that does the same. */
export function withKey(text, control) {
  const key = control.getAttribute("aria-keyshortcuts");
  return key ? say("key.of", { text, key }) : text;
}

function put(element, text) {
  const children = new Map([...element.children].map((child) => [child.dataset.part, child]));
  element.replaceChildren(...text.split(/\{(\w+)\}/).map((piece, index) => (index % 2 ? children.get(piece) ?? "" : piece)));
}

/** Fetches the words of other parts too. @param {...("call" | "admin")} more */
export async function learn(...more) {
  for (const part of more) if (!learnt.includes(part)) learnt.push(part);
  await use(chosen);
}

/** Changes the language by hand: it is remembered, and what follows is called. @param {string} language a key of `languages` */
export async function choose(language) {
  remember({ language });
  await use(language);
  translate();
  for (const follow of followers) follow();
}

/** Fills a list from which one language is chosen by hand. @param {HTMLSelectElement} list */
export function offerLanguages(list) {
  const all = Object.hasOwn(languages, chosen) ? languages : { ...languages, [chosen]: chosen };
  list.replaceChildren(...Object.entries(all).map(([key, name]) => (
    Object.assign(new Option(name, key, key === chosen, key === chosen), { lang: tags[key] ?? key }))));
  list.addEventListener("change", () => choose(list.value));
}

/** Calls whenever another language was chosen, after the document's own texts have changed. */
export function onLanguage(follow) {
  followers.push(follow);
}

async function use(language) {
  let found;
  try {
    found = await load(language);
  } catch {
    [language, found] = ["en", await load("en")]; // Better than no words at all.
  }
  chosen = language;
  words = found;
  plurals = new Intl.PluralRules(locale());
  numbers = new Intl.NumberFormat(locale(), { maximumFractionDigits: 1 });
}

async function load(language) {
  const read = (part) => parts[part][language === mirrored ? "en" : language]();
  const all = Object.assign({}, ...(await Promise.all(learnt.map(read))).map((file) => file.default));
  return language === mirrored ? (await import("/words-rtl.js")).mirror(all) : all;
}

/** What was chosen by hand, else what the link asks for, else what the browser prefers. */
function wanted() {
  if (query.get("lang") === mirrored) return mirrored;
  for (const tag of [remembered.language, query.get("lang"), ...(navigator.languages ?? [])]) {
    const known = String(tag ?? "").toLowerCase().split("-")[0];
    if (Object.hasOwn(languages, known)) return known;
  }
  return "en";
}
