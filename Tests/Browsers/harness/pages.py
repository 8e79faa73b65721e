"""Serves the folder pages/ on loopback, which browsers count as a secure context."""

import contextlib
import functools
import http.server
import os
import threading

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pages")


def source(name):
    """A script of the folder as text, to be evaluated in a page of another origin."""
    with open(os.path.join(_FOLDER, name)) as file:
        return file.read()


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Pages:
    def __init__(self, network=None):
        """`network`: where it is reached, unless it is here."""
        self._network = network

    def __enter__(self):
        handler = functools.partial(_Handler, directory=_FOLDER)
        with self._network.entered() if self._network else contextlib.nullcontext():
            self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def url(self, page):
        return f"http://127.0.0.1:{self._server.server_address[1]}/{page}"

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
