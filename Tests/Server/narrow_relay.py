"""A way to a UDP port that carries so many bits a second and no more to the one who comes by it."""

import collections
import select
import socket
import threading
import time


class NarrowRelay:
    """`with NarrowRelay(server_port, 400_000) as relay:` passes on what comes at `relay.port`; what the server sends waits in a queue that
    goes at `rate` bits a second, with UDP and IP, and what finds more than `wait` seconds of it is lost. `relay.rate` may be changed."""

    OVERHEAD = 28

    def __init__(self, server_port, rate, wait=0.3):
        self._server, self.rate, self._wait = ("127.0.0.1", server_port), rate, wait
        self._front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._front.bind(("0.0.0.0", 0))
        self.port = self._front.getsockname()[1]
        self._back, self._queue, self._free = {}, collections.deque(), 0.0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.passed = self.lost = 0

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ending.set()
        self._thread.join(2)
        for each in [self._front, *self._back.values()]:
            each.close()

    def _run(self):
        clients = {}
        while not self._ending.is_set():
            until = self._queue[0][0] - time.monotonic() if self._queue else 0.1
            ready, _, _ = select.select([self._front, *clients], [], [], min(max(until, 0), 0.1))
            for one in ready:
                data, address = one.recvfrom(65_536)
                if one is not self._front:
                    self._enqueue(data, clients[one])
                    continue
                if address not in self._back:
                    self._back[address] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                    clients[self._back[address]] = address
                self._back[address].sendto(data, self._server)
            while self._queue and self._queue[0][0] <= time.monotonic():
                _, data, address = self._queue.popleft()
                self._front.sendto(data, address)
                self.passed += 1

    def _enqueue(self, data, address):
        now = time.monotonic()
        begin = max(now, self._free)
        if begin - now > self._wait:
            self.lost += 1
            return
        self._free = begin + (len(data) + self.OVERHEAD) * 8 / self.rate
        self._queue.append((self._free, data, address))
