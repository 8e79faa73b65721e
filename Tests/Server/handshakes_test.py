"""How many TLS handshakes the server takes from one address, with nothing said of it in its configuration."""

import os
import pathlib
import re
import socket
import subprocess
import tempfile
import time
import unittest

from limits import LimitedTest
from roost import BINARY, free_port

RATE, BURST = 50, 256
CONNECTIONS = 600


class HandshakesTest(LimitedTest):
    def served(self, folder, secure):
        """How many of many connections of one address are kept, and in how many seconds they came."""
        arguments = ["--http.port=0", "--admin.port=0", f"--media.port={free_port()}", f"--storage.directory={folder}/{secure}"]
        if secure:
            arguments += [f"--http.certificate={folder}/certificate.pem", f"--http.privateKey={folder}/key.pem"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ROOST")}
        environment["ROOST_KEYS"] = "key:" + "s" * 40
        with open(f"{folder}/log", "w+", encoding="utf-8") as log:
            child = subprocess.Popen([BINARY, "serve", *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                     env=environment)
            try:
                port = self.port(child, pathlib.Path(folder, "log"), "https" if secure else "http")
                return self.flood(port)
            finally:
                child.kill()
                child.wait(timeout=10)

    def port(self, child, log, scheme):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and child.poll() is None:
            found = re.search(rf"{scheme}://127\.0\.0\.1:(\d+)/", log.read_text(encoding="utf-8"))
            if found:
                return int(found[1])
            time.sleep(0.02)
        self.fail(log.read_text(encoding="utf-8"))

    @staticmethod
    def flood(port):
        begin = time.monotonic()
        sockets = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(CONNECTIONS)]
        try:
            # One that is refused is closed before anything is read of it; the others wait for what the client says.
            time.sleep(1)
            kept = 0
            for each in sockets:
                each.setblocking(False)
                try:
                    each.recv(1)
                except BlockingIOError:
                    kept += 1
                except ConnectionError:
                    pass
            return kept, time.monotonic() - begin
        finally:
            for each in sockets:
                each.close()

    def test_an_address_begins_256_at_once_and_50_a_second(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                            "-subj", "/CN=localhost", "-keyout", f"{folder}/key.pem", "-out", f"{folder}/certificate.pem"],
                           check=True, capture_output=True, timeout=20)
            kept, seconds = self.served(folder, secure=True)
            self.assertGreaterEqual(kept, BURST)
            self.assertLessEqual(kept, BURST + RATE * seconds + 1)
            self.assertLess(kept, CONNECTIONS, "the machine was so slow that nothing is shown")
            # Without TLS they cost nothing like it.
            self.assertEqual(self.served(folder, secure=False)[0], CONNECTIONS)


if __name__ == "__main__":
    unittest.main()
