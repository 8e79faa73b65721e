"""Menus of the call page, opened and used with the pointer alone or with keys alone."""

import json

ITEM = "[...document.querySelectorAll('#%s [role^=menuitem]')].find((each) => each.innerText.trim() === %s)"
OPEN = "!document.getElementById('%s').hidden"


def item(menu, name):
    """What is called so in that menu, as JavaScript."""
    return ITEM % (menu, json.dumps(name))


async def pick_by_pointer(person, opener, menu, name):
    """Opens a menu by its button and takes what is called so."""
    await person.until("document.body.hasAttribute('data-complete')")
    await person.point(f"document.getElementById('{opener}')")
    await person.point(item(menu, name))
    await person.until(f"!({OPEN % menu})")


async def go_by_keys(person, opener, menu, name):
    """Opens a menu by its button and goes to what is called so."""
    await person.until("document.body.hasAttribute('data-complete')")
    # From the call's beginning: behind the last control Firefox goes on among its own.
    await person.tab.evaluate("document.getElementById('call').focus()")
    await person.tab_to(opener)
    await person.tab.press("Enter")
    await person.until(f"{OPEN % menu} && !!document.activeElement.closest('#{menu}')")
    for _ in range(20):
        if await person.tab.evaluate(f"return document.activeElement === {item(menu, name)}"):
            return
        await person.tab.press("ArrowDown")
    raise TimeoutError(f"{person.tab.name}: no way by arrows to “{name}”")


async def pick_by_keys(person, opener, menu, name):
    """As `pick_by_pointer`, with Tab, arrows and Enter."""
    await go_by_keys(person, opener, menu, name)
    await person.tab.press("Enter")
    await person.until(f"!({OPEN % menu})")
