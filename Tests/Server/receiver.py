"""Where webhooks go in tests: notes what comes and answers as it is to."""

import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import queue
import socket
import ssl
import sys
import threading
import time
from dataclasses import dataclass


@dataclass
class Notice:
    path: str
    headers: object
    body: bytes
    # What it was answered; None: nothing.
    status: int

    @property
    def json(self):
        return json.loads(self.body)

    def claims(self, secret=b"secret"):
        """What its signature says; the test fails where that is none of this body."""
        header, payload, code = self.headers["Authorization"].split(".")
        wanted = hmac.new(secret, f"{header}.{payload}".encode(), hashlib.sha256).digest()
        assert base64.urlsafe_b64encode(wanted).rstrip(b"=").decode() == code, "the signature is another"
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        assert claims["sha256"] == base64.b64encode(hashlib.sha256(self.body).digest()).decode(), "of another body"
        return claims


class Server(http.server.ThreadingHTTPServer):
    allow_reuse_address = True
    daemon_threads = True

    def handle_error(self, *_):
        # One that was killed in the middle of a request is no news.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(*_)


class Receiver:
    """`with Receiver() as receiver:` listens; `stop` and `start` are its restarts, on the same port."""

    def __init__(self, plan=(), tls=None):
        """`tls`: paths of a certificate and its key, with which it is reached by https."""
        self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH) if tls else None
        if tls:
            self._tls.load_cert_chain(*tls)
        # Statuses for what comes, one after the other, then 200; 0: nothing is answered for a while.
        self.plan = list(plan)
        self.notices = []
        self._lock = threading.Lock()
        self.port = 0

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def url(self):
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}/hook"

    def start(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.note(self.path, self.headers, body)
                if status == 0:
                    time.sleep(8)
                    status = 200
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", receiver.url + "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = Server(("127.0.0.1", self.port), Handler)
        if self._tls:
            self._server.socket = self._tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    def note(self, path, headers, body):
        with self._lock:
            status = self.plan.pop(0) if self.plan else 200
            self.notices.append(Notice(path, headers, body, status))
            return status

    def taken(self):
        """What was answered by 2xx, in the order in which it came."""
        with self._lock:
            return [each for each in self.notices if each.status == 200]

    def wait(self, count, seconds=10):
        """Notices, once there are so many that were taken."""
        deadline = time.monotonic() + seconds
        while len(self.taken()) < count:
            assert time.monotonic() < deadline, f"{len(self.taken())} of {count} have come"
            time.sleep(0.02)
        return self.taken()


class Hanging:
    """`with Hanging() as receiver:` takes each request and answers nothing, or, where it `trickles`, never comes to the end of its answer."""

    # Seconds for a client to close its connection.
    PATIENCE = 20

    def __init__(self, trickles=False):
        self._pieces = [b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"] + [b"x"] * 900 if trickles else []
        # For each connection, the seconds from when it was accepted until its client closed it.
        self.waited = queue.SimpleQueue()

    def __enter__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/hook"
        threading.Thread(target=self._run, daemon=True).start()
        return self

    def __exit__(self, *_):
        # The thread that accepts wakes by it.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                accepted = time.monotonic()
                with connection:
                    self._hang(connection, accepted + self.PATIENCE)
                    self.waited.put(time.monotonic() - accepted)

    def _hang(self, connection, deadline):
        """Until the other end has closed it."""
        connection.settimeout(0.25)
        pieces = iter(self._pieces)
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < deadline:
                with contextlib.suppress(TimeoutError):
                    if not connection.recv(65_536):
                        return
                    continue
                connection.sendall(next(pieces, b""))
