"""What tests of the operator's commands are made of: the program run once, or followed line by line, and a server that streams."""

import http.server
import json
import os
import queue
import signal
import subprocess
import threading
import time

from roost import BINARY


def environment(**more):
    """That of the test without what Roost reads, and with what is given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ROOST")}
    return {name: value for name, value in (kept | more).items() if value is not None}


def cli(*arguments, program=BINARY, seconds=20, **variables):
    """The program, run to its end: `returncode`, `stdout`, `stderr`."""
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL,
                          env=environment(**variables))


class Cli:
    """`Cli(url)("rooms", "--json")` asks that server by the development key."""

    def __init__(self, url):
        self.url = url

    def __call__(self, *words, **more):
        return cli(*words, "--dev", "--url", self.url, **more)

    def json(self, *words, **more):
        """The one JSON value that a command prints."""
        done = self(*words, "--json", **more)
        assert done.returncode == 0, (words, done.stderr)
        assert done.stdout.count("\n") == 1, done.stdout
        return json.loads(done.stdout)


class Followed:
    """`with Followed("events", …) as followed:` a command that goes on; its lines, one after the other."""

    def __init__(self, *arguments, **variables):
        self._arguments, self._environment = arguments, environment(**variables)
        self._lines = queue.Queue()
        self.errors = []

    def __enter__(self):
        self.child = subprocess.Popen([BINARY, *self._arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, env=self._environment, preexec_fn=self._begin)
        self._threads = [threading.Thread(target=self._read, args=(self.child.stdout, self._lines.put), daemon=True),
                         threading.Thread(target=self._read, args=(self.child.stderr, self.errors.append), daemon=True)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait(10)
        for thread in self._threads:
            thread.join(10)

    @staticmethod
    def _begin():
        # Of what a shell runs in the background it is ignored.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    @staticmethod
    def _read(stream, take):
        with stream:
            for line in stream:
                take(line.rstrip("\n"))

    def line(self, seconds=10):
        return self._lines.get(timeout=seconds)

    def events(self, count, seconds=20):
        """The next events, and fails where they don't come in time."""
        deadline = time.monotonic() + seconds
        return [json.loads(self.line(max(0.1, deadline - time.monotonic()))) for _ in range(count)]

    def interrupt(self):
        self.child.send_signal(signal.SIGINT)
        return self.child.wait(10)

    def ended(self, seconds=10):
        return self.child.wait(seconds)


class StreamServer:
    """`with StreamServer(count) as server:` a server of nothing but streams of events, each of which it breaks off where it likes.

    It has the events 1 to `count` of the room `demo`, and its streams end with `end`. Of the first ones only so many bytes are sent as
    `pieces` says. `answers` are what the first requests get: None a stream, else (status, headers, body). `asked` has what each request
    said."""

    def __init__(self, count, pieces=(), end="roomFinished", answers=()):
        self.asked = []
        pieces, answers, owner = iter(pieces), iter(answers), self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                owner.asked.append({"path": self.path, "last": self.headers.get("Last-Event-ID"), "token": self.headers.get("Authorization"),
                                    "accept": self.headers.get("Accept")})
                if answer := next(answers, None):
                    status, headers, body = answer
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream; charset=utf-8")
                self.send_header("Connection", "close")
                self.end_headers()
                known = int((self.headers.get("Last-Event-ID") or "RM_x:0").split(":")[1])
                text = ": roost\n\nretry: 100\n\n" + "".join(owner.block(number) for number in range(known + 1, count + 1))
                text += f'event: end\ndata: {{"reason":"{end}"}}\n\n' if end else ""
                self.wfile.write(text.encode()[:next(pieces, None)])
                self.close_connection = True

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @staticmethod
    def block(number):
        event = {"id": number, "roomId": "RM_x", "room": "demo", "type": "room.updated", "metadata": "ü" * (number % 7)}
        return f"id: RM_x:{number}\nevent: room.updated\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"

    def __enter__(self):
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
