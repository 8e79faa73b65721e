"""The server under test, started as `make run` starts it."""

import os
import ssl
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from .process import Process


ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))


def _answers(url):
    # It vouches for itself.
    context = ssl._create_unverified_context() if url.startswith("https:") else None
    try:
        with urllib.request.urlopen(url, timeout=2, context=context) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


class Server:
    """`roost serve`, with --dev unless it has keys, with its HTTP port on loopback; `async with Server(path) as server:` always ends it."""

    ORIGIN = "http://127.0.0.1:7880"
    MEDIA_PORT = 7882

    def __init__(self, binary, workers=2, lan=None, options=(), environment=None, keys=None):
        """`lan`: with --lan, reached by this address. `keys`: without --dev, as in production, with these."""
        command = [binary, "serve", *([] if keys else ["--dev"]), "--media.workers", str(workers), *options]
        self._patience = 20
        # Where a server in production keeps its records.
        self._data = tempfile.TemporaryDirectory(prefix="roost-data-") if keys else None
        if keys:
            environment = {"ROOST_KEYS": keys, "ROOST_STORAGE_DIRECTORY": self._data.name, **(environment or {})}
        if lan:
            self.ORIGIN = f"https://{lan}:7880"
            command.append("--lan")
        self.process = Process("server", command, environment)

    async def __aenter__(self):
        self.process.start()
        try:
            await self.process.wait_for("answer on /healthz", lambda: _answers(self.ORIGIN + "/healthz"), self._patience)
        except BaseException:
            await self.process.end()
            raise
        return self

    async def __aexit__(self, *_):
        await self.process.end()
        if self._data:
            self._data.cleanup()

    @classmethod
    def made(cls, binary):
        """By `make run` itself, which finds this binary built, or builds it."""
        server = cls(binary)
        server.process = Process("server", ["make", "--no-print-directory", "--directory", ROOT, "run", "ARGS=--media.workers 2"])
        server._patience = 120
        return server

    def bare(self):
        """An address of the server's origin, which its WebSocket asks for, with no script in it."""
        return f"{self.ORIGIN}/base.css"

    def page(self, room, identity, publish):
        """The page's address, joining `room` by itself, with camera and microphone off."""
        query = {"room": room, "identity": identity, "publish": int(publish), "autojoin": 1}
        return f"{self.ORIGIN}/?{urllib.parse.urlencode(query)}"
