"""A TCP proxy that breaks connections, as a network that goes away does."""

import asyncio
import socket
import struct


class Cutter:
    """`async with Cutter(host, port) as cutter:` listens at `cutter.port` of 127.0.0.1 and passes on to the other.

    `cut()` resets both ends of every connection. With `budget`, each new connection has so many bytes, in both
    directions together, after which it is reset: in the middle of a handshake, of a frame, of an answer.
    """

    def __init__(self, host, port, budget=None):
        self._target = (host, port)
        self.budget = budget
        self._tasks = set()
        self._open = set()  # pairs of writers
        self.cuts = 0

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self):
        for writers in list(self._open):
            self._reset(writers)

    def _reset(self, writers):
        if writers not in self._open:
            return
        self._open.discard(writers)
        self.cuts += 1
        for each in writers:
            # A reset: what is on its way is lost as well.
            each.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            each.transport.abort()

    async def _serve(self, reader, writer):
        self._tasks.add(asyncio.current_task())
        try:
            far_reader, far_writer = await asyncio.open_connection(*self._target)
        except OSError:
            writer.close()
            self._tasks.discard(asyncio.current_task())
            return
        writers = (writer, far_writer)
        self._open.add(writers)
        left = [self.budget() if self.budget else float("inf")]
        pumps = [asyncio.create_task(self._pump(*way, left))
                 for way in ((reader, far_writer), (far_reader, writer))]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            if left[0] <= 0:
                self._reset(writers)
        finally:
            for pump in pumps:
                pump.cancel()
            self._open.discard(writers)
            for each in writers:
                each.close()
            self._tasks.discard(asyncio.current_task())

    async def _pump(self, reader, writer, left):
        try:
            while data := await reader.read(65536):
                # Never more than is left, so that a cut falls anywhere.
                data = data[:int(max(0, min(left[0], len(data))))]
                left[0] -= len(data)
                writer.write(data)
                await writer.drain()
                if left[0] <= 0:
                    return
        except OSError:
            pass
