"""A child process with a log file, ended by its pid."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile


class Process:
    """Runs `command` in a folder of its own, which goes when the process does."""

    def __init__(self, name, command, environment=None, has_input=False):
        """`has_input`: `say` writes lines to its standard input."""
        self.name = name
        self.folder = tempfile.mkdtemp(prefix=f"roost-{name}-")
        self.log_path = os.path.join(self.folder, "log.txt")
        self._command = [part.replace("{folder}", self.folder) for part in command]
        # Neither the user's settings nor a proxy of the host belong into a test.
        self._environment = {
            "HOME": self.folder,
            "LANG": "C.UTF-8",
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "TMPDIR": self.folder,
            "XDG_RUNTIME_DIR": self.folder,
        } | (environment or {})
        self._has_input = has_input
        self._child = None

    def start(self):
        with open(self.log_path, "wb") as log:
            self._child = subprocess.Popen(self._command, cwd=self.folder, env=self._environment,
                                           stdin=subprocess.PIPE if self._has_input else subprocess.DEVNULL,
                                           stdout=log, stderr=log,
                                           start_new_session=True)

    @property
    def pid(self):
        return self._child.pid

    def say(self, line):
        self._child.stdin.write(line.encode() + b"\n")
        self._child.stdin.flush()

    def signal(self, number):
        self._child.send_signal(number)

    def log(self):
        with open(self.log_path, "rb") as log:
            return log.read().decode(errors="replace")

    def require_running(self):
        status = self._child.poll()
        if status is not None:
            last = "\n  ".join(self.log().splitlines()[-15:])
            raise RuntimeError(f"{self.name} ended with status {status}:\n  {last}")

    async def wait_for(self, what, read, seconds=30.0):
        """Asks `read` until it answers something, while the process runs."""
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            answer = read()
            if answer:
                return answer
            self.require_running()
            if asyncio.get_running_loop().time() > deadline:
                raise TimeoutError(f"{self.name}: no {what} within {seconds:g} s")
            await asyncio.sleep(0.05)

    async def ended(self, seconds=30.0):
        """Waits until it has ended by itself, well."""
        deadline = asyncio.get_running_loop().time() + seconds
        while self._child.poll() is None:
            if asyncio.get_running_loop().time() > deadline:
                raise TimeoutError(f"{self.name} still runs after {seconds:g} s")
            await asyncio.sleep(0.05)
        if self._child.returncode:
            self.require_running()

    async def end(self):
        """Asks the process to end, kills its process group after 5 s, removes its folder."""
        if self._child is not None and self._child.poll() is None:
            self._child.send_signal(signal.SIGTERM)
            for _ in range(100):
                if self._child.poll() is not None:
                    break
                await asyncio.sleep(0.05)
        if self._child is not None:
            try:
                os.killpg(self._child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self._child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
