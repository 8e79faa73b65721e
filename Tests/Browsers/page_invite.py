"""The invitation card: there while one is alone; its link, copied, passed on and scanned, is the same; nothing but the server that makes a link
for many learns of it, and a host stops those that were made. That with --lan it has the addresses of the network is looked at by page, which has such a server."""

import asyncio
import json
import os
import re
import sys
import urllib.parse

from harness import rest
from harness.person import IN_CALL, Person, new_tab

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Scripts"))
from zbar import Zbar  # noqa: E402 (shared with the test of the encoder)

# What the device would do with a link, and all that the page says to any server.
DEVICE = """
Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } });
navigator.share = async (what) => { window.shared = what; };
window.said = [];
const plain = window.fetch.bind(window);
window.fetch = (url, options = {}) => {
  window.said.push(`${url} ${JSON.stringify([...new Headers(options.headers)])} ${options.body ?? ""}`);
  return plain(url, options);
};
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
  window.said.push(String(data));
  return send.call(this, data);
};
"""
# The list of links that the card asks for as it comes is answered as it is then, and late.
HELD = """
const asked = window.fetch;
let open;
const opened = new Promise((done) => { open = done; });
window.fetch = async (url, options = {}) => {
  const answer = await asked(url, options);
  if (window.isHeld || options.method !== "GET" || !new URL(url, location).pathname.endsWith("/invitations")) return answer;
  window.isHeld = true;
  await opened;
  return answer;
};
window.release = () => {
  open();
  return new Promise((done) => setTimeout(done, 200));
};
"""
CARD = "document.getElementById('invite-card')"
OPEN = f"{CARD} && !{CARD}.hidden"
LINK = "document.getElementById('invite-link').value"
# Where the card's buttons have been, frame by frame; the server, which answers at once here, has a way of 200 ms to go.
STILL = """
window.places = {};
const far = window.fetch;
window.fetch = async (url, options = {}) => {
  if (new URL(url, location).pathname.endsWith("/invitations")) await new Promise((done) => setTimeout(done, 200));
  return far(url, options);
};
(function look() {
  requestAnimationFrame(look);
  const buttons = document.querySelectorAll("#invite-card button");
  for (const button of [...buttons].filter((each) => each.checkVisibility())) {
    const { left, top } = button.getBoundingClientRect();
    window.places[button.id] = [...new Set(window.places[button.id]).add(`${Math.round(left)}, ${Math.round(top)}`)];
  }
})();
"""
# The modules of the code as it is drawn.
MODULES = """const code = document.querySelector("#invite-card .code");
const size = code.viewBox.baseVal.width - 8;
const drawn = new Path2D(code.firstElementChild.getAttribute("d"));
const context = new OffscreenCanvas(1, 1).getContext("2d");
return Array.from({ length: size }, (_, y) => Array.from({ length: size }, (_, x) => Number(context.isPointInPath(drawn, x + 0.5, y + 0.5))));"""
BUTTON = """[...document.querySelectorAll("#invite-card button")].find((each) => each.textContent === %s)"""


async def _press(person, label):
    await person.until(f"!!{BUTTON % json.dumps(label)}")
    await person.tab.evaluate(f"{BUTTON % json.dumps(label)}.click()")


async def _scanned(person):
    """What a telephone reads from the screen."""
    await person.until("document.querySelector('#invite-card .code').checkVisibility()")
    return Zbar().read(await person.tab.evaluate(MODULES))


async def _alone(report, server, browser, other):
    """A room of one's own: the link by all three ways, a guest who comes by it, the card by key."""
    ada = Person(await new_tab(browser, DEVICE), "Ada")
    await ada.tab.resize(1280, 800)
    await ada.tab.open(server.ORIGIN)
    await ada.until("document.getElementById('join-button').textContent")
    await ada.tab.evaluate("document.getElementById('name').value = 'Ada'")
    await ada.click("join-button")
    await ada.until(f"{IN_CALL} && {OPEN}")
    link = await ada.tab.evaluate(f"return {LINK}")
    await _press(ada, "Copy link")
    copied = await ada.until("window.copied")
    await _press(ada, "Share…")
    shared = await ada.until("window.shared?.url")
    scanned = await _scanned(ada)
    holds = report.row(f"page, {browser.name}: the card's link, copied, shared and scanned", "the room's address, four times",
                       link if {copied, shared, scanned} == {link} else (link, copied, shared, scanned),
                       {copied, shared, scanned} == {link}
                       and re.fullmatch(re.escape(server.ORIGIN) + r"/\?room=[a-z]+-[a-z]+-[a-z]+-\d\d", link) is not None)

    bob = Person(await new_tab(other, DEVICE), "Bob")
    await bob.tab.open(f"{scanned}&name=Bob&autojoin=1")
    await bob.until(IN_CALL)
    await ada.sees("Bob")
    await ada.until(f"!({OPEN})")
    await bob.until("document.body.hasAttribute('data-complete')")
    is_shown = await bob.tab.evaluate(f"return {OPEN}")
    await ada.tab.evaluate("document.getElementById('call').focus()")
    await ada.tab.press("c")
    await ada.until(f"{OPEN} && document.activeElement.textContent === 'Copy link'")
    await bob.tab.evaluate("await roostPage.room.raiseHand()")
    await ada.sees("Bob", "!tile.querySelector('.hand-mark').hidden")
    stays = await ada.tab.evaluate(f"return {OPEN} && document.activeElement.textContent === 'Copy link'")
    await ada.tab.evaluate("window.copied = null")
    await ada.tab.press("Enter")
    await ada.until("window.copied")
    await ada.tab.press("Escape")
    await ada.until(f"!({OPEN}) && document.activeElement.id === 'invite'")
    await bob.leave()
    await ada.leave()
    return holds & report.row(f"page, {browser.name}: somebody comes by it; then the card by key",
                              "it goes; C opens it, it stays as the other raises a hand, Enter copies, Escape closes",
                              f"shown to the second: {is_shown}, stays: {stays}", not is_shown and stays)


async def _many(report, options, server, browser, other):
    """A host's link gives each who opens it an identity of their own, and nothing of it is said to any server but to open it."""
    room = f"many {browser.name}"
    token = rest.token(options.roost, "--admin", "--room", room, "--identity", "host", "--name", "Hella")
    host = Person(await new_tab(browser, DEVICE + HELD), "Hella")
    await host.tab.open(f"{server.ORIGIN}/?{urllib.parse.urlencode({'room': room})}#token={token}")
    await host.until("document.getElementById('name').readOnly")
    await host.click("join-button")
    await host.until(f"{IN_CALL} && {OPEN}")
    # What the card asked as it came is answered last: which links there were before.
    await host.until("window.isHeld")
    before = await host.tab.evaluate(f"return {LINK}")
    await _press(host, "Make a link")
    await host.until(LINK)
    await host.tab.evaluate("await window.release()")
    await _press(host, "Copy link")
    link = await host.tab.evaluate(f"return {LINK}")
    copied, scanned = await host.until("window.copied"), await _scanned(host)
    secret = link.partition("#invitation=")[2]
    said = await host.tab.evaluate("return [...window.said, ...performance.getEntriesByType('resource').map(({ name }) => name)]")
    leaks = [each[:60] for each in said if secret in each]
    holds = report.row(f"page, {browser.name}: a link for many", "made when it is asked for, copied and scanned, said to no server",
                       f"{link.replace(secret, '…')}, before: “{before}”, said: {leaks or 'nowhere'}",
                       before == "" and len(secret) >= 20 and {copied, scanned} == {link} and not leaks)

    guests = []
    for each, name in ((other, "Ann"), (browser, "Ben")):
        guest = Person(await new_tab(each, DEVICE), name)
        await guest.tab.open(scanned)
        await guest.until("document.getElementById('room').readOnly && !document.getElementById('name').readOnly")
        await guest.tab.evaluate(f"document.getElementById('name').value = {json.dumps(name)}")
        await guest.click("join-button")
        await guest.until(IN_CALL)
        await host.sees(name)
        guests.append(guest)
    identities = await host.tab.evaluate("return [...roostPage.room.participants.values()].map(({ identity }) => identity)")
    addresses = [await each.tab.evaluate("return location.href") for each in guests]
    offered = await guests[0].tab.evaluate("return !!document.getElementById('invite-card')?.hidden")
    again = await _again(host, guests[0])
    for person in (host, *guests):
        await person.leave()
    holds &= report.row(f"page, {browser.name}: one of them loads the page again, in a room with a space in its name", "still invited, under that name",
                        again, again == ["Ann", True, True])
    return holds & report.row(f"page, {browser.name}: two open it", "an identity of its own each, nothing of the link in the address",
                              f"{len(set(identities))} identities, card closed: {offered}",
                              len(set(identities)) == 2 and not any(secret in each for each in addresses) and offered)


async def _again(host, guest):
    """What a guest's page has kept when it is loaded again, which then joins: the name, and whether it and the room are the invitation's."""
    await guest.tab.evaluate("window.isOld = true")
    await guest.tab.open(await guest.tab.evaluate("return location.href"))
    fields = "[document.getElementById('name').value, ...['name', 'room'].map((id) => document.getElementById(id).readOnly)]"
    kept = await guest.until(f"!window.isOld && document.getElementById('name')?.value && {fields}")
    await guest.click("join-button")
    await guest.until(IN_CALL)
    await host.sees(guest.name)
    return kept


async def _places(host):
    """Where each button of the card has been, once all that comes to it has had time to."""
    await asyncio.sleep(0.8)
    return await host.tab.evaluate("return window.places")


async def _stopped(report, options, server, browser, other):
    """A host who has loaded the page again still stops the links that it has made; who has come by one stays."""
    room = f"stopped {browser.name}"
    token = rest.token(options.roost, "--admin", "--room", room, "--identity", "host", "--name", "Hella")
    host = Person(await new_tab(browser, DEVICE + STILL), "Hella")
    await host.tab.resize(1280, 800)
    await host.tab.open(f"{server.ORIGIN}/?{urllib.parse.urlencode({'room': room})}#token={token}")
    await host.until("document.getElementById('name').readOnly")
    await host.click("join-button")
    await host.until(f"{IN_CALL} && {OPEN}")
    places = await _places(host)
    await host.click("invite-make")
    link = await host.until(LINK)

    async def opens(name):
        guest = Person(await new_tab(other), name)
        await guest.tab.open(link)
        await guest.until("document.getElementById('room').readOnly")
        await guest.tab.evaluate(f"document.getElementById('name').value = {json.dumps(name)}")
        await guest.click("join-button")
        return guest

    ann = await opens("Ann")
    await ann.until(IN_CALL)
    # The token is kept by the tab; the page that comes is another one.
    await host.tab.evaluate("window.isOld = true")
    await host.tab.open(f"{server.ORIGIN}/?{urllib.parse.urlencode({'room': room})}")
    await host.until("!window.isOld && document.getElementById('name').readOnly")
    await host.click("join-button")
    await host.until(f"{IN_CALL} && 'complete' in document.body.dataset")
    await host.sees("Ann")
    await host.click("invite")
    await host.until(OPEN)
    again = await _places(host)
    count = await host.until("((links) => links?.checkVisibility() && links.textContent)(document.getElementById('invite-links'))")
    rest.invite(server, options.roost, room, ttl=3600)
    # By keyboard, and what another host has made meanwhile with it.
    await host.tab_to("invite-stop")
    await host.tab.press("Enter")
    await host.until("document.activeElement.id === 'invite-make' && !document.getElementById('invite-stop').checkVisibility()")
    said = await host.tab.evaluate("return document.getElementById('status').textContent")
    left = rest.invitations(server, options.roost, room)
    ben = await opens("Ben")
    refused = await ben.text("notice-text")
    stays = await ann.tab.evaluate(f"return {IN_CALL}")
    for person in (host, ann, ben):
        await person.leave()
    holds = report.row(f"page, {browser.name}: the card's buttons, from its first picture on, with no link and with one", "each stays where it is",
                       f"{places}, {again}", {"invite-make", "invite-close"} == set(places) and set(again) == {*places, "invite-stop"}
                       and all(len(each) == 1 for each in (*places.values(), *again.values())))
    return holds & report.row(f"page, {browser.name}: all links are stopped, after the page was loaded again", "found, stopped, no one more comes in",
                      f"“{count}” “{said}” {len(left)} left, “{refused}”, the first is in: {stays}",
                      count == "1 link lets others in." and "No link lets anyone in now" in said and not left and "Ask for" in refused and stays)


async def _gone(report, server, browser):
    """An invitation that the server doesn't know."""
    eve = Person(await new_tab(browser), "Eve")
    await eve.tab.open(f"{server.ORIGIN}/?room=gone#invitation=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
    await eve.until("document.getElementById('room').readOnly")
    await eve.tab.evaluate("document.getElementById('name').value = 'Eve'")
    await eve.click("join-button")
    said = await eve.text("notice-text")
    view = await eve.tab.evaluate("return document.body.dataset.view")
    await eve.leave()
    return report.row(f"page, {browser.name}: an invitation that holds no more", "said, with what to do", f"“{said}”",
                      "Ask for" in said and view == "lobby")


async def on_the_network(report, server, chromium):
    """Opened on the server's own machine, the card has the addresses at which others reach it. `server`: one with --lan."""
    seen = []
    for origin in ("https://127.0.0.1:7880", server.ORIGIN):
        ada = Person(await new_tab(chromium, DEVICE), "Ada")
        await ada.tab.trust_everybody()
        await ada.tab.open(f"{origin}/?room=attic&name=Ada&autojoin=1")
        await ada.until(f"{IN_CALL} && {OPEN}")
        seen += [await ada.tab.evaluate(f"return {LINK}"), await _scanned(ada)]
        await ada.leave()
    return report.row("page, with --lan: the card's link, opened here and there", "the network's address", sorted(set(seen)),
                      set(seen) == {f"{server.ORIGIN}/?room=attic"})


async def meet(report, options, server, chromium, firefox):
    pairs = ((chromium, firefox), (firefox, chromium))
    holds = all(await asyncio.gather(*(_alone(report, server, *pair) for pair in pairs)))
    for browser, other in pairs:
        holds &= await _many(report, options, server, browser, other)
        holds &= await _stopped(report, options, server, browser, other)
        holds &= await _gone(report, server, browser)
    return holds
