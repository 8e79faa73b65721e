"""One server and one pair of browsers for all tests that need no others, one behind the other: to start them takes as long as some tests."""

import contextlib

from .chromium import Chromium
from .evidence import kept_on_failure
from .firefox import Firefox
from .person import TABS
from .server import Server


class Together:
    """Runs tests: `meet(report, options, server, chromium, firefox)` of one that takes what is shared, then `run(report, options)` of one that
    needs something of its own, for which the shared server makes room."""

    def __init__(self, options):
        self._options = options
        self._stack = None
        self._parts = ()

    async def run(self, test, report):
        holds = True
        if hasattr(test, "meet"):
            holds = await self._meet(test, report)
        if hasattr(test, "run"):
            await self.close()
            holds &= await test.run(report, self._options)
        return holds

    async def _meet(self, test, report):
        try:
            if self._stack is None:
                await self._start()
            server, *browsers = self._parts
            async with kept_on_failure(report, self._options.evidence, TABS, (server.process,)):
                holds = await test.meet(report, self._options, server, *browsers)
            server.process.require_running()
            return holds
        except BaseException:
            # What a test leaves behind that didn't come to its end is no place for the next.
            await self.close()
            raise

    async def _start(self):
        self._stack = contextlib.AsyncExitStack()
        self._parts = tuple([await self._stack.enter_async_context(each)
                             for each in (Server(self._options.roost), Chromium(), Firefox())])

    async def close(self):
        if self._stack is None:
            return
        stack, self._stack, self._parts = self._stack, None, ()
        TABS.clear()
        await stack.aclose()
