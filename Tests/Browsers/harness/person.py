"""Somebody at the server's own page, in a tab of their own: what they see of others, and what they do."""

import json
import urllib.parse

# Whatever the page's rules forbid and whatever its scripts let fall, from the first line on.
WATCH = """
window.complaints = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.complaints.push(`policy: ${event.violatedDirective} ${event.blockedURI}`));
window.addEventListener("error", (event) => window.complaints.push(`error: ${event.message}`));
window.addEventListener("unhandledrejection", (event) => window.complaints.push(`rejection: ${event.reason}`));
// As when a device is pulled out, or the browser's own "stop sharing" is pressed. Firefox passes on no such event of a script's.
const ended = new WeakMap();
MediaStreamTrack.prototype.addEventListener = function (type, listener, ...rest) {
  if (type === "ended") ended.set(this, [...(ended.get(this) ?? []), listener]);
  return EventTarget.prototype.addEventListener.call(this, type, listener, ...rest);
};
window.endTrack = (track) => {
  track.stop();
  for (const listener of ended.get(track) ?? []) listener.call(track, new Event("ended"));
};
window.framesOf = async (tile) => {
  const track = tile?.querySelector("video").srcObject?.getVideoTracks()[0];
  const stats = await window.roostPage.peerConnection.getReceivers().find((each) => each.track === track)?.getStats();
  return [...stats?.values() ?? []].find((each) => each.type === "inbound-rtp")?.framesDecoded ?? 0;
};
"""
# The call shows, and all that belongs to it is there.
IN_CALL = "document.body.dataset.view === 'call' && 'complete' in document.body.dataset"
# The way in has asked for the devices that it wants, and has its answers.
SETTLED = "document.getElementById('preview-camera').hasAttribute('title') && !document.querySelector('[data-pending]')"

# Where the middle of an element is, once it stays where it is and nothing covers it; null: it isn't shown; what covers it, if that stays.
MIDDLE = """
const element = %s;
const middle = () => (({ x, y, width, height }) => [x + width / 2, y + height / 2])(element.getBoundingClientRect());
const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
if (!element.checkVisibility({ visibilityProperty: true, checkVisibilityCSS: true })) return null;
let before = null;
let top = null;
for (const end = Date.now() + 8000; Date.now() < end;) {
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
  const now = middle();
  top = document.elementFromPoint(...now);
  if (String(now) === String(before) && element.contains(top)) return now;
  before = now;
  await frame();
}
return `something covers it: ${top?.outerHTML.slice(0, 200)}`;
"""

# Every tab, for pictures of what was there when something failed.
TABS = []


async def new_tab(browser, stand_in=""):
    """`stand_in`: JavaScript that runs before the page's own."""
    tab = await browser.tab(WATCH + stand_in)
    TABS.append(tab)
    tab.name = f"{browser.name}-{len(TABS)}"
    return tab


class Person:
    """Somebody at the page, in a tab of their own."""

    def __init__(self, tab, name):
        self.tab = tab
        self.name = name

    @classmethod
    async def arrive(cls, browser, server, room, name, stand_in="", **query):
        tab = await new_tab(browser, stand_in)
        await tab.resize(1280, 800)
        query = urllib.parse.urlencode({"room": room, "name": name, **query})
        await tab.open(f"{server.ORIGIN}/?{query}")
        person = cls(tab, name)
        # A document is complete before its module has run, which writes what buttons say and hears them pressed.
        await person.until("document.getElementById('join-button').textContent")
        return person

    @classmethod
    async def join(cls, browser, server, room, name, stand_in="", **query):
        person = await cls.arrive(browser, server, room, name, stand_in, **query)
        await person.enter()
        return person

    async def enter(self):
        """Presses Join, with the devices that there are: a link that joins at once has none."""
        await self.until(SETTLED)
        await self.tab.evaluate("document.getElementById('join-button').click()")
        await self.until(IN_CALL)

    async def leave(self):
        TABS.remove(self.tab)
        await self.tab.close()

    async def until(self, expression, seconds=20):
        return await self.tab.wait_until(expression, seconds)

    async def click(self, id_):
        """With the pointer, in the middle of the element. What this screen has no room for is pressed as the menu does that has it in its place."""
        await self.click_on(f"document.getElementById({json.dumps(id_)})")

    async def click_on(self, element):
        """As `click`, of what the JavaScript `element` stands for, once it has come to rest."""
        place = await self.tab.evaluate(MIDDLE % element)
        if isinstance(place, str):
            raise TimeoutError(f"{self.tab.name}: {element}: {place}")
        if place is None:
            await self.tab.evaluate(f"({element}).click()")
        else:
            await self.tab.point_click(*place)

    async def point(self, element):
        """As `click_on`, of what comes and has to be seen: nothing else than the pointer presses it."""
        await self.until(f"({element})?.checkVisibility({{ visibilityProperty: true }})")
        await self.click_on(element)

    async def text(self, id_):
        """What is written there, once something is."""
        return await self.until(f"document.getElementById({json.dumps(id_)}).textContent")

    async def tab_to(self, target):
        """Presses Tab until the element of that id has the focus, or what `target()` says in JavaScript holds."""
        wanted = target() if callable(target) else f"document.activeElement.id === {json.dumps(target)}"
        for _ in range(30):
            if await self.tab.evaluate(f"return {wanted}"):
                return
            await self.tab.press("Tab")
        raise TimeoutError(f"{self.tab.name}: no way by Tab to {target}")

    def tile(self, name):
        """The tile with that caption, as JavaScript."""
        return ("[...document.querySelectorAll('.tile')].find((tile) => "
                f"tile.querySelector('.tile-name').textContent === {json.dumps(name)})")

    async def sees(self, name, what="true", seconds=20):
        """Waits until the tile of that name is there and `what` holds of it."""
        return await self.until(f"((tile) => tile && ({what}))({self.tile(name)})", seconds)

    async def sees_no(self, name):
        return await self.until(f"!{self.tile(name)}")

    async def sees_picture(self, name):
        """Waits until the picture is shown and goes on."""
        frames = f"await framesOf({self.tile(name)})"
        await self.sees(name, "tile.classList.contains('has-picture')")
        first = await self.tab.evaluate(f"return {frames}")
        return await self.until(f"{frames} > {first + 5}")
