"""Somebody at /admin, in a tab of their own."""

import json

from .person import Person, new_tab
from .rest import token

NOTICE = "!document.getElementById('notice').hidden && document.getElementById('notice-text').textContent"


def row_of(name):
    """The row of a participant, as JavaScript."""
    return f"[...document.querySelectorAll('#people > li')].find((row) => row.querySelector('.name').textContent === {json.dumps(name)})"


def room_of(name):
    """The button of a room in the list, as JavaScript."""
    return f"[...document.querySelectorAll('#rooms button')].find((each) => each.querySelector('.name').textContent === {json.dumps(name)})"


def track_of(name, kind):
    """The line of a participant's track, such as `Camera`, as JavaScript."""
    return (f"[...(({row_of(name)})?.querySelectorAll('.tracks > li') ?? [])]"
            f".find((line) => line.querySelector('.kind').textContent === {json.dumps(kind)})")


async def start_from(admin, id_):
    """The focus is there, as after what leads there: the way by Tab begins at it."""
    await admin.tab.evaluate(f"document.getElementById({json.dumps(id_)}).focus()")


async def choose(admin, id_, value):
    """One line of a list: pressed with the pointer, which opens it. What opens is the browser's own, outside of the page, where no test has a
    pointer: in Chromium arrows and Enter take the line, in Firefox, whose list takes no key from a test either, it is taken as the list does it."""
    field = f"document.getElementById({json.dumps(id_)})"
    await admin.click(id_)
    await admin.until(f"{field}.matches(':open') && document.activeElement === {field}")
    at, wanted = await admin.tab.evaluate(f"return [{field}.selectedIndex, [...{field}.options].findIndex(({{ value }}) => value === {json.dumps(value)})]")
    if admin.tab.name.startswith("firefox"):
        await admin.tab.evaluate(f"""{field}.blur(); {field}.focus(); {field}.selectedIndex = {wanted};
          for (const type of ["input", "change"]) {field}.dispatchEvent(new Event(type, {{ bubbles: true }}))""")
    else:
        for _ in range(abs(wanted - at)):
            await admin.tab.press("ArrowDown" if wanted > at else "ArrowUp")
        await admin.tab.press("Enter")
    await admin.until(f"{field}.value === {json.dumps(value)} && !{field}.matches(':open')")


async def administer(options, server, browser, room, lang="en"):
    """Somebody who looks at that room, with all that a token can allow."""
    admin = Person(await new_tab(browser), "admin")
    await admin.tab.resize(1280, 800)
    words = token(options.roost, "--list", "--create", "--admin", "--thumbnails", "--room", "*")
    await admin.tab.open(f"{server.ORIGIN}/admin?lang={lang}#token={words}")
    await admin.until(f"!!({room_of(room)})")
    await admin.tab.evaluate(f"({room_of(room)}).click()")
    await admin.until(f"document.getElementById('room-title').textContent === {json.dumps(room)}"
                      " && document.querySelectorAll('#people > li').length > 0")
    return admin
