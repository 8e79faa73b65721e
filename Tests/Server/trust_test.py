"""Whom the program believes that it speaks with the right server, and how it reaches it."""

import os
import pathlib
import re
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import cli_test
from cli_parts import cli, environment
from limits import LimitedTest
from roost import BINARY, Roost, free_port

SECRET = "s" * 40
# Commands by HTTP and by WebSocket.
COMMANDS = {"http": ["rooms"], "websocket": ["record", "--room", "demo", "--duration", "1s", "--out"]}


class Server:
    """`with Server(folder) as url:` with the certificate that `TLSTest.make` has left there."""

    def __init__(self, folder):
        self._folder = folder

    def __enter__(self):
        log = pathlib.Path(self._folder, "log")
        arguments = [f"--storage.directory={self._folder}/data", f"--http.certificate={self._folder}/certificate.pem",
                     f"--http.privateKey={self._folder}/key.pem"]
        with log.open("w") as output:
            self._child = subprocess.Popen([BINARY, "serve", "--http.port=0", "--admin.port=0", f"--media.port={free_port()}", *arguments],
                                           stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment(ROOST_KEYS="key:" + SECRET))
        deadline = time.monotonic() + 20
        while not (found := re.search(r"https://127\.0\.0\.1:(\d+)/", log.read_text())):
            if time.monotonic() > deadline:
                self.__exit__()
                raise TimeoutError(log.read_text())
            time.sleep(0.02)
        return f"https://127.0.0.1:{found[1]}"

    def __exit__(self, *_):
        self._child.kill()
        self._child.wait(10)


@unittest.skipUnless(os.geteuid() == 0, "mounts a directory of its own")
class AuthoritiesTest(LimitedTest):
    """With the server's authority among those of the system, in a mount namespace of its own."""

    def test_a_file_of_authorities_stands_in_place_of_the_systems(self):
        with tempfile.TemporaryDirectory() as folder:
            cli_test.TLSTest.make(folder)
            certificates = pathlib.Path(folder, "certificates")
            certificates.mkdir()
            for name in ("ca-certificates.crt", "ca.pem"):
                (certificates / name).write_bytes(pathlib.Path(folder, "ca.pem").read_bytes())
            subprocess.run(["openssl", "rehash", certificates], check=True, capture_output=True, timeout=30)
            inside = ["-m", "sh", "-c", f'mount --bind {certificates} /etc/ssl/certs && exec "$@"', "sh", BINARY]
            probe = subprocess.run(["unshare", *inside[:3], f"mount --bind {certificates} /etc/ssl/certs"], capture_output=True, text=True,
                                   timeout=10)
            if probe.returncode:
                self.skipTest(f"no mounts of its own: {probe.stderr}")
            with Server(folder) as url:
                for kind, command in COMMANDS.items():
                    place = [f"{folder}/take-{kind}"] if kind == "websocket" else []

                    def run(*words):
                        return cli(*inside, *command, *place, "--url", url, *words, program="unshare", ROOST_KEYS="key:" + SECRET)

                    with self.subTest(kind):
                        believed = run()
                        self.assertNotIn("certificate", believed.stderr)
                        self.assertEqual(believed.returncode, 0, believed.stderr)
                        refused = run("--ca", f"{folder}/other.pem")
                        self.assertEqual(refused.returncode, 3, refused.stderr)
                        self.assertIn("--ca FILE", refused.stderr)


class OldTLSTest(LimitedTest):
    """A server that speaks nothing newer than TLS 1.1, with a library that would."""

    def test_no_token_goes_over_tls_older_than_1_2(self):
        with tempfile.TemporaryDirectory() as folder:
            cli_test.TLSTest.make(folder)
            settings = pathlib.Path(folder, "openssl.cnf")
            settings.write_text("openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = old\n"
                                "[old]\nMinProtocol = TLSv1\nCipherString = ALL:@SECLEVEL=0\n")
            port = free_port(socket.SOCK_STREAM)
            words = ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", f"{folder}/certificate.pem", "-key", f"{folder}/key.pem",
                     "-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]
            with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env=environment(OPENSSL_CONF=str(settings))) as child:
                try:
                    while (line := child.stdout.readline()) != "ACCEPT\n":
                        self.assertTrue(line, "openssl has ended")
                    self.ask(folder, port, settings)
                finally:
                    child.kill()
                    said = child.stdout.read()
            self.assertNotIn("GET /", said)

    def ask(self, folder, port, settings):
        trust = ["--url", f"https://127.0.0.1:{port}", "--ca", f"{folder}/ca.pem"]
        # The library alone would: the test is of no use otherwise.
        control = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_1"], input="", capture_output=True, text=True,
                                 timeout=10, env=environment(OPENSSL_CONF=str(settings)))
        if "Cipher is (NONE)" in control.stdout:
            self.skipTest("this OpenSSL has no TLS 1.1")
        for kind, command in COMMANDS.items():
            with self.subTest(kind):
                place = [f"{folder}/take"] if kind == "websocket" else []
                done = cli(*command, *place, *trust, ROOST_KEYS="key:" + SECRET, OPENSSL_CONF=str(settings))
                self.assertEqual(done.returncode, 3, done.stderr)


class ProxyTest(LimitedTest):
    def test_what_is_on_this_machine_is_reached_directly_by_websocket_too(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as listener, Roost() as roost:
            listener.bind(("127.0.0.1", 0))
            listener.listen(8)
            listener.settimeout(0.1)
            heard, isOver = [], threading.Event()

            def listen():
                while not isOver.is_set():
                    try:
                        client, _ = listener.accept()
                    except TimeoutError:
                        continue
                    with client:
                        client.settimeout(2)
                        heard.append(client.recv(4096))

            thread = threading.Thread(target=listen)
            thread.start()
            try:
                proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
                done = cli("record", "--room", "demo", "--duration", "1s", "--out", f"{folder}/take", "--dev", "--url", f"http://{roost.public}",
                           http_proxy=proxy, all_proxy=proxy, no_proxy="", NO_PROXY="")
            finally:
                isOver.set()
                thread.join()
            self.assertEqual(heard, [])
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
