// The invitation card: a link, to copy, to pass on by the device's own means or to be scanned from the screen. It is there by itself while
// one is alone, and by its button. Fetched when a call begins.

import { element, sign, styled, text } from "/elements.js";
import { hasInvitation } from "/invitation.js";
import { announce, tell } from "/notices.js";
import { onLanguage, say } from "/words.js";

await styled("/invite.css");

const holds = 24 * 3600; // seconds for which a link for many is good
const here = ["localhost", "127.0.0.1", "[::1]"];

export class Invite {
  #call;
  #button = element("invite");
  #parts;
  #secretLink = null; // as the server made it
  #isDismissed = false;

  /** @param {import("/call.js").Call} call which has begun */
  constructor(call) {
    this.#call = call;
    this.#parts = build();
    this.#listen();
    call.addEventListener("enter", () => this.#follow());
    call.addEventListener("leave", () => {
      [this.#secretLink, this.#isDismissed] = [null, false];
      this.#show(false);
    });
    call.on("event", () => this.#follow());
    onLanguage(() => this.#write());
    element("stage").after(this.#parts.card);
    if (call.hasEntered) this.#follow();
  }

  get isOpen() {
    return !this.#parts.card.hidden;
  }

  close() {
    this.#isDismissed = true;
    this.#show(false);
    // On a narrow screen it is in the menu of what the bar has no room for.
    (this.#button.checkVisibility() ? this.#button : element("more")).focus();
  }

  #listen() {
    const { address, close, copy, make, share } = this.#parts;
    this.#button.addEventListener("click", () => (this.isOpen ? this.close() : this.#open()));
    close.addEventListener("click", () => this.close());
    address.addEventListener("change", () => this.#write());
    copy.addEventListener("click", () => this.#copy());
    share.addEventListener("click", () => this.#share());
    make.addEventListener("click", () => this.#make());
  }

  get #isAlone() {
    return this.#call.room?.participants.size === 0;
  }

  /** Whether a link for many is to be made before there is anything to pass on: by a host of a room that needs invitations. */
  get #isToBeMade() {
    return hasInvitation && this.#call.isHost && this.#secretLink === null;
  }

  /** It comes when one is alone, and goes with the first who comes. */
  #follow() {
    if (!this.#call.hasEntered) return;
    if (!this.#isAlone) this.#show(false);
    else if (!this.isOpen && !this.#isDismissed) {
      this.#show(true);
      announce(say("invite.alone-said"));
    }
  }

  #open() {
    this.#show(true);
    const { copy, make } = this.#parts;
    (make.hidden ? copy : make).focus();
  }

  #show(isShown) {
    this.#parts.card.hidden = !isShown;
    this.#button.setAttribute("aria-expanded", String(isShown));
    if (isShown) this.#write();
  }

  // -- the link

  /** Origins at which others may reach the page: its own, unless that is this computer's alone and the server knows better. */
  #origins() {
    const { hostname, origin, port, protocol } = location;
    const others = this.#call.hosts.map((host) => `${protocol}//${host}${port && `:${port}`}`);
    return here.includes(hostname) && others.length > 0 ? others : [...new Set([origin, ...others])];
  }

  #link() {
    if (this.#secretLink) return this.#secretLink;
    const link = new URL("/", this.#parts.address.value || location.origin);
    link.searchParams.set("room", this.#call.roomName);
    return link.href;
  }

  /** What the card says now. */
  #write() {
    if (!this.isOpen) return;
    const { address, card, field, hint, link, make, title } = this.#parts;
    for (const [part, key] of this.#parts.words) part.textContent = say(key);
    for (const [part, key] of this.#parts.labels) part.setAttribute("aria-label", say(key));
    title.textContent = say(this.#isAlone ? "invite.alone" : "invite.title");
    const origins = this.#secretLink ? [] : this.#origins();
    const chosen = origins.includes(address.value) ? address.value : origins[0];
    address.replaceChildren(...origins.map((each) => new Option(each.split("//")[1], each, each === chosen, each === chosen)));
    field.hidden = origins.length < 2;
    hint.textContent = say(this.#hint(origins));
    make.hidden = !this.#isToBeMade;
    card.toggleAttribute("data-unmade", this.#isToBeMade);
    link.value = this.#isToBeMade ? "" : this.#link();
    this.#draw();
  }

  #hint(origins) {
    if (this.#isToBeMade) return "invite.make-hint";
    if (this.#secretLink) return "invite.made-hint";
    if (hasInvitation) return "invite.plain-hint";
    return here.includes(new URL(origins[0]).hostname) ? "invite.here-hint" : "invite.hint";
  }

  /** The page makes the code itself: no one else learns of the link. */
  async #draw() {
    const { code, link } = this.#parts;
    const { encode, outline } = await import("/qr.js");
    const rows = link.value && encode(link.value);
    code.toggleAttribute("hidden", !rows);
    if (!rows) return;
    // With the light around it that readers need.
    code.setAttribute("viewBox", `-4 -4 ${rows.length + 8} ${rows.length + 8}`);
    code.firstElementChild.setAttribute("d", outline(rows));
  }

  // -- what is done with it

  async #copy() {
    const { link } = this.#parts;
    try {
      await navigator.clipboard.writeText(link.value);
      tell(say("invite.copied"));
    } catch {
      link.focus();
      link.select();
      tell(say("invite.by-hand"));
    }
  }

  async #share() {
    try {
      await navigator.share({ title: say("invite.subject", { room: this.#call.roomName }), url: this.#parts.link.value });
    } catch (error) {
      if (error.name !== "AbortError") tell(say("invite.unshared")); // Who changes their mind needs no message.
    }
  }

  /** Has the server make a link that gives each who opens it an identity of their own. */
  async #make() {
    const { copy, make } = this.#parts;
    make.disabled = true;
    try {
      const answer = await fetch(`/v1/rooms/${encodeURIComponent(this.#call.roomName)}/invitations`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${this.#call.token}` },
        body: JSON.stringify({ ttl: holds }),
      });
      if (!answer.ok) throw new Error(String(answer.status));
      this.#secretLink = (await answer.json()).url;
      this.#write();
      copy.focus();
    } catch {
      tell(say("invite.unmade"));
    } finally {
      make.disabled = false;
    }
  }
}

/** The card's elements, without their words. */
function build() {
  const button = (id, className) => Object.assign(document.createElement("button"), { type: "button", id: `invite-${id}`, className });
  const [copy, share] = [button("copy", "primary"), button("share", "small")];
  const [make, close] = [button("make", "primary make"), button("close", "icon")];
  close.append(sign("close"));
  share.hidden = !navigator.share;
  const title = text("h2", "", { id: "invite-title" });
  const hint = text("p", "", { className: "hint" });
  const link = Object.assign(document.createElement("input"), { id: "invite-link", readOnly: true, dir: "ltr" });
  link.addEventListener("focus", () => link.select());
  const [linkLabel, addressLabel] = [text("label", ""), text("label", "")];
  linkLabel.htmlFor = link.id;
  const address = Object.assign(document.createElement("select"), { id: "invite-address" });
  addressLabel.htmlFor = address.id;
  const field = text("div", "", { className: "field", hidden: true });
  field.append(addressLabel, address);
  const code = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  code.append(document.createElementNS("http://www.w3.org/2000/svg", "path"));
  code.setAttribute("class", "code");
  code.setAttribute("role", "img");
  const acts = text("div", "", { className: "acts" });
  acts.append(copy, share, make);
  const words = text("div", "", { className: "about" });
  words.append(hint, field, linkLabel, link, acts);
  const card = text("section", "", { id: "invite-card", className: "invite-card", hidden: true });
  card.setAttribute("aria-labelledby", title.id);
  card.append(title, close, words, code);
  return {
    address, card, close, code, copy, field, hint, link, make, share, title,
    words: [[copy, "invite.copy"], [share, "invite.share"], [make, "invite.make"], [linkLabel, "invite.link"], [addressLabel, "invite.address"]],
    labels: [[close, "invite.close"], [code, "invite.code"]],
  };
}
