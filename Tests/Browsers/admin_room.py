"""/admin: what is done to a room: permissions, mute all, lock, who waits, links for guests, close; by pointer and by keyboard, and what those in it see of it."""

import asyncio

from harness import rest
from harness.administration import NOTICE, administer, row_of
from harness.person import IN_CALL, Person
from page_talk import VOICE

SAID = "document.getElementById('status').textContent"
BLOCKED = "'blocked' in document.getElementById('microphone').dataset"
WAITERS = "[...document.querySelectorAll('#waiters > li')].map((row) => row.querySelector('.name').textContent)"
CENTRE = "(({ x, y, width, height }) => [x + width / 2, y + height / 2])(%s.getBoundingClientRect())"


async def _point(admin, element):
    """Clicks with the pointer, wherever it is."""
    await admin.tab.evaluate(f"{element}.scrollIntoView({{ block: 'center' }})")
    x, y = await admin.tab.evaluate(f"return {CENTRE % element}")
    await admin.tab.point_click(x, y)


async def _permissions(report, options, server, room, admin, bob, browser):
    """What Ada may do: the camera taken by pointer, messages by keyboard, and both given again."""
    await admin.tab.evaluate(f"({row_of('Ada')}).querySelector('.closer').open = true")
    box = "[...(%s).querySelectorAll('.permissions label')].find((each) => each.innerText.trim() === '%%s').querySelector('input')" % row_of("Ada")
    camera, messages = box % "Turn on a camera", box % "Write messages"
    await admin.until(f"({row_of('Ada')}).querySelectorAll('.permissions input:enabled').length === 7 && {camera}.checked")
    await _point(admin, camera)
    await bob.sees("Ada", "!tile.classList.contains('has-picture')")
    await admin.tab.evaluate(f"{messages}.focus()")
    await admin.tab.press(" ")
    await admin.until(f"!{messages}.checked && {SAID}.includes('what Ada may do')")

    async def allowed(is_so):
        for _ in range(50):
            person = next(each for each in rest.participants(server, options.roost, room) if each["identity"] == "ada")
            if is_so(person["permissions"]):
                break
            await asyncio.sleep(0.1)
        return person["permissions"]

    taken = await allowed(lambda each: not each["canPublishData"])
    await _point(admin, camera)
    await admin.tab.evaluate(f"{messages}.focus()")
    await admin.tab.press(" ")
    await admin.until(f"{camera}.checked && {messages}.checked")
    given = await allowed(lambda each: each["canPublishData"] and "canPublishSources" not in each)
    sources = set(taken.get("canPublishSources", []))
    return report.row(f"/admin, {browser}: permissions, by pointer and by keyboard", "a camera and messages taken, and given again",
                      f"{sorted(sources)}, {taken['canPublishData']}; {given}",
                      sources == {"microphone", "screen_share", "screen_share_audio"} and not taken["canPublishData"]
                      and given["canPublishData"] and "canPublishSources" not in given)


async def _mute_all(report, admin, ada, bob, browser):
    await admin.tab.evaluate("document.getElementById('room-title').focus()")
    await admin.tab_to("mute-all")
    await admin.tab.press("Enter")
    await admin.until("document.getElementById('question').open")
    question = await admin.text("question-title")
    await admin.tab_to("question-yes")
    await admin.tab.press("Enter")
    for person in (ada, bob):
        await person.until(BLOCKED)
    await admin.until(f"{SAID}.includes('You muted 2 microphones')")
    focus = await admin.tab.evaluate("return document.activeElement.id")
    await _point(admin, "document.getElementById('allow-all')")
    await admin.until("document.getElementById('question').open")
    other = await admin.text("question-title")
    await _point(admin, "document.getElementById('question-yes')")
    for person in (ada, bob):
        await person.until(f"!({BLOCKED}) && {NOTICE} === 'You can unmute now.'")
    return report.row(f"/admin, {browser}: all muted by keyboard, and allowed again by pointer", "asked first both times, both muted, both may unmute",
                      f"“{question}” {focus} “{other}”",
                      question.startswith("Mute everyone in") and focus == "mute-all" and other.startswith("Allow everyone in"))


async def _lock(report, options, server, room, admin, browser):
    await admin.tab.evaluate("document.getElementById('room-title').focus()")
    await admin.tab_to("lock")
    await admin.tab.press("Enter")
    await admin.until("document.getElementById('lock').textContent === 'Unlock room'")
    await admin.until("document.getElementById('room-about').textContent.includes('locked')")
    locked = rest.room(server, options.roost, room)["locked"]
    await _point(admin, "document.getElementById('lock')")
    await admin.until("document.getElementById('lock').textContent === 'Lock room'")
    unlocked = not rest.room(server, options.roost, room)["locked"]
    return report.row(f"/admin, {browser}: a room locked by keyboard, unlocked by pointer", "so it is", f"{locked}, {unlocked}", locked and unlocked)


async def _waiting(report, options, server, room, admin, other, browser):
    """Two who wait: one let in by keyboard, behind which the other has the focus, one refused by pointer, as another session of the first is, which
    itself stays."""
    rest.change(server, options.roost, room, admission=True)
    people = []
    for name in ("Eve", "Mallory"):
        people.append(await Person.arrive(other, server, room, name, identity=name.lower(), publish=0))
        await people[-1].click("join-button")
        await people[-1].until("document.body.dataset.view === 'waiting'")
    eve, mallory = people
    waiters = await admin.until(f"{WAITERS}.length === 2 && {WAITERS}")
    button = "[...document.querySelectorAll('#waiters > li')].find((row) => row.querySelector('.name').textContent === '%s').querySelector('.%s')"
    label = await admin.tab.evaluate(f"return {button % ('Eve', 'admit')}.ariaLabel")
    await admin.tab.evaluate(f"{button % ('Eve', 'admit')}.focus()")
    await admin.tab.press("Enter")
    await eve.until(IN_CALL)
    await admin.until(f"{WAITERS}.join() === 'Mallory' && document.activeElement === {button % ('Mallory', 'admit')}")
    twin = await Person.arrive(other, server, room, "Eve", identity="eve", publish=0)
    people.append(twin)
    await twin.click("join-button")
    await admin.until(f"{WAITERS}.sort().join() === 'Eve,Mallory'")
    await _point(admin, button % ("Eve", "refuse"))
    await twin.until("document.body.dataset.view === 'lobby'")
    await admin.until(f"{WAITERS}.join() === 'Mallory'")
    stays = await eve.tab.evaluate(f"return {IN_CALL}")
    await _point(admin, button % ("Mallory", "refuse"))
    await mallory.until("document.body.dataset.view === 'lobby'")
    said = await mallory.until(NOTICE)
    await admin.until(f"document.getElementById('waiting').hidden && !!({row_of('Eve')})")
    for person in people:
        await person.leave()
    return report.row(f"/admin, {browser}: who waits, one let in by keyboard, one refused by pointer", "both by name; in, and stays; out, and said there",
                      f"{waiters}, {label}, {stays}, “{said}”",
                      waiters == ["Eve", "Mallory"] and label == "Admit Eve" and stays and "A host" in said)


async def _links(report, options, server, room, admin, browser):
    """Two links: one stopped by keyboard, the other by pointer; each is asked about first."""
    for uses in (3, 5):
        rest.invite(server, options.roost, room, ttl=3600, uses=uses)
    texts = "[...document.querySelectorAll('#invitations > li p')].map((each) => each.textContent)"
    await admin.tab.evaluate("document.getElementById('room-title').focus()")
    await admin.tab_to(lambda: "document.activeElement === document.querySelector('#links summary')")
    await admin.tab.press("Enter")
    rows = await admin.until(f"({texts}).length === 2 && {texts}")
    await admin.tab_to(lambda: "document.activeElement.matches('#invitations button')")
    await admin.tab.press("Enter")
    await admin.until("document.getElementById('question').open")
    await admin.tab_to("question-yes")
    await admin.tab.press("Enter")
    await admin.until(f"({texts}).length === 1 && {SAID}.includes('The link lets no one in now')")
    await _point(admin, "document.querySelector('#invitations button')")
    await admin.until("document.getElementById('question').open")
    await _point(admin, "document.getElementById('question-yes')")
    none = await admin.until("((none) => !none.hidden && none.textContent)(document.getElementById('no-invitations'))")
    left = rest.invitations(server, options.roost, room)
    await admin.tab.evaluate("document.getElementById('links').open = false")
    return report.row(f"/admin, {browser}: links for guests, one stopped by keyboard, one by pointer", "both shown; then none",
                      f"{' / '.join(rows)}; “{none}”, {len(left)} left",
                      sorted(each.split(" · ")[1] for each in rows) == ["opened 0 of 3 times", "opened 0 of 5 times"]
                      and "No link" in none and not left)


async def _close(report, room, admin, ada, browser):
    await admin.tab.evaluate("document.getElementById('room-title').focus()")
    await admin.tab_to("close")
    await admin.tab.press("Enter")
    await admin.until("document.getElementById('question').open")
    await admin.tab.press("Escape")
    await admin.until("!document.getElementById('question').open && document.activeElement.id === 'close'")
    await _point(admin, "document.getElementById('close')")
    await admin.until("document.getElementById('question').open")
    await _point(admin, "document.getElementById('question-yes')")
    said = await ada.until(f"String({NOTICE}).includes('ended') && {NOTICE}")
    about = await admin.until("((text) => text.includes('ended') && text)(document.getElementById('room-about').textContent)")
    disabled, focus, complaints = await admin.tab.evaluate("""return [
      ['mute-all', 'allow-all', 'lock', 'close'].every((id) => document.getElementById(id).disabled), document.activeElement.id, window.complaints]""")
    return report.row(f"/admin, {browser}: a room closed, after once thinking better of it", "asked; said there and here; no more to be done",
                      f"“{said}” “{about}” {focus}, {complaints or 'no complaint'}",
                      "ended the call" in said and disabled and focus == "room-title" and complaints == [])


async def _run(report, options, server, browser, other):
    name, room = browser.name, f"run-{browser.name}"
    ada = await Person.join(other, server, room, "Ada", VOICE, identity="ada")
    bob = await Person.join(browser, server, room, "Bob", VOICE, identity="bob")
    await bob.sees_picture("Ada")
    admin = await administer(options, server, browser, room)
    holds = await _mute_all(report, admin, ada, bob, name)
    holds &= await _permissions(report, options, server, room, admin, bob, name)
    holds &= await _lock(report, options, server, room, admin, name)
    holds &= await _waiting(report, options, server, room, admin, other, name)
    holds &= await _links(report, options, server, room, admin, name)
    holds &= await _close(report, room, admin, ada, name)
    for person in (ada, bob, admin):
        await person.leave()
    return holds


async def meet(report, options, server, chromium, firefox):
    return all(await asyncio.gather(_run(report, options, server, chromium, firefox), _run(report, options, server, firefox, chromium)))
