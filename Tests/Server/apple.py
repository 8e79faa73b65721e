"""Apple's push service as a server meets it: apns_server.py once for apps from the store and once for those that Xcode installs, over TLS."""

import base64
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

import cli_test
from roost import HERE

KEY_ID, TEAM_ID = "ABC123DEFG", "DEF123GHIJ"
"""Those that apns_server.py knows."""
TOPIC = "com.example.roost"
URL = "https://media.example"
"""Where the server says that it is reached."""


def device_token(number):
    """Of 64 hexadecimal digits, as Apple gives them; of a number up to 255."""
    return f"{number:02x}" * 32


def decoded(part):
    """A part of a JWT."""
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class Push:
    """One that has come, with what it was answered."""

    def __init__(self, note):
        self.method, self.path, self.status, self.headers = (note[name] for name in ("method", "path", "status", "headers"))
        self.bytes = note["body"].encode()
        self.body = json.loads(note["body"])
        self.token = self.path.rpartition("/")[2]

    @property
    def wanted(self):
        """Its headers for Apple, but for the id, which is another each time."""
        return {name: value for name, value in self.headers.items() if name.startswith("apns-") and name != "apns-id"}


class Service:
    """One of Apple's two."""

    def __init__(self, folder):
        files = [os.path.join(folder, name) for name in ("certificate.pem", "key.pem", "signer.pem")]
        self._child = subprocess.Popen([sys.executable, os.path.join(HERE, "apns_server.py"), *files], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        self.url = f"https://127.0.0.1:{json.loads(self._child.stdout.readline())['port']}"

    def stop(self):
        self._child.kill()
        self._child.communicate()

    def _do(self, what, **more):
        self._child.stdin.write(json.dumps({"do": what} | more) + "\n")
        self._child.stdin.flush()
        return json.loads(self._child.stdout.readline())

    def script(self, number, *steps):
        """What becomes of pushes to a device, one after the other; the last holds on."""
        self._do("script", token=device_token(number), steps=list(steps))

    @property
    def requests(self):
        """Whatever has come, also what is no push."""
        return self._do("report")["requests"]

    @property
    def pushes(self):
        """Those that were answered, in the order in which they came."""
        return [Push(each) for each in self.requests if each["method"] == "POST" and each["status"]]

    def wait(self, count, seconds=15):
        """All pushes, once there are so many."""
        deadline = time.monotonic() + seconds
        while len(pushes := self.pushes) < count:
            assert time.monotonic() < deadline, f"{len(pushes)} of {count} pushes have come"
            time.sleep(0.02)
        return pushes


class Apple:
    """`with Apple() as apple, Roost(*apple.options()) as roost:` a server that pushes there."""

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="roost-apple-"))
            cli_test.TLSTest.make(self.folder)
            for name in ("signer", "stranger"):
                subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                                f"/CN={name}", "-keyout", f"{name}.p8", "-out", f"{name}.pem"], cwd=self.folder, check=True, capture_output=True,
                               timeout=30)
            self.production = Service(self.folder)
            stack.callback(self.production.stop)
            self.sandbox = Service(self.folder)
            stack.callback(self.sandbox.stop)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def options(self, key="signer"):
        """A server's that has this key of Apple's: Apple knows `signer`, and not `stranger`."""
        return [f"--http.url={URL}", f"--push.authorities={self.folder}/ca.pem", f"--push.apns.key={self.folder}/{key}.p8",
                f"--push.apns.keyId={KEY_ID}", f"--push.apns.teamId={TEAM_ID}", f"--push.apns.productionURL={self.production.url}",
                f"--push.apns.sandboxURL={self.sandbox.url}"]

    def provider(self, push, key="signer"):
        """Header and claims of the provider token that a push came with. It raises InvalidSignature where that key hasn't signed it."""
        found = re.fullmatch(r"bearer (([\w-]+)\.([\w-]+))\.([\w-]+)", push.headers["authorization"], re.ASCII)
        assert found, push.headers
        signature = decoded(found[4])
        assert len(signature) == 64, f"{len(signature)} bytes"
        pair = utils.encode_dss_signature(*(int.from_bytes(signature[at:at + 32], "big") for at in (0, 32)))
        private = serialization.load_pem_private_key(pathlib.Path(self.folder, f"{key}.p8").read_bytes(), None)
        private.public_key().verify(pair, found[1].encode(), ec.ECDSA(hashes.SHA256()))
        return json.loads(decoded(found[2])), json.loads(decoded(found[3]))
