"""The server as a process, and what its tests say to it."""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import signaller

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.path.abspath(os.environ.get("ROOST", os.path.join(HERE, "../../.build/release/roost")))


def free_port(kind=socket.SOCK_DGRAM):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("0.0.0.0", 0))
        return probe.getsockname()[1]


def claims(identity, room="demo", issued=None, attributes=None, **grants):
    """What a token says; `issued` None: not when it was issued."""
    said = {"iss": "devkey", "sub": identity, "exp": int(time.time()) + 600,
            "video": {"room": room, "roomJoin": True} | grants}
    return said | ({"iat": issued} if issued else {}) | ({"attributes": attributes} if attributes else {})


def put_together(header, said, secret=b"secret"):
    """A JWT with a signature by HS256, whatever its header says."""
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    signed = part(header) + b"." + part(said)
    code = hmac.new(secret, signed, hashlib.sha256).digest()
    return (signed + b"." + base64.urlsafe_b64encode(code).rstrip(b"=")).decode()


def token(identity, room="demo", **more):
    """An access token of the development key."""
    return put_together({"alg": "HS256", "typ": "JWT"}, claims(identity, room, **more))


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


def get(url, method="GET", headers=(), data=None):
    request = urllib.request.Request(url, method=method, headers=dict(headers), data=data)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return Answer(answer.status, answer.headers, answer.read().decode())
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.headers, error.read().decode())


class Roost:
    """`with Roost("--drain.seconds=3") as roost:` runs a server on ports of its own and ends it in any case."""

    def __init__(self, *arguments, before=(), environment=None):
        """`before`: a command that starts the server in its own place. `environment`: variables beside those of the test."""
        self.media_port = free_port()
        self._environment = environment or {}
        self._log = tempfile.NamedTemporaryFile(prefix="roost-server-", suffix=".log")
        self._arguments = [*before, BINARY, "serve", "--dev", "--http.port=0", "--admin.port=0",
                           f"--media.port={self.media_port}", "--media.workers=2", *arguments]

    def __enter__(self):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("ROOST") or name == "ROOST_DEFECT"} | self._environment
        self._child = subprocess.Popen(self._arguments, stdin=subprocess.DEVNULL, stdout=self._log,
                                       stderr=self._log, env=environment)
        try:
            # The last that it says at its start.
            self.public = self._find(r"Roost is ready[^/]*http://(127\.0\.0\.1:\d+)/")
        except BaseException:
            self.__exit__()
            raise
        admin = re.search(r"admin listener ready address=(\S+)", self.log())
        self.admin = admin and admin[1]
        return self

    def __exit__(self, *_):
        self._child.kill()
        self._child.wait()
        self._log.close()

    def log(self):
        with open(self._log.name) as file:
            return file.read()

    def _find(self, pattern):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self._child.poll() is None:
            found = re.search(pattern, self.log())
            if found:
                return found[1]
            time.sleep(0.02)
        raise RuntimeError(f"{pattern} is not in the log:\n{self.log()}")

    def get(self, path, **more):
        return get(f"http://{self.public}{path}", **more)

    def get_admin(self, path, **more):
        return get(f"http://{self.admin}{path}", **more)

    @property
    def pid(self):
        return self._child.pid

    def signal(self, number=signal.SIGTERM):
        self._child.send_signal(number)

    async def ended(self, seconds):
        """The exit status; the test fails where there is none in time."""
        deadline = time.monotonic() + seconds
        while self._child.poll() is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"still running after {seconds:g} s:\n{self.log()}")
            await asyncio.sleep(0.01)
        return self._child.returncode

    def connect(self, room="demo", **more):
        return signaller.connect(f"http://{self.public}", room, **more)

    def joined(self, identity, room="demo", max_size=2**20, **grants):
        """A participant: its socket, with `joined` as the server said it."""
        return signaller.joined(f"http://{self.public}", room, token(identity, room, **grants), max_size=max_size)


def ask(roost, method, path, text, body=None):
    """REST's answer to that token."""
    headers = {"Authorization": f"Bearer {text}"}
    if body is not None:
        headers["Content-Type"] = "application/merge-patch+json" if method == "PATCH" else "application/json"
    return roost.get(path, method=method, headers=headers, data=None if body is None else json.dumps(body).encode())


def logged(roost, text, is_enough, room="demo", seconds=5):
    """A room's events by REST, once `is_enough` holds of them, or after that time: each can be read once it is stored, a little after it happened."""
    deadline = time.monotonic() + seconds
    while True:
        events = ask(roost, "GET", f"/v1/rooms/{room}/events", text).json["items"]
        if is_enough(events) or time.monotonic() > deadline:
            return events
        time.sleep(0.05)
