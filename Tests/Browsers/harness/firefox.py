"""Debian's Firefox over WebDriver BiDi."""

import asyncio
import base64
import json
import os

from .browser import Browser
from .process import Process
from .remote import Remote, RemoteError

_PREFERENCES = {
    "media.navigator.streams.fake": True,
    "media.navigator.permission.disabled": True,
    "media.autoplay.default": 0,
    "media.autoplay.blocking_policy": 0,
    "media.autoplay.block-webaudio": False,
    "media.cubeb.force_mock_context": True,  # an AudioContext without any sound card never starts
    "media.peerconnection.ice.obfuscate_host_addresses": False,  # nothing answers mDNS in the namespace
    # Neither throttled nor suspended for want of a window, and silent towards the outside.
    "dom.min_background_timeout_value": 4,
    "dom.timeout.enable_budget_timer_throttling": False,
    "media.suspend-background-video.enabled": False,
    "media.gmp-manager.updateEnabled": False,
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.aboutwelcome.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.proxy.type": 0,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "toolkit.startup.max_resumed_crashes": -1,
}


# Without a window it has no screen to share: a stand-in for what the user would choose.
_SCREEN = """
navigator.mediaDevices.getDisplayMedia = async () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1280, height: 720 });
  const context = canvas.getContext("2d");
  let time = 0;
  setInterval(() => {
    context.fillStyle = "white";
    context.fillRect(0, 0, 1280, 720);
    context.fillStyle = "black";
    context.fillRect((time += 8) % 1280, 100, 40, 500);
  }, 66);
  return canvas.captureStream(15);
};
"""
_KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "F6": "\ue036", "PageUp": "\ue00e", "PageDown": "\ue00f", "ArrowLeft": "\ue012",
         "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}


class Firefox(Browser):
    name = "firefox"
    SCREEN = _SCREEN

    # What users prefer: Firefox takes it from its preferences when it starts, and has no command for it.
    DARK = {"layout.css.prefers-color-scheme.content-override": 0}
    FORCED_COLORS = {"browser.display.document_color_use": 2}

    def __init__(self, preferences=None, network=None):
        """`preferences`: beside those of all tests, such as `DARK` or `FORCED_COLORS`. `network`: where it runs, unless it is here."""
        command = ["firefox-esr", "--headless", "--no-remote", "--profile", "{folder}/profile",
                   "--remote-debugging-port", "0", "about:blank"]
        self._network = network
        super().__init__(Process("firefox", network.inside(command) if network else command, {
            "MOZ_CRASHREPORTER_DISABLE": "1",
            "MOZ_DISABLE_AUTO_SAFE_MODE": "1",
        }))
        self._remote = None
        self._making = asyncio.Lock()
        self._context = None
        profile = os.path.join(self.process.folder, "profile")
        os.mkdir(profile)
        with open(os.path.join(profile, "user.js"), "w") as file:
            for name, value in {**_PREFERENCES, **(preferences or {})}.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")

    async def _attach(self):
        path = os.path.join(self.process.folder, "profile", "WebDriverBiDiServer.json")

        def endpoint():
            if not os.path.exists(path):
                return None
            with open(path) as file:
                text = file.read()
            try:
                return json.loads(text)
            except json.JSONDecodeError:
                return None  # not written to its end yet

        server = await self.process.wait_for("debugging port", endpoint, 45)
        self._remote = await Remote.connect(f"ws://{server['ws_host']}:{server['ws_port']}/session", self._network)
        await self._remote.command("session.new", {"capabilities": {}})
        contexts = (await self._remote.command("browsingContext.getTree"))["contexts"]
        if contexts:
            self._context = contexts[0]["context"]
        else:
            self._context = (await self._remote.command("browsingContext.create", {"type": "tab"}))["context"]

    async def open(self, url):
        """Loads `url` and waits until the document is complete."""
        await self._remote.command(
            "browsingContext.navigate", {"context": self._context, "url": url, "wait": "complete"})

    async def _evaluate(self, program, seconds):
        answer = await self._remote.command(
            "script.evaluate",
            {"expression": program, "target": {"context": self._context}, "awaitPromise": True,
             "userActivation": True}, seconds)
        if answer["type"] == "exception":
            raise RemoteError(answer["exceptionDetails"]["text"])
        return answer["result"]["value"]

    async def screenshot(self, path):
        answer = await self._remote.command("browsingContext.captureScreenshot", {"context": self._context})
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    async def tab(self, watch=""):
        """A page with storage of its own; `watch` is JavaScript that runs in it before any other. Its `close` ends it."""
        # Tabs that are made at the same time take the foreground from each other before they are whole.
        async with self._making:
            user = (await self._remote.command("browser.createUserContext"))["userContext"]
            context = (await self._remote.command(
                "browsingContext.create", {"type": "window", "userContext": user}))["context"]
            await self._remote.command("script.addPreloadScript", {
                "functionDeclaration": f"() => {{ {watch} }}", "contexts": [context]})
            # A page in the background shows nothing, and asks the server for nothing.
            await self._remote.command("browsingContext.activate", {"context": context})
            return _Tab(self, context, user)

    async def resize(self, width, height, dark=False):
        """The scheme is light, or dark in a Firefox that was started with `DARK`."""
        await self._remote.command("browsingContext.setViewport", {
            "context": self._context, "viewport": {"width": width, "height": height}})

    async def press(self, key):
        """Strikes a key: one of `_KEYS`, or a character."""
        await self._strike_in_front(key, "keyDown", "keyUp")

    async def hold(self, key):
        await self._strike_in_front(key, "keyDown")

    async def release(self, key):
        await self._strike(key, "keyUp")

    async def double_click(self, x, y):
        """With the pointer, at that place of the window."""
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        await self._point({"type": "pointerMove", "x": round(x), "y": round(y)}, *press, *press)

    async def point_click(self, x, y):
        """One click with the pointer, at that place of the window."""
        await self._point({"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pointerDown", "button": 0},
                          {"type": "pointerUp", "button": 0})

    async def drag(self, start, end):
        """Takes what is at one place of the window to another one, in steps as a hand does."""
        way = [[round(a + (b - a) * step / 5) for a, b in zip(start, end)] for step in range(6)]
        moves = [{"type": "pointerMove", "x": x, "y": y, "duration": 20} for x, y in way]
        await self._point(moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0})

    async def _point(self, *actions):
        await self._remote.command("input.performActions", {"context": self._context, "actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": list(actions)}]})

    async def _strike_in_front(self, key, *actions):
        """Behind another window a button that has the focus isn't pressed by Enter; nor does anybody type there."""
        async with self._making:
            await self._remote.command("browsingContext.activate", {"context": self._context})
            await self._strike(key, *actions)

    async def _strike(self, key, *actions):
        value = _KEYS.get(key, key)
        await self._remote.command("input.performActions", {"context": self._context, "actions": [{
            "type": "key", "id": "keyboard", "actions": [{"type": action, "value": value} for action in actions]}]})

    async def _detach(self):
        if self._remote is None:
            return
        try:
            await self._remote.command("browser.close", seconds=5)
        except (RemoteError, TimeoutError):
            pass  # ended below by its pid
        await self._remote.close()
        self._remote = None


class _Tab(Firefox):
    """Another page of a browser that runs already."""

    def __init__(self, browser, context, user):
        self.process = browser.process
        self._making = browser._making
        self._remote = browser._remote
        self._context = context
        self._user = user

    async def close(self):
        await self._remote.command("browser.removeUserContext", {"userContext": self._user})
