"""Commands of the user around a stop: drain and its undo."""

import os
import signal
import subprocess
import time

from agent.fault import Fault


def run_hook(name, argv, timeout, cwd, poll):
    """Runs argv (no shell) until it ends, with its whole group killed after `timeout` seconds or when `poll` raises.

    Its last output goes into the Fault `hook-failed`. The environment is the agent's own.
    """
    try:
        child = subprocess.Popen(
            argv,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise Fault("hook-failed", "%s command %s cannot be run: %s" % (name, argv[0], error.strerror), where=argv[0])
    os.set_blocking(child.stdout.fileno(), False)
    deadline = time.monotonic() + timeout
    out = b""
    try:
        while child.poll() is None:
            out = (out + (child.stdout.read() or b""))[-8192:]
            poll()
            if time.monotonic() > deadline:
                raise Fault(
                    "hook-failed",
                    "%s command %s did not end within %g s" % (name, argv[0], timeout),
                    where=argv[0],
                    expected="an end within %g s" % timeout,
                    detail=text(out),
                    remedy="raise `drain.timeout`, or mend the command",
                )
            time.sleep(0.05)
    finally:
        if child.returncode is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        out = (out + (child.stdout.read() or b""))[-8192:]
        child.stdout.close()
    if child.returncode != 0:
        raise Fault(
            "hook-failed",
            "%s command %s failed: exit %d" % (name, argv[0], child.returncode),
            where=argv[0],
            found="exit %d" % child.returncode,
            expected="exit 0",
            detail=text(out),
        )


def text(out):
    return out.decode("utf-8", "replace").strip() or None
