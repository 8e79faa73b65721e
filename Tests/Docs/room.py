"""A folder in which the commands of a page are run."""

import os
import pathlib
import signal
import subprocess
import time

from blocks import ROOT, programs
from roost import free_port

# The environment of a command: the server's ports are free ones, however it is started.
PORTS = {"ROOST_HTTP_PORT": "0", "ROOST_ADMIN_PORT": "0"}
SECRET = "0123456789abcdef0123456789abcdef"


class Room:
    """A folder in which the commands of one page are run, one after the other."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for name in (".build", "Config", "Tests", "docs", "scripts", "Makefile"):
            (self.folder / name).symlink_to(ROOT / name)
        (self.folder / "venv").symlink_to(ROOT / ".build-python")
        for name in ("bin", "etc/systemd/system", "usr/local/bin", "var/lib", "var/backups"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "bin/roost").symlink_to(ROOT / ".build/release/roost")
        for name, text in programs().items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text)
        self._beside = []
        # As files of a recording are called, made by another tool.
        for name, of in [("TR_k3XbQ9uTzLw2.1.webm", "vp8-opus.webm"), ("TR_Zp0aVq81LmNs.1.webm", "vp8-opus.webm")]:
            (self.folder / name).symlink_to(ROOT / "Tests/Fixtures/containers" / of)
        # What README's remark says: a key of one's own, in place of none, and a directory here.
        editor = self.folder / "bin/an-editor"
        editor.write_text(f"#!/bin/sh\nsed -i -e 's/^  keys: {{}},$/  keys: {{ mykey: \"{SECRET}\" }},/' "
                          "-e '/^  storage: {/,/^  }/s/directory: \"\"/directory: \"data\"/' \"$1\"\n")
        editor.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ROOST", "MAKE", "MFLAGS"))}
        self.environment = kept | {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "EDITOR": "an-editor", "GOFLAGS": "",
            "GOCACHE": str(ROOT / ".build-go"), "HOME": os.environ.get("HOME", "/root"),
        }

    def run(self, lines, seconds=120):
        """Runs lines in one shell, which ends with the first that fails. What was printed comes back."""
        script = "\n".join(lines)
        done = subprocess.run(["bash", "-euxo", "pipefail", "-c", script], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
        if done.returncode != 0:
            raise AssertionError(f"exit status {done.returncode} of\n{script}\n{done.stdout[-4000:]}")
        return done.stdout

    def begin(self, line, words, seconds=30):
        """Starts what goes on until `end`, and waits until it prints these words."""
        path = self.folder / f"beside-{len(self._beside)}.log"
        with open(path, "w", encoding="utf-8") as log:
            child = subprocess.Popen(["bash", "-c", f"exec {line}"], cwd=self.folder, env=self.environment | {"PYTHONUNBUFFERED": "1"},
                                     stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._beside.append(child)
        deadline = time.monotonic() + seconds
        while words not in (text := path.read_text(encoding="utf-8")):
            if child.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"{line} does not say {words}:\n{text}")
            time.sleep(0.05)

    def end(self):
        """Interrupts what goes on, as Ctrl-C does."""
        for child in self._beside:
            child.send_signal(signal.SIGINT)
        for child in self._beside:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def serve(self, line):
        """Starts a server, waits until it is ready, and ends it by SIGTERM."""
        environment = self.environment | PORTS | {"ROOST_MEDIA_PORT": str(free_port())}
        with open(self.folder / "server.log", "w+", encoding="utf-8") as log:
            child = subprocess.Popen(["bash", "-c", line], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                     stdout=log, stderr=log, start_new_session=True)
            try:
                deadline = time.monotonic() + 300  # `make run` builds
                while "Roost is ready" not in (text := (self.folder / "server.log").read_text(encoding="utf-8")):
                    if child.poll() is not None or time.monotonic() > deadline:
                        raise AssertionError(f"{line} does not become ready:\n{text}")
                    time.sleep(0.05)
                os.killpg(child.pid, signal.SIGTERM)
                child.wait(30)
            finally:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
