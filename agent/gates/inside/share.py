"""The time that one import may take of what all gates have: one that hangs must not keep the others from being tried."""

import faulthandler
import signal
import time

#: Seconds for one module, and at most half of what is left.
LONGEST = 60
#: What does not heed a signal (a library that waits in C) ends the interpreter as much later.
LATER = 5


class NotInTime(BaseException):
    """No Exception: what tries one way after the other must not take it for a failure of one of them."""

    # Told as one of Python's own.
    __module__ = "builtins"


class Share:
    """`with share:` around each import; raises NotInTime in what is imported. end: when the gates as a whole are late, of the monotonic clock."""

    def __init__(self, end):
        self._end = end
        self._seconds = 0.0

    def __enter__(self):
        left = max(0.2, self._end - time.monotonic())
        self._seconds = min(LONGEST, left / 2)
        faulthandler.dump_traceback_later(min(left, self._seconds + min(LATER, left / 4)), exit=True)
        signal.signal(signal.SIGALRM, self._over)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, kind, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.dump_traceback_later(max(0.2, self._end - time.monotonic()))
        # It can come between an import's end and here.
        return kind is NotInTime

    def _over(self, *_):
        raise NotInTime("its import had not ended after %.3g s" % self._seconds)
