"""Keeps one server running where there is no systemd: `python -I keeper.py LAUNCHER SPEC STATE`.

It stands alone in the directory of its service. It starts the launcher in a session of its own, starts it again when it
fails, and adopts every process that the server leaves behind, so that at a stop none stays. It does not outlive a reboot.
SIGTERM ends the server and then the keeper.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import sys
import time

BACKOFF = (1, 2, 5, 10, 30, 60)
#: Seconds of a run after which the next failure counts as a first one.
SETTLED = 300
LOG_SIZE = 64 * 1024 * 1024
LOG_FILES = 3
#: Seconds between two looks at the log's size.
CHECK = 10
#: The wait status of a server that could not be started at all: exit code 127.
NOT_STARTED = 127 << 8
PR_SET_CHILD_SUBREAPER = 36


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
        adopt_orphans()
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
                self.rotate()
                self.tell()
            if self.stopping:
                return self.end()
            time.sleep(0.05)

    def spawn(self):
        nothing = os.open(os.devnull, os.O_RDWR)
        log = self.open_log()
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

    def open_log(self):
        """The log, made again where somebody took it away. A server without a log is better than none."""
        try:
            os.makedirs(os.path.dirname(self.log), exist_ok=True)
            return os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError:
            return os.open(os.devnull, os.O_WRONLY)

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

    def rotate(self):
        """Copies a large log aside and empties it: the server keeps the file open, and appends.

        A log that somebody moved away, or that cannot be copied, is left to them.
        """
        with contextlib.suppress(OSError):
            if os.path.getsize(self.log) < LOG_SIZE:
                return
            for number in range(LOG_FILES, 1, -1):
                older = "%s.%d" % (self.log, number - 1)
                if os.path.exists(older):
                    os.replace(older, "%s.%d" % (self.log, number))
            copy_private(self.log, self.log + ".1")
            os.truncate(self.log, 0)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def adopt_orphans():
    """Makes this process the parent of what its descendants leave behind, however they left their session."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def reaped():
    """(pid, wait status) of every child that has ended."""
    ended = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended.append((pid, status))


def below(root):
    """Pids of all descendants; zombies too, they are reaped."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = fields_of(int(name))
            if fields:
                children.setdefault(int(fields[1]), []).append(int(name))
    found, todo = [], [root]
    while todo:
        more = children.get(todo.pop(), [])
        found += more
        todo += more
    return found


def fields_of(pid):
    """/proc/PID/stat from the state on, or None."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            line = file.read()
    except OSError:
        return None
    return line[line.rindex(b")") + 2 :].split()


def ticks(pid):
    fields = fields_of(pid)
    return int(fields[19]) if fields else None


def kill(pid, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def copy_private(source, target):
    """Copies a log; keys stand in it, so nobody else may read the copy, not even while it grows."""
    try:
        with open(source, "rb") as old, open(
            os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb"
        ) as new:
            os.fchmod(new.fileno(), 0o600)
            shutil.copyfileobj(old, new)
    except OSError:
        # Half a copy would push the whole ones out, one more at each attempt.
        if os.path.exists(target):
            os.unlink(target)
        raise


def sentence(status):
    if os.WIFSIGNALED(status):
        return "was ended by signal %d" % os.WTERMSIG(status)
    return "exited %d" % os.WEXITSTATUS(status)


if __name__ == "__main__":
    Keeper(*sys.argv[1:4]).run()
