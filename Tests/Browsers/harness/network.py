"""A second network namespace: what is started in it, and sockets of this program that lie in it."""

import asyncio
import contextlib
import ctypes
import os
import socket
import subprocess

from .process import Process

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def _enter(descriptor):
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


class Network:
    """`async with Network(name) as network:` has one with loopback alone; the kernel removes it with its last process."""

    def __init__(self, name):
        self._holder = Process(f"network-{name}", ["unshare", "--net", "sleep", "infinity"])
        self._passages = []
        self._tasks = set()

    async def __aenter__(self):
        self._holder.start()
        try:
            own = os.readlink("/proc/self/ns/net")
            await self._holder.wait_for("namespace", lambda: os.readlink(self.path) != own, 10)
            self.ip("link set lo up")
        except BaseException:
            await self._holder.end()
            raise
        return self

    async def __aexit__(self, *_):
        for each in self._passages:
            each.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._holder.end()

    @property
    def pid(self):
        return self._holder.pid

    @property
    def path(self):
        return f"/proc/{self.pid}/ns/net"

    def inside(self, command):
        """The command that runs `command` in it, with the same pid."""
        return ["nsenter", f"--net={self.path}", *command]

    def ip(self, line):
        subprocess.run(self.inside(["ip", *line.split()]), check=True, timeout=10)

    @contextlib.contextmanager
    def entered(self):
        """Sockets that are made in the block lie in it. Nothing is awaited there: this thread is elsewhere."""
        own, other = os.open("/proc/thread-self/ns/net", os.O_RDONLY), os.open(self.path, os.O_RDONLY)
        try:
            _enter(other)
            yield
        finally:
            _enter(own)
            os.close(own)
            os.close(other)

    def connected(self, host, port):
        """A socket that is connected to an address of it."""
        with self.entered():
            return socket.create_connection((host, port), 5)

    async def pass_on(self, port):
        """Lets what connects to 127.0.0.1:`port` in it reach the same port here: signalling doesn't take the link."""
        with self.entered():
            listener = socket.create_server(("127.0.0.1", port))
        self._passages.append(await asyncio.start_server(lambda *ends: self._serve(port, *ends), sock=listener))

    async def _serve(self, port, reader, writer):
        self._tasks.add(asyncio.current_task())
        far_writer = None
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
            pumps = [asyncio.create_task(self._pump(*way)) for way in ((reader, far_writer), (far_reader, writer))]
            try:
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in pumps:
                    each.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
        except OSError:
            pass
        finally:
            for each in (writer, far_writer):
                if each:
                    each.close()
            self._tasks.discard(asyncio.current_task())

    @staticmethod
    async def _pump(reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
