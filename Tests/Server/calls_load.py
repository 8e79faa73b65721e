"""roost-load --calls beside a server that may be killed in the middle: for tests and for `make accept`."""

import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

from roost import BINARY, Roost, free_port

LOAD = os.path.join(os.path.dirname(BINARY), "roost-load")
ROOM = ("--limits.requestsPerAddress=100000", "--limits.requestsAtOncePerAddress=100000", "--http.connections=8192",
        "--http.connectionsPerAddress=8192", "--limits.peers=4000")
"""For a load of which all comes from one address."""
WRONG = ("stuck", "histories", "lost", "events", "violations")


def run(roost, *arguments, seconds=120):
    """Exit status, the report, and what it said beside it."""
    done = subprocess.run([LOAD, "--url", f"http://{roost.public}", "--json", *arguments], capture_output=True, text=True,
                          timeout=seconds)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


class Running:
    """A load that goes on."""

    def __init__(self, url, *arguments):
        self._child = subprocess.Popen([LOAD, "--url", url, "--json", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.said = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._child.kill()
        self._child.wait()
        self._reader.join()
        self._child.stdout.close()
        self._child.stderr.close()

    def _read(self):
        for line in self._child.stderr:
            self.said.append(line)

    def wait_until(self, count, word, seconds=60):
        """Waits until its progress says at least so many calls are `word`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if any(int(each) >= count for line in self.said[-3:] for each in re.findall(rf"(\d+)(?: of \d+)? {word}", line)):
                return
            assert self._child.poll() is None, "".join(self.said)
            time.sleep(0.05)
        raise AssertionError(f"not {count} {word}:\n{''.join(self.said)}")

    def ended(self, seconds):
        """Exit status and report."""
        status = self._child.wait(seconds)
        return status, json.loads(self._child.stdout.read())


def killed(storage, calls, rate, talk=5, seconds=200):
    """Exit status, report and what was said of a load whose server is killed once half of the calls are connected."""
    options = (storage, f"--http.port={free_port(socket.SOCK_STREAM)}", *ROOM)
    with Roost(*options) as roost:
        load = Running(f"http://{roost.public}", "--calls", str(calls), "--rate", str(rate), "--talk", str(talk), "--restarts")
        with load:
            load.wait_until(calls // 2, "connected")
            roost.signal(signal.SIGKILL)
            with Roost(*options):
                status, report = load.ended(seconds)
        return status, report, "".join(load.said)


def figures(report):
    """A line of what it came to."""
    times = report["times"]
    ring, sound = (", ".join(f"{name} {times[key][name]:.1f}" for name in ("p50", "p99")) if "p50" in times[key] else "none"
                   for key in ("startToRing", "answerToSound"))
    wrong = ", ".join(f"{report['wrong'][each]} {each}" for each in WRONG)
    return (f"{report['started']} started, {report['connected']} connected, {report['ended']} ended in {report['seconds']:.0f} s; "
            f"start to ring {ring} ms, answer to sound {sound} ms; {wrong}; {report['sound']['lost']} of "
            f"{report['sound']['received'] + report['sound']['lost']} packets lost; again: {report['again']}")
