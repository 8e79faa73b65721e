"""A network between participants and the server that does what it should not."""

import queue
import selectors
import socket
import threading
import time


class BadNetwork:
    """A UDP proxy: of the media on its way to clients every hundredth packet is lost, two of one stream change
    places once, and one byte is flipped once."""

    def __init__(self, server_port, every=100, whole=0):
        """`every`: of so many packets on their way to clients one is lost; 1: all are. `whole`: the first so many come through."""
        self._every, self._whole = every, whole
        self._server = ("127.0.0.1", server_port)
        self._front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._front.bind(("127.0.0.1", 0))
        self._front.setblocking(False)
        self._front.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.address = "%s:%d" % self._front.getsockname()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._front, selectors.EVENT_READ, None)
        self._backs = {}
        self._held = None
        self._stopped = False
        self.media = self.lost = self.swapped = self.flipped = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopped = True
        self._thread.join()
        for entry in list(self._selector.get_map().values()):
            entry.fileobj.close()
        self._selector.close()

    def _run(self):
        while not self._stopped:
            for key, _ in self._selector.select(0.1):
                try:
                    while True:
                        datagram, sender = key.fileobj.recvfrom(2048)
                        if key.data is None:
                            self._back(sender).sendto(datagram, self._server)
                        else:
                            self._to_client(datagram, key.data)
                except (BlockingIOError, ConnectionRefusedError):
                    pass

    def _back(self, client):
        if client not in self._backs:
            back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            back.bind(("127.0.0.1", 0))
            back.setblocking(False)
            back.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            self._backs[client] = back
            self._selector.register(back, selectors.EVENT_READ, client)
        return self._backs[client]

    @staticmethod
    def _is_media(datagram):
        return 128 <= datagram[0] < 192 and not 192 <= datagram[1] <= 223

    def _to_client(self, datagram, client):
        if not self._is_media(datagram):
            self._front.sendto(datagram, client)
            return
        self.media += 1
        stream = (client, datagram[8:12])
        if self._held and self._held[0] == stream:
            self._front.sendto(datagram, client)
            self._front.sendto(self._held[1], client)
            self._held = None
            self.swapped += 1
        elif self.media > self._whole and self.media % self._every == 0:
            self.lost += 1
        elif self.media > 1050 and self.swapped == 0 and self._held is None:
            self._held = (stream, datagram)
        elif self.media > 1250 and self.flipped == 0 and self._held is None:
            self._front.sendto(datagram[:-20] + bytes([datagram[-20] ^ 1]) + datagram[-19:], client)
            self.flipped = 1
        else:
            self._front.sendto(datagram, client)


class UnrepairedNetwork(BadNetwork):
    """The same way, on which for the first `seconds` of media what is sent again is lost as well: a picture that lacks a packet stays so."""

    # Of what is sent again of VP8, as roost-load offers it.
    payload_type = 97

    def __init__(self, server_port, every, seconds):
        super().__init__(server_port, every)
        self._seconds, self._begun, self.repairs_lost = seconds, None, 0

    def _to_client(self, datagram, client):
        if self._is_media(datagram):
            self._begun = self._begun or time.monotonic()
            if datagram[1] & 127 == self.payload_type and time.monotonic() < self._begun + self._seconds:
                self.repairs_lost += 1
                return
        super()._to_client(datagram, client)


class NarrowNetwork(BadNetwork):
    """The same way, of which each second no more than `rate` packets of media come through to clients: what is more is lost, or waits where
    it `has_queue`."""

    burst = 0.1
    """Seconds that packets of one moment may be ahead of the rate."""

    def __init__(self, server_port, rate, has_queue=False):
        super().__init__(server_port)
        self._pause, self._free = 1 / rate, 0
        self._waiting = queue.SimpleQueue() if has_queue else None

    def __enter__(self):
        if self._waiting:
            self._carrier = threading.Thread(target=self._carry, daemon=True)
            self._carrier.start()
        return super().__enter__()

    def __exit__(self, *_):
        if self._waiting:
            self._waiting.put(None)
            self._carrier.join()
        super().__exit__()

    def _carry(self):
        while (next_one := self._waiting.get()) and not self._stopped:
            due, datagram, client = next_one
            time.sleep(max(due - time.monotonic(), 0))
            self._front.sendto(datagram, client)

    def _to_client(self, datagram, client):
        if not self._is_media(datagram):
            return super()._to_client(datagram, client)
        self.media += 1
        now = time.monotonic()
        self._free = max(self._free, now)
        if self._waiting:
            self._waiting.put((self._free, datagram, client))
        elif self._free > now + self.burst:
            self.lost += 1
            return None
        else:
            self._front.sendto(datagram, client)
        self._free += self._pause
        return None
