"""A link with a delay, a rate and losses between this network namespace and another, by roost-link."""

import itertools
import os
import subprocess

from .network import Network
from .process import Process

HERE, THERE = "10.88.0.1", "10.88.0.2"
# What waits for a rate: 300 ms of it, as RFC 8867 has bottlenecks.
QUEUE_SECONDS = 0.3
_numbers = itertools.count()


def settings(rate=0, loss=0.0, delay=20.0, **more):
    """The settings of a direction; the queue goes with the rate (bits a second)."""
    queue = max(int(rate * QUEUE_SECONDS / 8), 3_000) if rate else 64_000
    return " ".join(f"{name}={value}" for name, value in
                    {"rate": rate, "loss": loss, "delay": delay, "queue": queue, **more}.items())


class Link:
    """`async with Link(binary, down, up) as link:` has `link.network` behind it, where `THERE` is the address.

    `down` is towards there. As the only network there it is the way to everything here.
    """

    def __init__(self, binary, down=settings(), up=settings()):
        if not os.access(binary, os.X_OK):
            raise FileNotFoundError(f"no link at {binary}: swift build -c release --product roost-link")
        number = next(_numbers)
        self._names = f"here{number}", f"there{number}"
        self.network = Network(f"there-{number}")
        # Ahead of browsers that have the processors: what is late here is delay beyond the settings.
        nice = ["nice", "-n", "-15"] if os.geteuid() == 0 else []
        self._process = Process("link", [*nice, binary, "--here", self._names[0], "--there", self._names[1],
                                         "--down", down, "--up", up], has_input=True)

    async def __aenter__(self):
        await self.network.__aenter__()
        try:
            self._process.start()
            await self._line("ready")
            here, there = self._names
            self._ip(f"link set {there} netns {self.network.pid}")
            self._ip(f"address add {HERE}/24 dev {here}")
            self._ip(f"link set {here} up")
            self.network.ip(f"address add {THERE}/24 dev {there}")
            self.network.ip(f"link set {there} up")
            self.network.ip(f"route add default via {HERE} dev {there}")
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_):
        await self._process.end()
        await self.network.__aexit__()

    @staticmethod
    def _ip(line):
        subprocess.run(["ip", *line.split()], check=True, timeout=10)

    async def _line(self, start, number=1):
        """The `number`-th line that begins so."""
        def found():
            lines = [line for line in self._process.log().splitlines(keepends=True) if line.endswith("\n")]
            refused = [line for line in lines if line.startswith("refused:")]
            if refused:
                raise ValueError(f"link {refused[0].strip()}")
            matching = [line.strip() for line in lines if line.startswith(start)]
            return matching[number - 1] if len(matching) >= number else None
        return await self._process.wait_for(f"'{start}' from it", found, 10)

    def _count(self, start):
        return sum(line.startswith(start) for line in self._process.log().splitlines())

    async def change(self, direction, words):
        """Changes `down` or `up` from now on."""
        before = self._count(direction + " ")
        self._process.say(f"{direction} {words}")
        await self._line(direction + " ", before + 1)

    async def counts(self):
        """{"down": {"packets": …}, "up": …} since the start; `late` in milliseconds."""
        before = self._count("counts up")
        self._process.say("counts")
        lines = [await self._line(f"counts {direction}", before + 1) for direction in ("down", "up")]
        return {line.split()[1]: {name: float(value) for name, value in
                                  (word.split("=") for word in line.split()[2:])} for line in lines}
