"""The body of a request as a stream: filled by the frame loop, read by the operation."""

import queue

# So many frames of at most 1 MiB wait for the operation; then the frame loop, and with it the sender, waits.
WAITING = 8
PAUSE = 0.1


class Body:
    """A readable binary stream of `size` bytes. `read` raises the fault given to `fail`, if the sender gave up half-way."""

    def __init__(self, size):
        self._left = size
        self._frames = queue.Queue(WAITING)
        self._rest = b""
        self._fault = None
        self._unwanted = False

    def feed(self, data):
        """Takes one frame's bytes; blocks while the operation is behind, drops them when it wants no more."""
        while not self._unwanted and self._fault is None:
            try:
                return self._frames.put(data, timeout=PAUSE)
            except queue.Full:
                continue

    def fail(self, fault):
        """Nothing more will come: whoever waits for it gets `fault`."""
        self._fault = fault

    def discard(self):
        """The operation has ended: what still comes is of no use."""
        self._unwanted = True

    def read(self, size=-1):
        """Up to `size` bytes (all that are left if negative), b"" after the last one."""
        wanted = self._left if size is None or size < 0 else min(size, self._left)
        parts = []
        while wanted:
            if not self._rest:
                self._rest = self._next()
            part, self._rest = self._rest[:wanted], self._rest[wanted:]
            parts.append(part)
            wanted -= len(part)
            self._left -= len(part)
        return b"".join(parts)

    def _next(self):
        while True:
            if self._fault is not None:
                raise self._fault
            try:
                return self._frames.get(timeout=PAUSE)
            except queue.Empty:
                continue
