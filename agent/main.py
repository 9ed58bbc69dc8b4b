"""The frame loop: a thread for each request, and the end of everything when stdin ends."""

import os
import signal
import sys
import threading
import time

from agent.body import Body
from agent.fault import Fault
from agent.files import explained
from agent.frames import CHUNK, FrameError, FrameWriter, read_frame
from agent.ops import find
from agent.request import Request

# Seconds that work in progress gets to come to a clean end after the caller is gone.
GRACE = 10


def main(marker, stdin, bundle):
    """Serves one caller on stdin and stdout. The bootstrap calls this with the marker of its caller's choice, its own reader
    of stdin, and the sources that it was sent."""
    stdout = _take_over_streams()
    # A strict umask would keep a service's user out of its own release. What is secret is written with a mode that says so.
    os.umask(0o022)
    # A group of its own, so that at the end nothing of ours goes on by accident; what must go on has a session of its own.
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    stdout.write(b"\n@sglang-ready " + marker.encode("ascii") + b"\n")
    stdout.flush()
    writer = FrameWriter(stdout)
    bundle.ask = lambda: writer.write({"need": "sources"})
    server = Server(writer, bundle)
    try:
        while True:
            frame = read_frame(stdin)
            if frame is None:
                break
            server.take(*frame)
    except FrameError as error:
        sys.stderr.write("agent: %s\n" % error)
    clean = server.finish(GRACE)
    sys.stdout.flush()
    sys.stderr.flush()
    if not clean:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
    os._exit(0 if clean else 1)


class Server:
    """Turns frames into calls of operations, and their outcome into frames."""

    def __init__(self, writer, bundle):
        self._writer = writer
        self._bundle = bundle
        self._running = {}
        self._guard = threading.Lock()

    def take(self, header, data):
        """Acts on one frame: a request, a piece of its body, a cancel, or sources. Frames of what has ended are dropped."""
        if "sources" in header:
            self._bundle.add(data)
            return
        if "op" in header:
            work = Work(header, self._writer, self._ended)
            with self._guard:
                self._running[header["id"]] = work
            work.start()
            return
        with self._guard:
            work = self._running.get(header.get("cancel", header.get("id")))
        if work is not None and "cancel" in header:
            work.cancel()
        elif work is not None:
            work.body.feed(data)

    def finish(self, seconds):
        """The caller is gone: cancels what runs, and waits for it. False when something is still at work after `seconds`."""
        with self._guard:
            left = list(self._running.values())
        for work in left:
            work.cancel()
        deadline = time.monotonic() + seconds
        for work in left:
            work.thread.join(max(0, deadline - time.monotonic()))
        return not any(work.thread.is_alive() for work in left)

    def _ended(self, number):
        with self._guard:
            self._running.pop(number, None)


class Work:
    """One request at work."""

    def __init__(self, header, writer, ended):
        self.body = Body(header.get("bodySize", 0))
        self.thread = threading.Thread(target=self._run, name=header["op"], daemon=True)
        self._header = header
        self._number = header["id"]
        self._writer = writer
        self._ended = ended
        self._cancelled = threading.Event()

    def start(self):
        self.thread.start()

    def cancel(self):
        self._cancelled.set()
        self.body.fail(Fault("cancelled", "cancelled while its data was on the way"))

    def _run(self):
        outcome = self._outcome()
        self.body.discard()
        self._ended(self._number)
        self._write(outcome)

    def _outcome(self):
        try:
            operation = find(self._header["op"])
            if operation is None:
                raise Fault("unknown-op", "this agent has no operation %r" % self._header["op"])
            return {"result": operation(self._request())}
        except Fault as fault:
            return {"fault": fault.report()}
        except OSError as error:
            report = explained(error, error.filename or "/").report()
            return {"fault": report if "remedy" in report and error.filename else dict(report, detail=_tail())}
        except Exception as error:
            message = "%s failed unexpectedly: %s: %s" % (self._header["op"], type(error).__name__, error)
            return {"fault": Fault("bug", message, detail=_tail(), remedy="please report this").report()}

    def _request(self):
        size = self._header.get("bodySize", 0)
        return Request(self._header.get("args", {}), self.body, size, self._progress, self._cancelled, self._reply)

    def _progress(self, fields):
        self._write({"progress": fields})

    def _reply(self, data):
        for start in range(0, len(data), CHUNK):
            self._write({"body": True}, data[start : start + CHUNK])

    def _write(self, fields, data=b""):
        try:
            self._writer.write(dict(fields, id=self._number), data)
        except (BrokenPipeError, ValueError):
            # Nobody listens any more. The end of stdin follows, and decides.
            self._cancelled.set()


def _take_over_streams():
    """Our own stdout; 0 and 1 become harmless for whatever reads or prints in this process or in its children."""
    stdout = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return stdout


def _tail():
    import traceback  # Only a bug needs it, and it takes a look's time to import.

    return "".join(traceback.format_exc().splitlines(True)[-20:])
