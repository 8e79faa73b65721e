"""A way to a UDP port on which a part of the RTP that goes there is lost."""

import random
import select
import socket
import threading


class LossyRelay:
    """`with LossyRelay(server_port, 0.05) as relay:` passes on what comes at `relay.port`, but for 5 % of the media; of what the server
    sends it loses `back`. The first `whole` packets of a stream get through."""

    def __init__(self, server_port, loss, seed=7, back=0, whole=0):
        self._server = ("127.0.0.1", server_port)
        self._loss = loss
        self._loss_back = back
        self._whole, self._seen = whole, {}
        self._random = random.Random(seed)
        self._front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._front.bind(("0.0.0.0", 0))
        self.port = self._front.getsockname()[1]
        self._back = {}
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
            ready, _, _ = select.select([self._front, *clients], [], [], 0.1)
            for one in ready:
                data, address = one.recvfrom(65_536)
                if one is not self._front:
                    if self._is_lost(data, self._loss_back):
                        self.lost += 1
                        continue
                    self.passed += 1
                    self._front.sendto(data, clients[one])
                    continue
                if address not in self._back:
                    self._back[address] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                    clients[self._back[address]] = address
                if self._is_lost(data, self._loss):
                    self.lost += 1
                    continue
                self.passed += 1
                self._back[address].sendto(data, self._server)

    def _is_lost(self, data, loss):
        # RTP, and no RTCP beside it (RFC 5761 §4).
        is_media = len(data) > 12 and data[0] >> 6 == 2 and not 64 <= data[1] & 0x7F < 96
        if not is_media:
            return False
        stream = data[8:12]
        self._seen[stream] = self._seen.get(stream, 0) + 1
        return self._seen[stream] > self._whole and self._random.random() < loss
