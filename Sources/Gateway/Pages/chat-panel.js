// The messages, and the field in which one writes. Texts are shown as texts; of what is in them only links mean something.

import { build, button } from "/build.js";
import { sign } from "/elements.js";
import { pieces } from "/links.js";
import { locale, say } from "/words.js";

const pause = 250; // ms between two changes, however much comes
const near = 48; // pixels from the end, from where one follows what comes
const mostLines = 30; // of a text that shows whole
const together = 120_000; // ms in which one sender's messages stand together

export class ChatPanel {
  element = build("section", { class: "chat" });

  #chat;
  #list;
  #empty;
  #newer;
  #field;
  #form;
  #refusal;
  #clock = new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit" });
  #shown = new Map(); // entry → {element, version}
  #timer = 0;
  #isOpen = false;

  /** @param {import("/chat.js").Chat} chat */
  constructor(chat) {
    this.#chat = chat;
    // What comes is read out by the page, which says how much it is where it is much.
    this.#list = build("div", { class: "messages", role: "log", tabindex: 0, "aria-label": say("chat.messages"), "aria-live": "off" });
    this.#empty = build("p", { class: "hint" }, say("chat.empty"));
    this.#newer = button(say("chat.newer"), () => this.#follow(), { class: "newer", hidden: true });
    this.#list.addEventListener("scroll", () => {
      if (this.#isAtEnd) this.#hideNewer();
    });
    this.#refusal = build("p", { class: "hint", hidden: true }, say("chat.refused"));
    this.#makeForm();
    this.element.append(this.#list, this.#newer, this.#form, this.#refusal);
    chat.addEventListener("change", () => this.#soon());
    chat.addEventListener("clear", () => (this.#field.value = ""));
  }

  show() {
    this.#isOpen = true;
    this.#chat.isWatched = true;
    this.#render();
    this.#follow();
  }

  hide() {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#chat.isWatched = false;
  }

  /** @returns {boolean} whether there is something to write in; on a screen that is touched its keyboard would cover the messages */
  focus() {
    if (this.#form.hidden || matchMedia("(pointer: coarse)").matches) return false;
    this.#field.focus();
    return true;
  }

  #makeForm() {
    this.#field = build("textarea", { id: "chat-text", rows: 1, maxlength: 4000, dir: "auto", placeholder: say("chat.write"), enterkeyhint: "send" });
    this.#form = build("form", { class: "composer" }, build("label", { class: "unseen", for: "chat-text" }, say("chat.write")), this.#field,
      build("button", { type: "submit", class: "icon", id: "chat-send", "aria-label": say("chat.send") }, sign("send")));
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.#chat.write(this.#field.value)) return;
      this.#field.value = "";
      this.#render();
      this.#follow();
    });
    this.#field.addEventListener("keydown", (event) => {
      // While a word is being composed, as in Chinese, Enter chooses it.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      this.#form.requestSubmit();
    });
  }

  // -- what is shown

  get #isAtEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#list;
    return scrollHeight - scrollTop - clientHeight < near;
  }

  #follow() {
    this.#list.scrollTop = this.#list.scrollHeight;
    this.#hideNewer();
  }

  #hideNewer() {
    if (document.activeElement === this.#newer) this.#list.focus(); // It would take the focus with it.
    this.#newer.hidden = true;
  }

  /** A few times a second, and never while no one can see it. */
  #soon() {
    if (!this.#isOpen || this.#timer) return;
    this.#timer = setTimeout(() => requestAnimationFrame(() => {
      this.#timer = 0;
      if (this.#isOpen) this.#render();
    }), pause);
  }

  #render() {
    const wasAtEnd = this.#isAtEnd;
    const { entries, canWrite } = this.#chat;
    const there = new Set(entries);
    for (const [entry, { element }] of this.#shown) {
      if (there.has(entry)) continue;
      element.remove();
      this.#shown.delete(entry);
    }
    let hasCome = false;
    for (const [index, entry] of entries.entries()) {
      const shown = this.#shown.get(entry);
      if (shown?.version === entry.version) continue;
      const made = this.#message(entry, entries[index - 1]);
      if (shown) replace(shown.element, made);
      else this.#list.append(made);
      hasCome ||= !shown;
      this.#shown.set(entry, { element: made, version: entry.version });
    }
    if (entries.length === 0) this.#list.append(this.#empty);
    else this.#empty.remove();
    this.#form.hidden = !canWrite;
    this.#refusal.hidden = canWrite;
    if (wasAtEnd) this.#follow();
    else if (hasCome) this.#newer.hidden = false;
  }

  #message(entry, before) {
    const isMore = before && before.sender === entry.sender && before.name === entry.name && entry.time - before.time < together;
    const message = build("article", { class: "message" },
      build("header", {}, name(entry),
        build("time", { datetime: new Date(entry.time).toISOString() }, this.#clock.format(entry.time))),
      words(entry.text));
    for (const [name, is] of Object.entries({ own: entry.isOwn, follows: isMore, sending: entry.state === "sending" })) {
      message.classList.toggle(name, Boolean(is));
    }
    if (entry.more > 0) message.append(folded(entry));
    if (entry.state === "failed") {
      message.append(build("p", { class: "failure" }, say("chat.failed")), button(say("all.again"), () => {
        this.#chat.again(entry);
        this.#field.focus();
      }));
    }
    return message;
  }
}

/** In its place, as far open as it was, with the focus where it was. */
function replace(before, made) {
  const hadFocus = before.contains(document.activeElement);
  const details = made.querySelector("details");
  if (details && before.querySelector("details")?.open) {
    details.open = true;
    details.unfold();
  }
  before.replaceWith(made);
  if (hadFocus) made.querySelector("summary")?.focus();
}

/** By whom it is. What has no sender that is known is said in quiet letters, in which no one's name is. */
function name({ sender, name, isOwn }) {
  return build("bdi", { class: sender ? "name" : "name hint" }, isOwn ? say("chat.you") : name);
}

/** What came of one sender without a pause: the last of it, for those who want to read it; closed it is a number alone. */
function folded({ more, folded: texts }) {
  const details = build("details", {}, build("summary", {}, say("chat.folded", { count: more })));
  details.unfold = () => {
    if (details.children.length === 1) details.append(...texts.map(({ text }) => words(text)));
  };
  details.addEventListener("toggle", () => {
    if (details.open) details.unfold();
  });
  return details;
}

/** Each text keeps its direction, and its lines theirs, to itself. One of many lines moves in itself: it drives no one's words out. */
function words(content) {
  const isTall = content.split("\n", mostLines + 1).length > mostLines;
  return build("p", { class: isTall ? "words tall" : "words", dir: "auto", ...(isTall && { tabindex: 0 }) }, ...pieces(content).map(({ text, href }) => (!href ? text
    : build("a", { href, target: "_blank", rel: "noopener noreferrer", dir: "ltr" }, text))));
}
