"""/admin: rooms, people and tracks as they are, mute and remove, and who is let in."""

import asyncio
import contextlib

from harness.administration import room_of
from harness.person import Person, new_tab
from harness.remote import RemoteError
from harness.rest import token

HOSTILE = '<img src=x onerror="window.complaints.push(1)">'
NOTICE = "!document.getElementById('notice').hidden && document.getElementById('notice-text').textContent"
SIGNED_IN = "!document.getElementById('signed-in').hidden"


def _row(name):
    """The row of somebody, as JavaScript."""
    return f"[...document.querySelectorAll('#people > li')].find((row) => row.querySelector('.name').textContent === `{name}`)"


def _track(name, kind):
    return f"[...({_row(name)})?.querySelectorAll('.tracks li') ?? []].find((row) => row.querySelector('.kind').textContent === '{kind}')"


async def _administer(report, options, server, browser, other):
    room = f"admin-{browser.name}"
    eve = await Person.join(browser, server, room, HOSTILE)
    bob = await Person.join(other, server, room, "Bob")
    for person, name in ((eve, "Bob"), (bob, HOSTILE)):
        await person.sees_picture(name)
    admin = Person(await new_tab(browser), "admin")
    await admin.tab.resize(1280, 800)
    await admin.tab.open(f"{server.ORIGIN}/admin#token={token(options.roost, '--list', '--admin', '--room', '*')}")
    # A room of before may still wait for somebody whose tab was closed.
    await admin.until(f"!!({room_of(room)})")
    await admin.tab.evaluate(f"({room_of(room)}).click()")
    await admin.until(f"{SIGNED_IN} && document.querySelectorAll('#people .tracks li').length === 4")
    there = await admin.tab.evaluate("""return [document.getElementById('room-title').textContent, location.href,
      localStorage.length + sessionStorage.length + document.cookie.length, document.querySelectorAll('#people img').length]""")
    holds = report.row(f"/admin, {browser.name}: a room, two people, four tracks", "shown, the token nowhere",
                       f"{there[0]}, {there[1]}", there == [room, f"{server.ORIGIN}/admin", 0, 0])

    await admin.tab.evaluate(f"{_track(HOSTILE, 'Camera')}.querySelector('.mute').click()")
    await bob.sees(HOSTILE, "!tile.classList.contains('has-picture')")
    await admin.until(f"{_track(HOSTILE, 'Camera')}.innerText.includes('Muted by a host')")
    await admin.tab.evaluate(f"{_track(HOSTILE, 'Camera')}.querySelector('.mute').click()")
    # Allowed is not turned on: that is the participant's own to do.
    await eve.until(f"{NOTICE} === 'You can turn on your camera now.'")
    await eve.click("notice-action")
    await bob.sees_picture(HOSTILE)
    await bob.click("microphone")
    await admin.until(f"/^Muted( ·|$)/.test({_track('Bob', 'Microphone')}.querySelector('.about').textContent)")
    holds &= report.row(f"/admin, {browser.name}: a camera muted, then allowed", "others see nothing, then the picture", "so", True)

    # To the button of the last in the list, in the way of those who use a keyboard, and back out of it.
    await admin.tab_to(lambda: f"document.activeElement === ({_row('Bob')}).querySelector('.remove')")
    await admin.tab.press("Enter")
    await admin.until("document.getElementById('question').open")
    await admin.tab.press("Escape")
    await admin.until("!document.getElementById('question').open")
    stays = await admin.tab.evaluate(f"return !!{_row('Bob')}")
    # Asked, given up and asked again in one breath: the end of the first question comes while the second is open.
    await admin.tab.evaluate(f"const ask = () => {_row('Bob')}.querySelector('.remove').click();"
                             "ask(); document.getElementById('question').close(); ask()")
    await admin.until("document.getElementById('question').open")
    await admin.tab.evaluate("return new Promise((resolve) => setTimeout(resolve, 100))")
    await admin.tab.evaluate("document.querySelector('#question-yes').click()")
    said = await bob.until(NOTICE)
    await eve.sees_no("Bob")
    await admin.until(f"!{_row('Bob')}")
    await admin.until("document.activeElement.id === 'room-title'")
    holds &= report.row(f"/admin, {browser.name}: somebody removed", "asked first, said there, gone here", f"“{said}”",
                        "removed you" in said and stays)

    await admin.tab.resize(390, 844)
    width = await admin.tab.evaluate("return document.documentElement.scrollWidth")
    await eve.click("leave")
    await admin.until("document.getElementById('no-people').hidden === false"
                      " || document.getElementById('room-about').textContent.includes('ended')")
    complaints = await admin.tab.evaluate("return window.complaints")
    holds &= report.row(f"/admin, {browser.name}: 390 wide, policy and scripts", "no scrolling, no complaint",
                        f"{width}, {complaints or 'none'}", width <= 390 and complaints == [])
    for person in (eve, bob, admin):
        await person.leave()
    return holds


async def _refused(report, options, server, browser):
    """What lets no one in is said, and another token can be given."""
    admin = Person(await new_tab(browser), "admin")
    await admin.tab.open(f"{server.ORIGIN}/admin")
    seen = []
    for given in ("Größe 1 – 2", "e30.e30.e30", token(options.roost, "--room", "demo", "--identity", "ada"),
                  token(options.roost, "--list", "--admin", "--room", "*")):
        await admin.until("document.activeElement.id === 'token'")
        await admin.tab.evaluate(f"document.getElementById('notice').hidden = true;"
                                 f"document.getElementById('token').value = '{given}';"
                                 "document.querySelector('#sign-in button').click()")
        seen.append(await admin.until(f"{SIGNED_IN} ? 'signed in' : {NOTICE}"))
    await admin.click("sign-out")
    await admin.until(f"!({SIGNED_IN})")
    await admin.leave()
    return report.row("/admin: no token, a bad one, one for something else, a good one", "said three times, in; out again",
                      " / ".join(seen), "isn't an access token" in seen[0] and "didn't accept" in seen[1] and "isn't allowed" in seen[2]
                      and seen[3] == "signed in")


async def _followed(report, options, server, browser):
    """Another link in the same tab is followed: nothing but what is behind the # changes."""
    admin = Person(await new_tab(browser), "admin")
    await admin.tab.open(f"{server.ORIGIN}/admin")
    hints = await admin.until("((hints) => hints.every(Boolean) && hints)([...document.querySelectorAll('input[type=search]')].map((each) => each.placeholder))")
    await admin.until("document.activeElement.id === 'token'")
    words = token(options.roost, "--list", "--admin", "--room", "*")
    await admin.tab.evaluate(f"window.isOld = true; setTimeout(() => (location.hash = 'token={words}'), 0)")
    for _ in range(200):
        await asyncio.sleep(0.05)
        with contextlib.suppress(RemoteError):  # While one page goes and the other comes there is none to ask.
            if await admin.tab.evaluate(f"return !window.isOld && document.readyState === 'complete' && {SIGNED_IN}"):
                break
    address, is_in = await admin.tab.evaluate(f"return [location.href, {SIGNED_IN}]")
    await admin.leave()
    return report.row(f"/admin, {browser.name}: another link in the same tab; fields that are searched by", "signed in, the token gone from the address; each says so",
                      f"{address}, {is_in}; {hints}", address == f"{server.ORIGIN}/admin" and is_in and hints == ["Search"] * 3)


async def _accessible(report, options, server, chromium):
    """Whatever can be operated has a name that says whose it is."""
    ada = await Person.join(chromium, server, "admin-names", "Ada")
    admin = Person(await new_tab(chromium), "admin")
    await admin.tab.open(f"{server.ORIGIN}/admin#token={token(options.roost, '--list', '--admin', '--room', '*')}")
    await admin.until(f"!!({room_of('admin-names')})")
    await admin.tab.evaluate(f"({room_of('admin-names')}).click()")
    await admin.until("document.querySelectorAll('#people .tracks li').length === 2")
    names = [name for role, name in await admin.tab.accessible_names() if role == "button"]
    for person in (ada, admin):
        await person.leave()
    wanted = {"Remove Ada", "Mute Ada’s camera", "Mute Ada’s microphone", "Sign out"}
    return report.row("/admin: accessible names", ", ".join(sorted(wanted)), ", ".join(names),
                      wanted <= set(names) and all(name.strip() for name in names))


async def meet(report, options, server, chromium, firefox):
    holds = await _administer(report, options, server, chromium, firefox)
    holds &= await _administer(report, options, server, firefox, chromium)
    for browser in (chromium, firefox):
        holds &= await _followed(report, options, server, browser)
    holds &= await _refused(report, options, server, chromium)
    holds &= await _accessible(report, options, server, chromium)
    return holds
