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
    # A page that nobody looks at runs at full speed all the same.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--autoplay-policy=no-user-gesture-required",
    "--use-fake-device-for-media-stream=fps=30",
    "--use-fake-ui-for-media-stream",
    "--disable-features=WebRtcHideLocalIpsWithMdns",  # nobody answers mDNS in the namespace
    "--user-data-dir={folder}/profile",
    "--remote-debugging-address=127.0.0.1",
    "--remote-debugging-port=0",
)


class Chromium(Browser):
    name = "chromium"

    def __init__(self):
        super().__init__(Process("chromium", ["chromium", *_FLAGS, "about:blank"]))
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
        self._remote = await Remote.connect(f"ws://127.0.0.1:{port}{target}")
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
            {"expression": program, "awaitPromise": True, "returnByValue": True, "userGesture": True}, seconds)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RemoteError(details.get("exception", {}).get("description") or details.get("text"))
        return answer["result"]["value"]

    async def screenshot(self, path):
        answer = await self._command("Page.captureScreenshot", {"format": "png"})
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    async def _detach(self):
        if self._remote is None:
            return
        try:
            await self._remote.command("Browser.close", seconds=3)
        except (RemoteError, TimeoutError):
            pass  # ended below by its pid
        await self._remote.close()
        self._remote = None
