// The invitation card: a link, to copy, to pass on by the device's own means or to be scanned from the screen. It is there by itself while
// one is alone, and by its button. Fetched when a call begins.

import { element, sign, styled, text } from "/elements.js";
import { hasInvitation } from "/invitation.js";
import { announce, tell } from "/notices.js";
import { REST } from "/rest.js";
import { onLanguage, say } from "/words.js";

await styled("/invite.css");

const holds = 24 * 3600; // seconds for which a link for many is good
const patience = 500; // ms for which the card waits for the list of links
const here = ["localhost", "127.0.0.1", "[::1]"];

export class Invite {
  #call;
  #button = element("invite");
  #parts;
  #made = null; // {id, url} as the server made it
  #links = []; // ids of those that let others in, as the server lists them
  #changes = 0; // of the links, made here: a list that was asked for before one is out of date
  #isDismissed = false;
  #isWanted = false; // it is open, or about to be
  #isByItself = false; // it has come since one is alone, and goes with the first who comes

  /** @param {import("/call.js").Call} call which has begun */
  constructor(call) {
    this.#call = call;
    this.#parts = build();
    this.#listen();
    call.addEventListener("enter", () => this.#follow());
    call.addEventListener("leave", () => {
      [this.#made, this.#links, this.#isDismissed] = [null, [], false];
      this.#hide();
    });
    for (const type of ["joined", "event"]) call.on(type, () => this.#follow());
    onLanguage(() => this.#write());
    element("stage").after(this.#parts.card);
    if (call.hasEntered) this.#follow();
  }

  get isOpen() {
    return !this.#parts.card.hidden;
  }

  close() {
    this.#isDismissed = true;
    this.#hide();
    // On a narrow screen it is in the menu of what the bar has no room for.
    (this.#button.checkVisibility() ? this.#button : element("more")).focus();
  }

  #listen() {
    const { address, close, copy, make, share, stop } = this.#parts;
    this.#button.addEventListener("click", () => (this.isOpen ? this.close() : this.#open()));
    close.addEventListener("click", () => this.close());
    address.addEventListener("change", () => this.#write());
    copy.addEventListener("click", () => this.#copy());
    share.addEventListener("click", () => this.#share());
    make.addEventListener("click", () => this.#make());
    stop.addEventListener("click", () => this.#stop());
  }

  get #isAlone() {
    return this.#call.room?.participants.size === 0;
  }

  /** Whether a link for many is to be made before there is anything to pass on: by a host of a room that needs invitations. */
  get #isToBeMade() {
    return this.#mayInvite && this.#made === null;
  }

  get #mayInvite() {
    return hasInvitation && this.#call.isHost;
  }

  /** It comes when one is alone, and goes with the first who comes; what one has opened oneself stays. */
  #follow() {
    if (!this.#call.hasEntered) return;
    if (this.#isWanted) {
      if (!this.#isAlone && this.#isByItself) this.#go();
      else this.#writeTitle();
    } else if (this.#isAlone && !this.#isDismissed) {
      this.#isByItself = true;
      this.#show();
      announce(say("invite.alone-said"));
    }
  }

  /** By itself: who is in it goes on at the call. */
  #go() {
    const hadFocus = this.#parts.card.contains(document.activeElement);
    this.#hide();
    if (hadFocus) element("call").focus();
  }

  async #open() {
    this.#isByItself = false;
    await this.#show();
    const { copy, make } = this.#parts;
    (make.hidden ? copy : make).focus();
  }

  /** With the links that there are, so that nothing moves under the hand as the server answers. */
  async #show() {
    this.#isWanted = true;
    this.#button.setAttribute("aria-expanded", "true");
    if (this.#mayInvite) await Promise.race([this.#find(), new Promise((done) => setTimeout(done, patience))]);
    if (!this.#isWanted) return;
    this.#parts.card.hidden = false;
    this.#write();
  }

  #hide() {
    this.#isWanted = false;
    this.#parts.card.hidden = true;
    this.#button.setAttribute("aria-expanded", "false");
  }

  // -- the link

  /** Origins at which others may reach the page: its own, unless that is this computer's alone and the server knows better. */
  #origins() {
    const { hostname, origin, port, protocol } = location;
    const others = this.#call.hosts.map((host) => `${protocol}//${host}${port && `:${port}`}`);
    return here.includes(hostname) && others.length > 0 ? others : [...new Set([origin, ...others])];
  }

  #link() {
    if (this.#made) return this.#made.url;
    const link = new URL("/", this.#parts.address.value || location.origin);
    link.searchParams.set("room", this.#call.roomName);
    return link.href;
  }

  /** What the card says now. */
  #write() {
    if (!this.isOpen) return;
    const { address, card, code, field, hint, link, links, make, stop } = this.#parts;
    for (const [part, key] of this.#parts.words) part.textContent = say(key);
    for (const [part, key] of this.#parts.labels) part.setAttribute("aria-label", say(key));
    this.#writeTitle();
    const origins = this.#made ? [] : this.#origins();
    const chosen = origins.includes(address.value) ? address.value : origins[0];
    address.replaceChildren(...origins.map((each) => new Option(each.split("//")[1], each, each === chosen, each === chosen)));
    field.hidden = origins.length < 2;
    hint.textContent = say(this.#hint(origins));
    make.hidden = !this.#isToBeMade;
    links.hidden = stop.hidden = this.#links.length === 0;
    links.textContent = say("invite.links", { count: this.#links.length });
    card.toggleAttribute("data-unmade", this.#isToBeMade);
    link.value = this.#isToBeMade ? "" : this.#link();
    code.toggleAttribute("hidden", link.value === "");
    this.#draw(link.value);
  }

  #writeTitle() {
    const words = say(this.#isAlone ? "invite.alone" : "invite.title");
    if (this.#parts.title.textContent !== words) this.#parts.title.textContent = words;
  }

  #hint(origins) {
    if (this.#isToBeMade) return "invite.make-hint";
    if (this.#made) return "invite.made-hint";
    if (hasInvitation) return "invite.plain-hint";
    return here.includes(new URL(origins[0]).hostname) ? "invite.here-hint" : "invite.hint";
  }

  /** The page makes the code itself: no one else learns of the link. Its place is kept until it is drawn. */
  async #draw(link) {
    if (link === "") return;
    const qr = await import("/qr.js").catch(() => null); // The link itself is there without it.
    if (link !== this.#parts.link.value) return;
    const { code } = this.#parts;
    const rows = qr?.encode(link);
    code.toggleAttribute("hidden", !rows);
    if (!rows) return;
    // With the light around it that readers need.
    code.setAttribute("viewBox", `-4 -4 ${rows.length + 8} ${rows.length + 8}`);
    code.firstElementChild.setAttribute("d", qr.outline(rows));
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
    const { room } = this.#call;
    make.disabled = true;
    try {
      const { id, url } = await this.#rest.invite(this.#call.roomName, { ttl: holds });
      if (room !== this.#call.room) return;
      this.#changes += 1;
      this.#made = { id, url };
      this.#links.push(id);
      this.#write();
      copy.focus();
    } catch {
      tell(say("invite.unmade"));
      make.disabled = false;
      make.focus(); // It has lost the focus while it couldn't be pressed.
    } finally {
      make.disabled = false;
    }
  }

  get #rest() {
    return new REST(this.#call.token);
  }

  /** Which links let others in: also those that other hosts have made, or this page before it was loaded again. */
  async #find() {
    if (!this.#mayInvite) return;
    const { room } = this.#call;
    const changes = this.#changes;
    let items;
    try {
      ({ items } = await this.#rest.invitations(this.#call.roomName));
    } catch {
      return; // It is asked again when the card is opened again.
    }
    if (room !== this.#call.room || changes !== this.#changes) return;
    this.#links = items.map(({ id }) => id);
    if (!this.#links.includes(this.#made?.id)) this.#made = null;
    this.#write();
  }

  /** Has the server let no one in any more by any of the links. */
  async #stop() {
    const { make, stop } = this.#parts;
    const { room, roomName } = this.#call;
    stop.disabled = true;
    await this.#find(); // Another host may have made one meanwhile.
    const left = [];
    for (const id of this.#links) {
      // What is no longer there is what one wanted of it.
      await this.#rest.revoke(roomName, id).catch(({ status }) => status !== 404 && left.push(id));
    }
    stop.disabled = false;
    if (room !== this.#call.room) return;
    this.#changes += 1;
    this.#links = left;
    if (!left.includes(this.#made?.id)) this.#made = null;
    tell(say(left.length === 0 ? "invite.stopped" : "invite.unstopped"));
    this.#write();
    (left.length === 0 ? make : stop).focus();
  }
}

/** The card's elements, without their words. */
function build() {
  const button = (id, className) => Object.assign(document.createElement("button"), { type: "button", id: `invite-${id}`, className });
  const [copy, share] = [button("copy", "primary"), button("share", "small")];
  const [make, close] = [button("make", "primary make"), button("close", "icon")];
  const stop = button("stop", "small stop");
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
  const links = text("p", "", { id: "invite-links", className: "hint", hidden: true });
  words.append(hint, field, linkLabel, link, acts, links, stop);
  const card = text("section", "", { id: "invite-card", className: "invite-card", hidden: true });
  card.setAttribute("aria-labelledby", title.id);
  card.append(title, close, words, code);
  return {
    address, card, close, code, copy, field, hint, link, links, make, share, stop, title,
    words: [[copy, "invite.copy"], [share, "invite.share"], [make, "invite.make"], [stop, "invite.stop"], [linkLabel, "invite.link"],
      [addressLabel, "invite.address"]],
    labels: [[close, "invite.close"], [code, "invite.code"]],
  };
}
