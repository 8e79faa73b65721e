"""A disk for one server, small enough to be filled: in memory, in a mount namespace of its own."""

import contextlib
import os
import subprocess
import tempfile
import unittest


class SmallDisk:
    def __init__(self, place, holder):
        # Where it is, and a command that a server runs in to see it.
        self.place, self.inside = place, ["nsenter", "-m", "-t", str(holder), "--"]
        # As another process sees it.
        self._filler = f"/proc/{holder}/root{place}/filler"

    def fill(self):
        with open(self._filler, "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                pass

    def clear(self):
        os.remove(self._filler)


@contextlib.contextmanager
def small_disk(size, seconds):
    """Of that size, for so long at most."""
    place = tempfile.mkdtemp(prefix="roost-small-")
    holder = subprocess.Popen(
        ["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size={size} roost {place} && echo mounted && exec sleep {seconds}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        if holder.stdout.readline() != b"mounted\n":
            raise unittest.SkipTest(f"no mounts of its own: {holder.stderr.read().decode()}")
        yield SmallDisk(place, holder.pid)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
        holder.stderr.close()
        os.rmdir(place)
