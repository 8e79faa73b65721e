"""An administrator's mute at the page: seen, heard said, not to be got around, and lifted. So are permissions that are taken away."""

import asyncio

from harness import rest
from harness.person import Person

NOTICE = ("(({ hidden, role }, text) => (!hidden && role === 'alert' ? text : ''))"
          "(document.getElementById('notice'), document.getElementById('notice-text').textContent)")
SAID = "document.getElementById('status').textContent"
# What a control says of itself.
CONTROL = """(({ ariaPressed, ariaDisabled, ariaLabel, dataset }) => [ariaPressed, ariaDisabled, ariaLabel, 'blocked' in dataset].join())
  (document.getElementById('%s'))"""
NOTE = "tile.querySelector('.tile-note').textContent"
MARK = "!tile.querySelector('.microphone-mark').hidden"
ON = "true,,%s,false"
OFF = "false,,%s,false"
# What the room knows of one's own microphone, and whether anything of it is sent.
SENT = """(({ publications }) => publications.filter(({ source }) => source === 'microphone')
  .map((each) => [roostPage.room.trackOf(each)?.muted, roostPage.room.trackOf(each)?.mutedByAdmin, each.track.enabled].join()).join())
  (roostPage.room)"""


async def _control(person, kind, wanted):
    await person.until(f"{CONTROL % kind} === {wanted!r}")


async def _microphone(report, ask, ada, bob, browser):
    """Muted by REST while on, pressed, asked for past the page, lifted, turned on again."""
    await ask(rest.mute, "microphone")
    said = await ada.until(NOTICE)
    await _control(ada, "microphone", "false,true,Microphone, muted by a host,true")
    await ada.sees("Ada (you)", f"{MARK} && {NOTE} === 'Muted by a host' && tile.ariaLabel.includes('Muted by a host')")
    await bob.sees("Ada", MARK)
    holds = report.row(f"page, {browser}: muted by an administrator", "said, on the control and one's own tile", f"“{said}”",
                       said.startswith("A host muted your microphone"))

    await ada.until(f"{SENT} === 'true,true,false'")
    await ada.tab.press("m")
    why = await ada.until(SAID)
    await ada.tab.evaluate("document.getElementById('microphone').click(); document.activeElement.blur()")
    await ada.tab.press(" ")
    code = await ada.tab.evaluate("""
      const [microphone] = roostPage.room.publications.filter(({ source }) => source === "microphone");
      return roostPage.room.mute(microphone, false).then(() => "unmuted", ({ code }) => code);""")
    sent = await ada.tab.evaluate(f"return {SENT}")
    await _control(ada, "microphone", "false,true,Microphone, muted by a host,true")
    holds &= report.row(f"page, {browser}: its key, its button, Space and the protocol meanwhile", "refused, and said why",
                        f"“{why}” {code}", "A host muted" in why and code == "not-allowed" and sent == "true,true,false")

    track = await ask(rest.mute, "microphone", False)
    said = await ada.until(f"{NOTICE} === 'You can unmute now.' && {NOTICE}")
    await _control(ada, "microphone", OFF % "Microphone")
    await ada.sees("Ada (you)", f"{MARK} && {NOTE} === ''")
    label = await ada.tab.evaluate("return document.getElementById('notice-action').textContent")
    await ada.click("notice-action")
    await bob.sees("Ada", f"!({MARK})")
    await _control(ada, "microphone", ON % "Microphone")
    await ada.until(f"{SENT} === 'false,false,true' && document.getElementById('notice').hidden")
    return holds & report.row(f"page, {browser}: the mute is lifted", "said, muted until the participant unmutes", f"“{said}” {label}",
                              track["muted"] and label == "Unmute")


async def _own_too(report, ask, ada, bob, browser):
    """Muted by oneself before: the administrator's mute is learned of all the same, and its end."""
    await ada.tab.press("m")
    await bob.sees("Ada", MARK)
    await ask(rest.mute, "microphone")
    await _control(ada, "microphone", "false,true,Microphone, muted by a host,true")
    await ask(rest.mute, "microphone", False)
    await ada.until(f"{NOTICE} === 'You can unmute now.'")
    await ada.tab.press("m")
    await bob.sees("Ada", f"!({MARK})")
    await ada.until("document.getElementById('notice').hidden")
    return report.row(f"page, {browser}: an administrator's mute over one's own", "both ends learned of", "so", True)


async def _camera(report, ask, ada, bob, browser):
    """A camera that an administrator turns off is closed, and stays so until its owner opens it."""
    await ada.tab.evaluate("window.light = roostPage.room.publications.find(({ kind }) => kind === 'video').track")
    await ask(rest.mute, "camera")
    await ask(rest.mute, "microphone")
    await ada.until(f"{NOTICE}.startsWith('A host muted your microphone and turned off your camera.')")
    await _control(ada, "camera", "false,true,Camera, turned off by a host,true")
    await bob.sees("Ada", "!tile.classList.contains('has-picture')")
    light = await ada.until("window.light.readyState === 'ended' && window.light.readyState")
    await ask(rest.mute, "camera", False)
    await ada.until(f"{NOTICE} === 'You can turn on your camera now.'")
    await ada.click("camera")
    await bob.sees_picture("Ada")
    await ask(rest.mute, "microphone", False)
    await ada.until(f"{NOTICE} === 'You can unmute now.'")
    await ada.click("microphone")
    await bob.sees("Ada", f"!({MARK})")
    return report.row(f"page, {browser}: the camera is turned off by an administrator", "closed, then opened by its owner", light, True)


async def _permissions(report, ask, ada, bob, browser):
    """What may no longer be sent is off here as it is there; when it may again, it is sent again."""
    await ask(rest.permit, canPublish=False)
    said = await ada.until(f"{NOTICE}.includes('permission') && {NOTICE}")
    for kind in ("Microphone", "Camera"):
        await _control(ada, kind.lower(), f"false,true,{kind}, not allowed,true")
    await bob.sees("Ada", f"{MARK} && !tile.classList.contains('has-picture')")
    await ada.until("roostPage.room.publications.length === 0 && document.getElementById('screen').ariaDisabled === 'true'")
    await ada.tab.evaluate("document.getElementById('status').replaceChildren()")
    await ada.click("screen")
    why = await ada.until(SAID)
    await ask(rest.permit, canPublish=True)
    await ada.until(f"{NOTICE} === 'You can unmute and turn on your camera now.'")
    await ada.click("notice-action")
    await bob.sees_picture("Ada")
    await bob.sees("Ada", f"!({MARK})")
    return report.row(f"page, {browser}: publishing is forbidden, then allowed", "off and said, then on again", f"“{said}” “{why}”",
                      "share your screen" in why)


async def _screen(report, ask, ada, bob, browser):
    """A screen that an administrator mutes is no longer shared."""
    await ada.click("screen")
    await bob.sees_picture("Ada: screen")
    await ask(rest.mute, "screen_share")
    said = await ada.until(f"{NOTICE}.includes('screen') && {NOTICE}")
    await ada.until("document.getElementById('screen').ariaPressed === 'false'")
    await bob.sees_no("Ada: screen")
    await ada.sees_no("Your screen")
    return report.row(f"page, {browser}: a shared screen is muted", "no longer shared, and said", f"“{said}”", "stopped" in said)


async def _muted(report, options, server, browser, other):
    room = f"muted-{browser.name}"

    async def ask(request, *rest_of_it, **more):
        return await asyncio.to_thread(request, server, options.roost, room, "ada", *rest_of_it, **more)

    bob, ada = await asyncio.gather(Person.join(other, server, room, "Bob"),
                                    Person.join(browser, server, room, "Ada", browser.SCREEN, identity="ada"))
    await bob.sees_picture("Ada")
    await bob.sees("Ada", f"!({MARK})")
    holds = True
    for step in (_microphone, _own_too, _camera, _permissions, _screen):
        holds &= await step(report, ask, ada, bob, browser.name)
    complaints = await ada.tab.evaluate("return window.complaints")
    for person in (ada, bob):
        await person.leave()
    return holds & report.row(f"page, {browser.name}: policy and scripts meanwhile", "no complaint", complaints or "none", complaints == [])


async def meet(report, options, server, chromium, firefox):
    # One after the other: of two tabs in one Firefox, one is in the background.
    holds = await _muted(report, options, server, chromium, firefox)
    holds &= await _muted(report, options, server, firefox, chromium)
    return holds
