"""What the page says when something ends or breaks: the server restarts, the way to it is cut, the call is over."""

import asyncio
import signal

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.firefox import Firefox
from harness.person import IN_CALL, SETTLED, TABS, Person
from harness.server import Server
from page_invite import OPEN

REASONS = ["removed", "duplicateIdentity", "movedElsewhere", "roomClosed", "tokenExpired", "serverShutdown", "connectionLost"]
# Each tile says that what it shows may be past, to the eye and to the ear.
TILES = """[...document.querySelectorAll('.tile')].map((tile) => [tile.querySelector('.tile-note').textContent,
  tile.ariaLabel.includes('Reconnecting'), getComputedStyle(tile.querySelector('.avatar')).opacity < 0.5].join())"""
DIM = "Reconnecting…,true,true"
CLEAR = ",false,false"
BANNER = "document.getElementById('banner-text').textContent"


async def _texts(report, server, browser):
    """Each end has a text of its own, and only what may help offers to join again."""
    person = await Person.arrive(browser, server, "texts", "Ada")
    texts = await person.tab.evaluate(f"""
      const {{ ending }} = await import("/messages.js");
      return {REASONS}.map((reason) => ending({{ reason }}));
    """)
    await person.leave()
    ends = {reason for reason, end in zip(REASONS, texts) if not end["again"]}
    return report.row("page: texts of `closed`", f"{len(REASONS)} texts, no way back where there is none",
                      f"{len({end['text'] for end in texts})} texts, none for {', '.join(sorted(ends))}",
                      len({end["text"] for end in texts}) == len(REASONS) and ends == {"removed", "tokenExpired"})


async def _twice(report, server, browser):
    """The same identity again: the older page says so and offers to come back."""
    older = await Person.join(browser, server, f"twice-{browser.name}", "Ada", identity="ada")
    # What hangs open is over with the call.
    await older.click("view")
    await older.until("!document.getElementById('view-menu').hidden")
    newer = await Person.join(browser, server, f"twice-{browser.name}", "Ada", identity="ada")
    said = await older.text("notice-text")
    menu = await older.tab.evaluate("return [document.getElementById('view-menu').hidden, document.getElementById('view').ariaExpanded]")
    offered = await older.tab.evaluate("return document.getElementById('notice-action').textContent")
    await older.click("notice-action")
    await older.until("document.body.dataset.view === 'call'")
    await newer.text("notice-text")
    for person in (older, newer):
        await person.leave()
    return report.row(f"page, {browser.name}: joined again elsewhere", "said, and back by one click; a menu is closed", f"“{said}” {offered}, {menu}",
                      "another window" in said and offered == "Rejoin" and menu == [True, "false"])


async def _partly(report, server, browser):
    """The part of the page that comes with the call doesn't load: that is said, and the call goes on without it."""
    ada = await Person.arrive(browser, server, f"partly-{browser.name}", "Ada", publish=0)
    await ada.until(SETTLED)
    # From here on no script is let in.
    await ada.tab.evaluate("""document.head.append(Object.assign(document.createElement("meta"),
      { httpEquiv: "Content-Security-Policy", content: "script-src 'none'" }))""")
    await ada.click("join-button")
    said = await ada.text("notice-text")
    label, is_in = await ada.tab.evaluate("""return [document.getElementById("notice-action").textContent,
      document.body.dataset.view === "call" && document.querySelectorAll(".tile").length === 1]""")
    await ada.click("leave")
    await ada.until("document.body.dataset.view === 'lobby' && document.getElementById('notice').hidden")
    await ada.leave()
    return report.row(f"page, {browser.name}: a part of the page doesn't load", "said, to be tried again, and one is in the call all the same",
                      f"“{said}” {label}, in: {is_in}", "couldn't be loaded" in said and label == "Try again" and is_in)


async def _over_while_joining(report, server, browser):
    """A call that ends while its first offer is being made: a closed connection answers nothing more, the page does."""
    room = f"over-{browser.name}"
    older = await Person.arrive(browser, server, room, "Ada", """
      RTCPeerConnection.prototype.createOffer = () => { window.isOffering = true; return new Promise(() => {}); };""", identity="ada")
    await older.click("join-button")
    await older.until("window.isOffering")
    newer = await Person.join(browser, server, room, "Ada", identity="ada")
    said = await older.text("notice-text")
    button = await older.until("!document.getElementById('join-button').disabled && document.getElementById('join-button').textContent")
    for person in (older, newer):
        await person.leave()
    return report.row(f"page, {browser.name}: the call ends while it is being joined", "said, and it can be joined again",
                      f"“{said}” {button}", "another window" in said and button == "Join")


async def _cut(report, server, browser):
    """A server that stands still is spoken of, and no more when it goes on."""
    ada, bob = await asyncio.gather(*(Person.join(browser, server, f"cut-{browser.name}", name) for name in ("Ada", "Bob")))
    await ada.sees_picture("Bob")
    server.process.signal(signal.SIGSTOP)
    try:
        said = await ada.until(BANNER, 20)
        tiles = await ada.tab.evaluate(f"return {TILES}")
        role = await ada.tab.evaluate("return document.getElementById('banner').getAttribute('role')")
    finally:
        server.process.signal(signal.SIGCONT)
    for person in (ada, bob):
        await person.until(f"!{BANNER}", 20)
    await ada.sees_picture("Bob")
    # Each hears of the other that it is back as well.
    await ada.until(f"{TILES}.every(tile => tile === '{CLEAR}')", 20)
    after = await ada.tab.evaluate(f"return {TILES}")
    # One of them alone, as the server says when nothing comes from there.
    happens = """roostPage.room.dispatchEvent(new CustomEvent("event", { detail: {
      type: "participant.%s", participant: [...roostPage.room.participants.values()][0] } }))"""
    alone = []
    for kind in ("reconnecting", "reconnected"):
        await ada.tab.evaluate(happens % kind)
        alone.append(sorted(await ada.tab.evaluate(f"return {TILES}")))
    for person in (ada, bob):
        await person.leave()
    holds = report.row(f"page, {browser.name}: the server stands still for a while", "said while it does, on each tile too, then all goes on",
                       f"“{said}” {tiles}", "Reconnecting" in said and role == "status" and tiles == [DIM, DIM] and after == [CLEAR, CLEAR])
    return holds & report.row(f"page, {browser.name}: another participant reconnects", "said on its tile", alone,
                              alone == [[CLEAR, DIM], [CLEAR, CLEAR]])


async def _lost_answer(report, options, browser, other):
    """A mute that the server never answers: the session is another then, which heard of it. That is no error."""
    async with Server(options.roost) as server:
        ada, bob = await asyncio.gather(Person.join(browser, server, "lost", "Ada"), Person.join(other, server, "lost", "Bob"))
        await ada.sees_picture("Bob")
        await bob.sees_picture("Ada")
        before = await ada.tab.evaluate("return roostPage.room.me.id")
        await ada.tab.evaluate("""
          window.noticed = [];
          new MutationObserver(() => window.noticed.push(document.getElementById("notice-text").textContent))
            .observe(document.getElementById("notice-text"), { childList: true });""")
        server.process.signal(signal.SIGSTOP)
        await ada.click("microphone")
        server.process.signal(signal.SIGKILL)
    async with Server(options.roost) as server:
        await ada.until(f"roostPage.room.me?.id !== '{before}' && roostPage.room.publications.every(({{ id }}) => id)", 30)
        await bob.sees("Ada", "!tile.querySelector('.microphone-mark').hidden && tile.classList.contains('has-picture')", 30)
        noticed, is_sent = await ada.tab.evaluate(
            "return [window.noticed, roostPage.room.publications.some(({ kind, track }) => kind === 'audio' && track.enabled)]")
        await ada.click("microphone")
        await bob.sees("Ada", "tile.querySelector('.microphone-mark').hidden")
        for person in (ada, bob):
            await person.leave()
    return report.row(f"page, {browser.name}: muted as the server goes, which comes back without the session", "muted, no error, then unmuted",
                      noticed or "no error", noticed == [] and not is_sent)


async def _renewed(report, options, browser, other):
    """The server comes back without the session, and without the other: how many are here, the card, and one's own hand are of the next one."""
    async with Server(options.roost) as server:
        ada, bob = await asyncio.gather(*(Person.join(each, server, "renewed", name, publish=0) for each, name in ((browser, "Ada"), (other, "Bob"))))
        await ada.sees("Bob")
        await ada.until(f"{IN_CALL} && !({OPEN})")
        await ada.tab.evaluate("document.getElementById('call').focus()")
        await ada.tab.press("h")
        await ada.until("document.getElementById('hand').ariaPressed === 'true'")
        before = await ada.tab.evaluate("return roostPage.room.me.id")
        # What Bob does from here on is heard of by the next server alone.
        server.process.signal(signal.SIGKILL)
        await bob.leave()
    async with Server(options.roost) as server:
        await ada.until(f"roostPage.room.me?.id !== '{before}'", 30)
        here = await ada.until("((text) => text === 'no one else is here' && text)(document.getElementById('place-people').textContent)")
        await ada.until(OPEN)
        hand = await ada.until("roostPage.room.me.hand && document.getElementById('hand').ariaPressed")
        await ada.leave()
    return report.row(f"page, {browser.name}: the server comes back without the session and the other", "alone, by the card too; the hand is up again",
                      f"{here}, hand: {hand}", hand == "true")


async def _restart(report, options, chromium, firefox):
    """SIGTERM: the time is said to all at once, then that it has come and what to do."""
    async with Server(options.roost, options=("--drain.seconds", "4")) as server:
        people = await asyncio.gather(
            *(Person.join(browser, server, "restart", browser.name) for browser in (chromium, firefox)))
        await people[0].sees_picture("firefox")
        server.process.signal(signal.SIGTERM)
        said = [await person.until(BANNER) for person in people]
        ends = [await person.text("notice-text") for person in people]
        left = [await person.tab.evaluate(f"return {BANNER}") for person in people]
        for person in people:
            await person.leave()
    return report.row("page: the server restarts", "when, then what to do", f"“{said[0]}” “{ends[0]}”",
                      all("restarts at" in each for each in said) and all("stopped" in each for each in ends)
                      and left == ["", ""])


async def run(report, options):
    async with Chromium() as chromium, Firefox() as firefox:
        async with Server(options.roost) as server, kept_on_failure(report, options.evidence, TABS, (server.process,)):
            # Each by itself, and none in need of the whole machine.
            holds = all(await asyncio.gather(_texts(report, server, chromium), _twice(report, server, chromium),
                                             _twice(report, server, firefox),
                                             _partly(report, server, chromium), _partly(report, server, firefox),
                                             _over_while_joining(report, server, chromium),
                                             _over_while_joining(report, server, firefox)))
            for browser in (chromium, firefox):
                holds &= await _cut(report, server, browser)
            server.process.require_running()
        async with kept_on_failure(report, options.evidence, TABS):
            holds &= await _restart(report, options, chromium, firefox)
            holds &= await _renewed(report, options, chromium, firefox)
            holds &= await _renewed(report, options, firefox, chromium)
            holds &= await _lost_answer(report, options, chromium, firefox)
            return holds & await _lost_answer(report, options, firefox, chromium)
