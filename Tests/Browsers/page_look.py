"""What the page looks like where it is hard to look at: small, narrow, in forced colours; and what stands for people without pictures."""

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.guests import guests
from harness.person import IN_CALL, TABS, Person
from harness.server import Server

# Name and what its avatar shows: letters and digits alone, of the first word and the last.
INITIALS = [("Ann (phone)", "AP"), ("Ada", "A"), ("(you)", "Y"), ("mary-jane o'neill smith", "MS"), ("R2 D2", "RD"),
            ("🦊 Fox", "F"), ("👩‍👩‍👧 🇩🇪", "👩‍👩‍👧"), ("山田太郎", "山"), ("Élodie Ève", "ÉÈ"), ("ßen", "ß"),
            ("محمد علي", "مع"), ("हिन्दी", "हि"), ("~ * ~", "~"), ("  Bob   ", "B"), ("", "")]
# Hues of a thousand identities and of neighbours.
HUES = """
const { hue } = await import("/initials.js");
const apart = (one, other) => Math.min(Math.abs(one - other), 360 - Math.abs(one - other));
const buckets = new Array(12).fill(0);
for (let number = 0; number < 1000; number++) buckets[Math.floor(hue(`person-${(number * 7919) % 99991}`) / 30)] += 1;
const near = [];
for (const name of ["guest-", "user", "Ann", "станция "]) {
  for (let number = 1; number < 100; number++) near.push(apart(hue(`${name}${number}`), hue(`${name}${number + 1}`)));
}
const few = [1, 2, 3, 4, 5, 6].map((number) => hue(`guest-${number}`));
const closest = Math.min(...few.flatMap((one, index) => few.slice(index + 1).map((other) => apart(one, other))));
return [Math.min(...buckets), Math.max(...buckets), Math.min(...near), closest];
"""
# Whether an edge of one colour stands out from what is beside it (WCAG 2, 1.4.11).
CONTRAST = """
const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const luminance = (color) => {
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  const parts = [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)].map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const ratio = (one, other) => {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
};
const behind = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const { backgroundColor } = getComputedStyle(each);
    if (!/, 0\\)$|transparent/.test(backgroundColor)) return backgroundColor;
  }
  return "white";
};
"""
EDGES = CONTRAST + """
const pale = [];
for (const each of document.querySelectorAll("input:not([type=checkbox]), select, .round, .menu, .notice, .plain")) {
  if (!each.checkVisibility() || each.closest(".preview-controls")) continue;
  const style = getComputedStyle(each);
  const edge = ratio(style.borderTopColor, behind(each.parentElement));
  // A button of a colour of its own needs no other edge.
  if (Math.max(edge, ratio(behind(each), behind(each.parentElement))) < 3 || style.borderTopWidth === "0px")
    pale.push(`${each.id || each.className} ${edge.toFixed(1)}`);
}
return pale;
"""
RING = CONTRAST + """
const tile = document.querySelector(".tile:not(.own)");
tile.toggleAttribute("data-speaking", true);
tile.toggleAttribute("data-muted", false);
document.getAnimations().forEach((each) => each.finish());
const ring = getComputedStyle(tile, "::after");
const isInset = ring.boxShadow.includes("inset");
const [line] = ring.boxShadow.match(/^rgba?\\([^)]*\\)/) ?? ["none"];
const beside = [line, getComputedStyle(document.body).backgroundColor];
const ratios = beside.map((each) => ratio(ring.borderTopColor, each).toFixed(1));
tile.toggleAttribute("data-muted", true);
document.getAnimations().forEach((each) => each.finish());
return [isInset, ...ratios, getComputedStyle(tile, "::after").borderTopColor];
"""


async def _stand_ins(report, server, browser):
    person = await Person.arrive(browser, server, f"look-{browser.name}", "Ada")
    shown = await person.tab.evaluate(f"""
      const {{ initials }} = await import("/initials.js");
      return {[name for name, _ in INITIALS]!r}.map(initials);""")
    least, most, near, closest = await person.tab.evaluate(HUES)
    await person.leave()
    wrong = [f"{name}: {seen} for {wanted}" for (name, wanted), seen in zip(INITIALS, shown) if seen != wanted]
    holds = report.row(f"page, {browser.name}: initials", f"as they are for {len(INITIALS)} names", wrong or "so", not wrong)
    return holds & report.row(f"page, {browser.name}: colours of 1,000 identities by twelfths of the circle, of neighbours",
                              "50–120 in each; 20° and more apart", f"{least}–{most}; {near}°, of six {closest}°",
                              least >= 50 and most <= 120 and near >= 20 and closest >= 20)


async def _same(report, server, browser, other):
    """One's own tile and the others' of it: the same initials on the same colour, whatever each calls it."""
    looks = """(({ textContent }, { backgroundColor }) => [textContent, backgroundColor].join())
      (tile.querySelector('.avatar'), getComputedStyle(tile.querySelector('.avatar')))"""
    people = [await Person.join(each, server, "look-same", name, identity=name.split()[0]) for each, name in
              ((browser, "Ann (phone)"), (other, "Bob"))]
    own = await people[0].sees("Ann (phone) (you)", looks)
    seen = await people[1].sees("Ann (phone)", looks)
    for person in people:
        await person.leave()
    return report.row("page: one's own avatar and the others' of it", "the same", f"{own} and {seen}", own == seen and own.startswith("AP,"))


async def _small(report, server, browser):
    """On a phone in either orientation: Join in view, names on small tiles, tiles by keyboard, what is said above the bar."""
    person = await Person.arrive(browser, server, f"small-{browser.name}", "Ada")
    await person.tab.resize(844, 390)
    await person.until("document.getElementById('preview').videoWidth > 0")
    bottom, scrolls = await person.tab.evaluate(
        "return [document.getElementById('join-button').getBoundingClientRect().bottom, document.documentElement.scrollHeight]")
    holds = report.row(f"page, {browser.name}: the lobby on a phone on its side, 844 × 390", "Join in view, no scrolling",
                       f"down to {bottom:.0f}, {scrolls} high", 0 < bottom <= 390 and scrolls <= 390)
    await person.tab.resize(390, 844)
    await person.click("join-button")
    await person.until(IN_CALL)
    async with guests(server, f"small-{browser.name}", [f"Person {number}" for number in range(30)]):
        await person.until("document.querySelectorAll('.tile').length === 31")
        small = await person.tab.evaluate("""
          await new Promise((resolve) => setTimeout(resolve, 400));
          const tile = [...document.querySelectorAll(".tile")].find((each) => each.textContent.includes("Person 7"));
          const caption = tile.querySelector("figcaption").getBoundingClientRect();
          const name = tile.querySelector(".tile-name");
          return [tile.clientWidth, getComputedStyle(tile.querySelector(".microphone-mark")).display,
            name.scrollWidth <= name.clientWidth, caption.left >= tile.getBoundingClientRect().left, tile.ariaLabel, tile.tabIndex];""")
        toasts, bar = await person.tab.evaluate("""return [...document.querySelectorAll("#status, .bar")]
          .map((each) => each.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])
          .sort(([, one], [, other]) => one - other)""")
        await person.click("leave")
        await person.until("document.body.dataset.view === 'lobby'")
        left = await person.text("status")
    await person.leave()
    holds &= report.row(f"page, {browser.name}: 31 people at 390 × 844", "tiles below 140 with the whole name and no mark, named for Tab",
                        small, small[0] < 140 and small[1] == "none" and small[2] and small[3] and small[4] == "Person 7, muted" and small[5] == 0)
    return holds & report.row(f"page, {browser.name}: what is said in passing", "above the bar; after leaving only that one left",
                              f"{toasts[1]:.0f} above {bar[0]:.0f}; “{left}”", toasts[1] <= bar[0] + 1 and left == "You left the call")


async def _edges(report, server, browser, dark):
    """Edges of controls and the ring of who speaks."""
    way = f"{browser.name}, {'dark' if dark else 'light'}"
    person = await Person.arrive(browser, server, "look-edges", "Ada")
    await person.tab.resize(1280, 800, dark=dark)
    await person.until("document.getElementById('preview').videoWidth > 0")
    is_so = await person.tab.evaluate("return matchMedia('(prefers-color-scheme: dark)').matches")
    pale = await person.tab.evaluate(EDGES)
    await person.click("join-button")
    await person.until(IN_CALL)
    async with guests(server, "look-edges", ["Bob"]):
        await person.sees("Bob")
        await person.click("microphone-more")
        await person.tab.evaluate("document.getElementById('notice').hidden = false")
        pale += await person.tab.evaluate(EDGES)
        is_inset, inner, outer, gone = await person.tab.evaluate(RING)
    await person.leave()
    holds = report.row(f"page, {way}: edges of fields, buttons and menus", "3:1 and more", pale or "everywhere", is_so == dark and not pale)
    return holds & report.row(f"page, {way}: the ring of who speaks", "3:1 to both sides, gone when muted", f"{inner} and {outer}, {gone}",
                              is_inset and min(float(inner), float(outer)) >= 3 and gone == "rgba(0, 0, 0, 0)")


async def _forced(report, server, browser):
    """In the user's own colours every control keeps an edge, and states that were colours keep a sign."""
    person = await Person.arrive(browser, server, f"look-forced-{browser.name}", "Ada")
    if browser.name == "chromium":
        await person.tab.force_colors()
    await person.until("document.getElementById('preview').videoWidth > 0")
    look = """[...document.querySelectorAll("#join-button, .round, .more, select, input:not([type=checkbox]), .tile, .menu, .notice")]
      .filter((each) => each.checkVisibility() && getComputedStyle(each).borderTopWidth === "0px").map(({ id, className }) => id || className)"""
    bare = await person.tab.evaluate(f"return {look}")
    await person.click("join-button")
    await person.until(IN_CALL)
    async with guests(server, f"look-forced-{browser.name}", ["Bob"]):
        await person.sees("Bob")
        await person.click("camera-more")
        await person.tab.evaluate("document.getElementById('notice').hidden = false")
        bare += await person.tab.evaluate(f"return {look}")
        quiet, speaking, on, off = await person.tab.evaluate("""
          const tile = [...document.querySelectorAll(".tile")].find((each) => !each.classList.contains("own"));
          const ring = () => getComputedStyle(tile, "::after").borderTopWidth;
          const before = ring();
          tile.toggleAttribute("data-speaking", true);
          tile.toggleAttribute("data-muted", false);
          const during = ring();
          const microphone = document.getElementById("microphone");
          const states = [getComputedStyle(microphone).outlineStyle];
          microphone.click();
          states.push(getComputedStyle(microphone).outlineStyle);
          return [before, during, ...states];""")
    is_forced = await person.tab.evaluate("return matchMedia('(forced-colors: active)').matches")
    await person.leave()
    return report.row(f"page, {browser.name}, forced colours: edges, who speaks, what is on", "all have them; both are seen",
                      f"{bare or 'all'}; {quiet} and {speaking}; {on} and {off}",
                      is_forced and not bare and quiet == "0px" and speaking == "4px" and (on, off) == ("solid", "none"))


async def run(report, options):
    async with Server(options.roost) as server, Chromium() as chromium, Firefox() as firefox:
        async with kept_on_failure(report, options.evidence, TABS, (server.process,)):
            holds = True
            for browser in (chromium, firefox):
                holds &= await _stand_ins(report, server, browser)
                holds &= await _small(report, server, browser)
            holds &= await _same(report, server, chromium, firefox)
            for dark in (False, True):
                holds &= await _edges(report, server, chromium, dark)
            holds &= await _edges(report, server, firefox, False)
            holds &= await _forced(report, server, chromium)
            async with Firefox(Firefox.DARK) as dark:
                holds &= await _edges(report, server, dark, True)
            async with Firefox(Firefox.FORCED_COLORS) as forced:
                holds &= await _forced(report, server, forced)
            server.process.require_running()
            return holds
