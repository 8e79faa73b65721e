"""Tests that end: one that waits for what never comes fails under its own name."""

import faulthandler
import os
import signal
import sys
import unittest

# Seconds for a test that has run out of time to end what it has begun; then the whole run ends, with where it stands.
GRACE = 30

# `make accept CHECK=doors` runs everything. Otherwise what takes long and shows the same as a shorter test, at larger figures, is left out.
FULL = os.environ.get("ROOST_FULL") == "1"
TAKES_LONG = "takes long; `make accept CHECK=doors` runs it"
full = unittest.skipUnless(FULL, TAKES_LONG)


class OutOfTime(BaseException):
    """No `Exception`, so that no test takes it for what it expects."""


class _Limited:
    # That each test may take, with what prepares and ends it. On a busy machine a test takes several times as long as alone.
    seconds = 60

    def run(self, result=None):
        before = signal.signal(signal.SIGALRM, self._out_of_time)
        faulthandler.dump_traceback_later(self.seconds + GRACE, exit=True)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        try:
            return super().run(result)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()
            signal.signal(signal.SIGALRM, before)

    def _out_of_time(self, *_):
        message = f"{self.id()} has not ended within {self.seconds} s"
        print(message, file=sys.stderr, flush=True)
        raise OutOfTime(message)


class LimitedTest(_Limited, unittest.TestCase):
    """A test of at most `seconds`."""


class LimitedAsyncTest(_Limited, unittest.IsolatedAsyncioTestCase):
    """A test of at most `seconds`, on an event loop of its own."""

    def _callSetUp(self):
        super()._callSetUp()
        # unittest has loops note where each task was made, which costs more than what a thousand readers are measured for.
        self._asyncioRunner.get_loop().set_debug(False)
