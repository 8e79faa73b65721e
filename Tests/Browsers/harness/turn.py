"""A real TURN server, Debian's coturn, that takes time-limited user names."""

import base64
import hashlib
import hmac
import socket

from .namespace import ADDRESS
from .process import Process

SECRET = "a secret that the two servers share"
PORT = 3478


def signed(username):
    """The ICE server with that user name, as a holder of the secret makes it."""
    code = hmac.new(SECRET.encode(), username.encode(), hashlib.sha1).digest()
    return {"urls": url("udp"), "username": username, "credential": base64.b64encode(code).decode()}


def url(transport):
    return f"turn:{ADDRESS}:{PORT}?transport={transport}"


class Turn:
    """`async with Turn() as turn:` runs it in the namespace of the test."""

    def __init__(self):
        self.process = Process("turn", [
            "turnserver", "-n", "--realm=roost.test", "--use-auth-secret", f"--static-auth-secret={SECRET}",
            f"--listening-ip={ADDRESS}", f"--listening-port={PORT}", f"--relay-ip={ADDRESS}",
            "--no-cli", "--no-tls", "--no-dtls", "--log-file=stdout", "--simple-log", "--verbose",
            "--pidfile={folder}/pid", "--userdb={folder}/users"])

    async def __aenter__(self):
        self.process.start()
        try:
            await self.process.wait_for("connection", self._answers, 20)
        except BaseException:
            await self.process.end()
            raise
        return self

    def _answers(self):
        try:
            socket.create_connection((ADDRESS, PORT), 1).close()
            return True
        except OSError:
            return False

    async def __aexit__(self, *_):
        await self.process.end()
