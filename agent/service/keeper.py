"""Keeps one server running where there is no systemd: `python -I keeper.py LAUNCHER SPEC STATE`.

It stands alone in the directory of its service, as one file with what it imports (agent/alone.py). It starts the launcher
in a session of its own, starts it again when it fails, and adopts every process that the server leaves behind, so that at
a stop none stays. It does not outlive a reboot. SIGTERM ends the server and then the keeper.
"""

import contextlib
import json
import os
import signal
import sys
import time

from agent.offspring import adopt_orphans, below, kill, reaped, ticks
from agent.service.serverlog import open_log, rotate

BACKOFF = (1, 2, 5, 10, 30, 60)
#: Seconds of a run after which the next failure counts as a first one.
SETTLED = 300
#: Seconds between two looks at the log's size.
CHECK = 10
#: The wait status of a server that could not be started at all: exit code 127.
NOT_STARTED = 127 << 8


class Keeper:
    def __init__(self, launcher, spec, state):
        self.launcher = launcher
        self.spec = spec
        self.state = state
        declared = read(spec)
        self.log = declared["log"]
        self.stop_timeout = declared["stopTimeout"]
        self.stopping = False
        self.main = None
        self.restarts = 0
        self.failures = 0
        self.said = None
        self.unsaid = False

    def run(self):
        if not adopt_orphans():
            raise OSError(
                "this system cannot make the keeper a subreaper, so what the server leaves could not be ended"
            )
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        while True:
            began = time.monotonic()
            status = self.serve()
            self.sweep()
            if self.stopping or status == 0:
                self.say("stopped", status)
                return
            self.failures = 1 if time.monotonic() - began > SETTLED else self.failures + 1
            self.say("restarting", status)
            self.pause(BACKOFF[min(self.failures, len(BACKOFF)) - 1])
            if not os.path.exists(self.launcher):
                # Its service was taken away by hand: there is nothing to start, and nobody who would end this.
                return
            if self.stopping:
                self.say("stopped", status)
                return
            self.restarts += 1

    def serve(self):
        """Runs the server once; its wait status."""
        try:
            self.main = self.spawn()
        except OSError:
            # No memory, or too many processes: a failure of this start, which is tried again like any other.
            return NOT_STARTED
        self.say("running", None)
        checked = time.monotonic()
        while True:
            for pid, status in reaped():
                if pid == self.main:
                    return status
            if time.monotonic() - checked > CHECK:
                checked = time.monotonic()
                rotate(self.log)
                self.tell()
            if self.stopping:
                return self.end()
            time.sleep(0.05)

    def spawn(self):
        nothing = os.open(os.devnull, os.O_RDWR)
        log = open_log(self.log)
        python = os.path.dirname(self.launcher) + "/venv/bin/python"
        try:
            pid = os.fork()
        except OSError:
            os.close(log)
            os.close(nothing)
            raise
        if pid == 0:
            try:
                os.setsid()
                for target, source in enumerate((nothing, log, log)):
                    os.dup2(source, target)
                for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                    signal.signal(number, signal.SIG_DFL)
                os.execv(python, [python, "-I", "-S", "-B", self.launcher, self.spec])
            except BaseException as error:
                os.write(2, ("keeper: %s: %s\n" % (python, error)).encode("utf-8", "replace"))
            os._exit(127)
        os.close(log)
        os.close(nothing)
        return pid

    def end(self):
        """SIGTERM to the server, and its wait status; SIGKILL when it takes too long."""
        kill(self.main, signal.SIGTERM)
        deadline = time.monotonic() + self.patience()
        while True:
            for pid, status in reaped():
                if pid == self.main:
                    return status
            if time.monotonic() > deadline:
                kill(self.main, signal.SIGKILL)
            time.sleep(0.05)

    def patience(self):
        """Seconds between SIGTERM and SIGKILL as the spec says now; as it said at the start when it is gone or garbled."""
        try:
            return float(read(self.spec)["stopTimeout"])
        except (OSError, ValueError, KeyError, TypeError):
            return self.stop_timeout

    def sweep(self):
        """SIGKILL to all that the server left; they are all below us, as we adopt orphans."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            left = below(os.getpid())
            if not left:
                return
            for pid in left:
                kill(pid, signal.SIGKILL)
            reaped()
            time.sleep(0.05)

    def pause(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.stopping:
            time.sleep(0.05)
        self.tell()

    def stop(self, number, frame):
        self.stopping = True

    def say(self, phase, status):
        """Writes what the supervisor module reads."""
        main = self.main if phase == "running" else None
        self.said = json.dumps(
            {
                "format": 1,
                "phase": phase,
                "restarts": self.restarts,
                "exit": None if status is None else sentence(status),
                "keeper": [os.getpid(), ticks(os.getpid())],
                "main": [main, ticks(main)] if main else None,
            }
        )
        self.unsaid = True
        self.tell()

    def tell(self):
        """Writes what could not be written yet, or is gone: a full disk must not take the keeper from its server."""
        if not self.unsaid and os.path.exists(self.state):
            return
        with contextlib.suppress(OSError):
            with open(self.state + ".new", "w") as file:
                file.write(self.said)
            os.replace(self.state + ".new", self.state)
            self.unsaid = False


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def sentence(status):
    if os.WIFSIGNALED(status):
        return "was ended by signal %d" % os.WTERMSIG(status)
    return "exited %d" % os.WEXITSTATUS(status)


if __name__ == "__main__":
    Keeper(*sys.argv[1:4]).run()
