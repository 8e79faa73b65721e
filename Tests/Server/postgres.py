"""A PostgreSQL server of the tests' own: in a temporary directory, reached by a socket there, run as `postgres` where the tests run as
root, and ended by its process id."""

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from roost import free_port


def binary(name):
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    assert found, f"there is no {name}; scripts/install test installs it"
    return found[-1]


def as_server(*command):
    """PostgreSQL doesn't run as root."""
    return ["runuser", "-u", "postgres", "--", *command] if os.geteuid() == 0 else list(command)


class Postgres:
    """`with Postgres() as postgres:` starts one, reached by nothing but its socket; `postgres.text` leads to its database."""

    # Who may do anything there.
    user = "roost"
    port = 5432
    _options = "-c listen_addresses="

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="roost-postgres-", dir="/tmp")
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.directory, user.pw_uid, user.pw_gid)
        self._data = os.path.join(self.directory, "data")
        self.text = f"host={self.directory} user=roost dbname=roost"
        self.pid = None
        try:
            self._run(binary("initdb"), "-D", self._data, "-A", "trust", "-U", self.user, "-E", "UTF8", "--locale=C", "--no-sync")
            self._prepare()
            self.start()
            self._fill()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.pid is not None:
            self.resume()
            self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _prepare(self):
        """Before it is started."""

    def _fill(self):
        self.query("CREATE DATABASE roost", "postgres")

    def _run(self, *command):
        done = subprocess.run(as_server(*command), capture_output=True, text=True, timeout=60, cwd="/")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def start(self):
        self._run(binary("pg_ctl"), "-D", self._data, "-w", "-t", "30", "-l", os.path.join(self.directory, "log"),
                  "-o", f"-k {self.directory} -c max_connections=20 {self._options}", "start")
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
        return self._run(binary("psql"), "-X", "-A", "-t", "-q", "-h", self.directory, "-p", str(self.port), "-U", self.user, "-d", database,
                         "-c", sql)


class InstalledPostgres(Postgres):
    """As an administrator finds one: with the user and the database `postgres` alone. That user comes in by the socket, without a password;
    others do so at `localhost`, by TLS and with one."""

    user = "postgres"

    def __init__(self, certificate, key):
        self._tls = {"server.crt": certificate, "server.key": key}
        self.port = free_port(socket.SOCK_STREAM)
        self._options = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c ssl=on"

    def _prepare(self):
        for name, path in self._tls.items():
            copy = os.path.join(self._data, name)
            shutil.copyfile(path, copy)
            # Its key is for itself alone, or it doesn't start.
            os.chmod(copy, 0o600)
            if os.geteuid() == 0:
                shutil.chown(copy, "postgres", "postgres")
        with open(os.path.join(self._data, "pg_hba.conf"), "w", encoding="utf-8") as file:
            file.write("local all postgres trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n")

    def _fill(self):
        """Its own database is there."""

    @property
    def environment(self):
        """By which PostgreSQL's programs find it."""
        return {"PGHOST": self.directory, "PGPORT": str(self.port), "PGUSER": self.user}
