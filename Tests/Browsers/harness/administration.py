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
