"""An agent on another host, started by this host's own ssh: as its user would, with their keys, agent and known hosts, and without a question."""

import contextlib
import json
import os
import pwd
import socket
import subprocess
import tempfile
import zlib

from agent.bundle import sources
from agent.fault import Fault
from agent.frames import FrameError, FrameWriter, read_frame

MARKER = "direct"
UNREACHED = "this host does not reach the donor by its own ssh"
#: Never a prompt, never an unknown host, and nothing of this host for the other one.
OPTIONS = ("BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes")
#: A donor that does not answer, or no longer, is given up after a while.
PATIENCE = ("ConnectTimeout=20", "ServerAliveInterval=15", "ServerAliveCountMax=4")
#: Seconds in which an ssh that has nothing more to do ends.
FAREWELL = 10
LINES = 4


class Session:
    """One connection; use it as a context. Fault `direct-unreachable` names the cause that ssh gives."""

    def __init__(self, destination, command, python=""):
        self._destination = destination
        self._command = command
        self._python = python
        self._begun = False

    def __enter__(self):
        options = [word for option in OPTIONS + PATIENCE for word in ("-o", option)]
        self._errors = tempfile.TemporaryFile()
        try:
            self._ssh = subprocess.Popen(
                ["ssh", "-T"] + options + ["--", self._destination, self._command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=dict(os.environ, LC_ALL="C"),
            )
        except FileNotFoundError:
            raise self._unreachable("no ssh on this host", "install openssh-client here")
        return self

    def __exit__(self, *_):
        self._ssh.kill()
        self._ssh.wait()
        for stream in (self._ssh.stdin, self._ssh.stdout, self._errors):
            with contextlib.suppress(OSError):
                stream.close()

    def get(self, venv, files):
        """Yields the bytes of `donor.get`. Its faults are raised as they are."""
        try:
            self._start()
            FrameWriter(self._ssh.stdin).write({"id": 1, "op": "donor.get", "args": {"venv": venv, "files": files}})
            while True:
                frame = read_frame(self._ssh.stdout)
                if frame is None:
                    raise self._lost()
                header, body = frame
                if "fault" in header:
                    fault = header["fault"]
                    raise Fault(fault.pop("code"), fault.pop("message"), **fault)
                if "result" in header:
                    raise Fault("bad-content", "the donor sent less than it was asked for", where=self._destination)
                if header.get("body"):
                    self._begun = True
                    yield body
        except (OSError, FrameError):
            raise self._lost()

    def _start(self):
        data = zlib.compress(json.dumps(sources()).encode("utf-8"))
        self._ssh.stdin.write(("@sglang %s %d %s\n" % (MARKER, len(data), self._python)).encode() + data)
        self._ssh.stdin.flush()
        ready = ("@sglang-ready %s\n" % MARKER).encode()
        while True:
            # What a login shell prints comes before.
            line = self._ssh.stdout.readline()
            if not line:
                raise self._lost()
            if line == ready:
                return

    def _lost(self):
        with contextlib.suppress(OSError):
            self._ssh.stdin.close()
        try:
            exit = self._ssh.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            self._ssh.kill()
            exit = self._ssh.wait()
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read().decode("utf-8", "replace").splitlines() if line.strip()]
        found = "; ".join(lines[-LINES:]) or "ssh ended with exit code %d" % exit
        return self._unreachable(found, _remedy(found, self._destination, self._begun))

    def _unreachable(self, found, remedy):
        return Fault(
            "direct-unreachable",
            "this host lost the donor, which it reached by its own ssh" if self._begun else UNREACHED,
            where=self._destination,
            found=found,
            expected="a login as %s of %s, without a question" % (_user(), socket.gethostname()),
            remedy="%s; without `direct` the bytes go through the control machine" % remedy,
        )


def _remedy(found, destination, begun):
    """By what ssh says."""
    if "Host key verification failed" in found or "REMOTE HOST IDENTIFICATION" in found:
        return "put the donor's host key into known_hosts of %s here, after comparing it" % _user()
    if "Permission denied" in found:
        return "give %s here a key that %s takes" % (_user(), destination)
    if begun:
        return "run the command again: it goes on where it was"
    if "@sglang-no-python" in found:
        return "install Python 3.8 or later on the donor"
    return "correct `direct`, or what lies between the two hosts"


def _user():
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return "uid %d" % os.geteuid()
