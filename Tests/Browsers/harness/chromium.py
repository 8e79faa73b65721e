"""Debian's Chromium over the Chrome DevTools Protocol."""

import asyncio
import base64
import os

from .browser import Browser
from .process import Process
from .remote import Remote, RemoteError

_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # its sandbox refuses to run as root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    # A page that no one looks at runs at full speed all the same.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--autoplay-policy=no-user-gesture-required",
    "--use-fake-device-for-media-stream=fps=30,device-count=2",
    "--use-fake-ui-for-media-stream",
    "--disable-features=WebRtcHideLocalIpsWithMdns",  # nothing answers mDNS in the namespace
    "--user-data-dir={folder}/profile",
    "--remote-debugging-address=127.0.0.1",
    "--remote-debugging-port=0",
)


# Of two flags of a name the last one counts.
_GUARDED = ("--autoplay-policy=document-user-activation-required",)

# Their codes, and what they write.
_KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), "Escape": (27, ""), "F6": (117, ""), "PageUp": (33, ""), "PageDown": (34, ""), "ArrowLeft": (37, ""),
         "ArrowUp": (38, ""), "ArrowRight": (39, ""), "ArrowDown": (40, "")}


def _code(key):
    """Of the key that writes a sign: letters and figures have theirs; of another sign the number would be that of an arrow, or of Delete."""
    known = _KEYS.get(key)
    return known or (ord(key.upper()) if key == " " or key.isascii() and key.isalnum() else 0, key)


class Chromium(Browser):
    name = "chromium"
    SCREEN = ""  # a stand-in for getDisplayMedia: it needs none, and shares without asking

    # Three encodings of 640 × 360 too, of which it would else send two.
    ALL_LAYERS = "--force-fieldtrials=WebRTC-LegacySimulcastLayerLimit/Disabled/"

    # What a test evaluates counts as a press of the user's.
    gestures = True

    def __init__(self, flags=(), network=None, guarded=False):
        """`network`: where it runs, unless it is here. `guarded`: as people have it, who press something before a page may play sound."""
        self.gestures = not guarded
        command = ["chromium", *_FLAGS, *(_GUARDED if guarded else ()), *flags, "about:blank"]
        super().__init__(Process("chromium", network.inside(command) if network else command))
        self._network = network
        self._remote = None
        self._session = None

    async def _attach(self):
        path = os.path.join(self.process.folder, "profile", "DevToolsActivePort")

        def endpoint():
            if not os.path.exists(path):
                return None
            with open(path) as file:
                lines = file.read().split()
            return lines if len(lines) == 2 else None

        port, target = await self.process.wait_for("debugging port", endpoint)
        self._remote = await Remote.connect(f"ws://127.0.0.1:{port}{target}", self._network)
        targets = (await self._remote.command("Target.getTargets"))["targetInfos"]
        page = next((each["targetId"] for each in targets if each["type"] == "page"), None)
        if page is None:
            page = (await self._remote.command("Target.createTarget", {"url": "about:blank"}))["targetId"]
        attached = await self._remote.command("Target.attachToTarget", {"targetId": page, "flatten": True})
        self._session = attached["sessionId"]
        await self._command("Page.enable")

    async def _command(self, method, parameters=None, seconds=30.0):
        return await self._remote.command(method, parameters, seconds, sessionId=self._session)

    async def open(self, url):
        """Loads `url` and waits until the document is complete."""
        answer = await self._command("Page.navigate", {"url": url})
        if answer.get("errorText"):
            raise RemoteError(f"{url}: {answer['errorText']}")
        # The old document answers until the new one has taken its place.
        for _ in range(200):
            frame = (await self._command("Page.getFrameTree"))["frameTree"]["frame"]
            if frame["loaderId"] == answer["loaderId"]:
                break
            await asyncio.sleep(0.05)
        await self.wait_until("document.readyState === 'complete'")

    async def _evaluate(self, program, seconds):
        answer = await self._command(
            "Runtime.evaluate",
            {"expression": program, "awaitPromise": True, "returnByValue": True, "userGesture": self.gestures}, seconds)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RemoteError(details.get("exception", {}).get("description") or details.get("text"))
        return answer["result"]["value"]

    async def screenshot(self, path):
        answer = await self._command("Page.captureScreenshot", {"format": "png"})
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    async def tab(self, watch=""):
        """A page with storage of its own; `watch` is JavaScript that runs in it before any other. Its `close` ends it."""
        context = (await self._remote.command("Target.createBrowserContext"))["browserContextId"]
        target = (await self._remote.command(
            "Target.createTarget", {"url": "about:blank", "browserContextId": context}))["targetId"]
        attached = await self._remote.command("Target.attachToTarget", {"targetId": target, "flatten": True})
        tab = _Tab(self, attached["sessionId"], context)
        await tab._command("Page.enable")
        await tab._command("Page.addScriptToEvaluateOnNewDocument", {"source": watch})
        return tab

    async def trust_everybody(self):
        """Goes on where the page of a warning would ask."""
        await self._command("Security.enable")
        await self._command("Security.setIgnoreCertificateErrors", {"ignore": True})

    async def resize(self, width, height, dark=False):
        await self._command("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        await self._command("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    async def block(self, *patterns):
        """What no longer comes, by its address, in which * stands for anything; without any all does again."""
        await self._command("Network.enable")
        await self._command("Network.setBlockedURLs", {"urls": list(patterns)})

    async def slow_down(self, times):
        """As on a machine whose processor is so many times slower."""
        await self._command("Emulation.setCPUThrottlingRate", {"rate": times})

    async def zoom(self, width, height, times):
        """A window of that size, in which everything is shown so many times as large."""
        await self._command("Emulation.setDeviceMetricsOverride", {
            "width": round(width / times), "height": round(height / times), "deviceScaleFactor": times, "mobile": False})

    async def force_colors(self):
        """As with a user's own few colours for everything."""
        await self._command("Emulation.setEmulatedMedia", {"features": [{"name": "forced-colors", "value": "active"}]})

    async def press(self, key):
        """Strikes a key: one of `_KEYS`, or a character."""
        await self.hold(key)
        await self.release(key)

    async def hold(self, key):
        code, text = _code(key)
        await self._command("Input.dispatchKeyEvent", {
            "type": "keyDown" if text else "rawKeyDown", "key": key, "windowsVirtualKeyCode": code, "text": text})

    async def release(self, key):
        await self._command("Input.dispatchKeyEvent", {"type": "keyUp", "key": key, "windowsVirtualKeyCode": _code(key)[0]})

    async def double_click(self, x, y):
        """With the pointer, at that place of the window."""
        await self._point("mouseMoved", x, y)
        for count in (1, 2):
            await self._point("mousePressed", x, y, button="left", buttons=1, clickCount=count)
            await self._point("mouseReleased", x, y, button="left", clickCount=count)

    async def point_click(self, x, y):
        """One click with the pointer, at that place of the window."""
        await self._point("mouseMoved", x, y)
        await self._point("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        await self._point("mouseReleased", x, y, button="left", clickCount=1)

    async def drag(self, start, end):
        """Takes what is at one place of the window to another one, in steps as a hand does."""
        await self._point("mouseMoved", *start)
        await self._point("mousePressed", *start, button="left", buttons=1, clickCount=1)
        for step in range(1, 6):
            x, y = (a + (b - a) * step / 5 for a, b in zip(start, end))
            await self._point("mouseMoved", x, y, button="left", buttons=1)
        await self._point("mouseReleased", *end, button="left", clickCount=1)

    async def _point(self, kind, x, y, **more):
        await self._command("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    async def accessible_names(self):
        """Role and name of everything in the accessibility tree."""
        nodes = (await self._command("Accessibility.getFullAXTree"))["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes
                if not node.get("ignored")]

    async def _detach(self):
        if self._remote is None:
            return
        try:
            await self._remote.command("Browser.close", seconds=3)
        except (RemoteError, TimeoutError):
            pass  # ended below by its pid
        await self._remote.close()
        self._remote = None


class _Tab(Chromium):
    """Another page of a browser that runs already."""

    def __init__(self, browser, session, context):
        self.process = browser.process
        self.gestures = browser.gestures
        self._remote = browser._remote
        self._session = session
        self._context = context

    async def close(self):
        await self._remote.command("Target.disposeBrowserContext", {"browserContextId": self._context})
