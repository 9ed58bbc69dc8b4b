"""`exec`: one command on the host, as the agent's user; its output is kept by its last part."""

import os
import signal
import subprocess
import threading

from agent.fault import Fault

TAIL = 64 * 1024
PAUSE = 0.1


class Tail:
    """Reads a stream to its end in a thread of its own, and keeps the last 64 kB."""

    def __init__(self, stream):
        self._stream = stream
        self._kept = b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self):
        # Whoever inherited the stream and went into the background must not keep us: a second is enough for what was written.
        self._thread.join(1)
        return self._kept[-TAIL:].decode("utf-8", "replace")

    def _read(self):
        for part in iter(lambda: self._stream.read1(1 << 16), b""):
            self._kept = (self._kept + part)[-TAIL:]


def execute(request):
    """Runs `args["argv"]` without a shell; {exit, stdout, stderr}. Faults: `no-command`, `timeout`, `cancelled` (both end its process group)."""
    argv, timeout = request.args["argv"], request.args.get("timeout", 60)
    process = _start(request.args)
    out, err = Tail(process.stdout), Tail(process.stderr)
    _feed(process, request.args.get("stdin") or "")
    waited = 0.0
    while process.poll() is None:
        if request.cancelled() or waited >= timeout:
            _end(process)
            request.check()
            raise Fault(
                "timeout",
                "%s did not end within %g s" % (argv[0], timeout),
                where=argv[0],
                detail=(out.text() + err.text())[-4096:],
                remedy="give it a longer timeout, or find out what it waits for",
            )
        try:
            process.wait(PAUSE)
        except subprocess.TimeoutExpired:
            waited += PAUSE
    return {"exit": process.returncode, "stdout": out.text(), "stderr": err.text()}


def _start(args):
    environment = dict(os.environ, **(args.get("env") or {}))
    try:
        return subprocess.Popen(
            args["argv"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=args.get("cwd"),
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise Fault(
            "no-command",
            "cannot run %s: %s" % (args["argv"][0], error.strerror),
            where=error.filename or args["argv"][0],
            remedy="give its absolute path, or install it on the host",
        )


def _feed(process, text):
    def write():
        try:
            process.stdin.write(text.encode("utf-8"))
            process.stdin.close()
        except BrokenPipeError:
            pass  # It ended without reading all of it, which is its right.

    threading.Thread(target=write, daemon=True).start()


def _end(process):
    for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
            process.wait(patience)
            return
        except ProcessLookupError:
            process.wait()
            return
        except subprocess.TimeoutExpired:
            continue
