"""A PostgreSQL server of the tests' own: in a temporary directory, reached by a socket there and by nothing else, run as
`postgres` where the tests run as root, and ended by its process id."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time


def binary(name):
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    assert found, f"there is no {name}; scripts/install test installs it"
    return found[-1]


def as_server(*command):
    """PostgreSQL doesn't run as root."""
    return ["runuser", "-u", "postgres", "--", *command] if os.geteuid() == 0 else list(command)


class Postgres:
    """`with Postgres() as postgres:` starts one; `postgres.text` leads to its database."""

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="roost-postgres-", dir="/tmp")
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.directory, user.pw_uid, user.pw_gid)
        self._data = os.path.join(self.directory, "data")
        self.text = f"host={self.directory} user=roost dbname=roost"
        self.pid = None
        try:
            self._run(binary("initdb"), "-D", self._data, "-A", "trust", "-U", "roost", "-E", "UTF8", "--locale=C", "--no-sync")
            self.start()
            self.query("CREATE DATABASE roost", "postgres")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.pid is not None:
            self.resume()
            self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _run(self, *command):
        done = subprocess.run(as_server(*command), capture_output=True, text=True, timeout=60, cwd="/")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def start(self):
        self._run(binary("pg_ctl"), "-D", self._data, "-w", "-t", "30", "-l", os.path.join(self.directory, "log"),
                  "-o", f"-k {self.directory} -c listen_addresses= -c max_connections=20", "start")
        with open(os.path.join(self._data, "postmaster.pid")) as file:
            self.pid = int(file.readline())

    def stop(self):
        """At once, as if the machine had stopped it."""
        os.kill(self.pid, signal.SIGQUIT)
        deadline = time.monotonic() + 20
        while os.path.exists(f"/proc/{self.pid}") and time.monotonic() < deadline:
            time.sleep(0.02)
        self.pid = None

    def _sessions(self):
        """It and the processes that serve its connections."""
        done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.pid)], capture_output=True, text=True, timeout=10)
        return [self.pid, *(int(each) for each in done.stdout.split())]

    def freeze(self):
        """It stands still, and its connections stay."""
        self._frozen = self._sessions()
        for pid in self._frozen:
            os.kill(pid, signal.SIGSTOP)

    def resume(self):
        for pid in getattr(self, "_frozen", []):
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass
        self._frozen = []

    def query(self, sql, database="roost"):
        return self._run(binary("psql"), "-X", "-A", "-t", "-q", "-h", self.directory, "-U", "roost", "-d", database, "-c", sql)
