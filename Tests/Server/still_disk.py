"""A server whose disk of recordings stands still when a test says so."""

import contextlib
import pathlib
import subprocess
import tempfile

from roost import Roost

SOURCE = pathlib.Path(__file__).with_name("still_disk.c")


@contextlib.contextmanager
def still_disk(*arguments):
    """`(server, file, file)`: while the first file is there nothing is synced, while the second is nothing is known of free space."""
    with tempfile.TemporaryDirectory(prefix="roost-still-") as made:
        here = pathlib.Path(made)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", here / "still.so", SOURCE], check=True, timeout=60)
        with Roost(*arguments, environment={"LD_PRELOAD": str(here / "still.so"), "STILL_DISK": str(here / "still")}) as roost:
            try:
                yield roost, here / "still", here / "still-looks"
            finally:
                for each in ("still", "still-looks"):
                    (here / each).unlink(missing_ok=True)
