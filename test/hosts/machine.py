"""The running host: systemd-nspawn around its tree, and the slow link beside it."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cgroup
from settings import BRIDGE

HERE = Path(__file__).resolve().parent
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)
# How systemd-nspawn ends when the host rebooted itself.
REBOOTED = 133


def _die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Machine:
    def __init__(self, record):
        self.record, self.nspawn, self.slow = record, None, None

    def start(self):
        def prepare():
            _die_with_parent()
            cgroup.join(self.record.name)

        command = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "-D", str(self.record.root)]
        command += [
            f"--network-bridge={BRIDGE}",
            f"--machine={self.record.name}",
            "--resolv-conf=off",
            "--timezone=off",
        ]
        command += ["--boot"] if self.record.kind == "systemd" else ["--as-pid2", "/usr/local/sbin/only-sshd"]
        with open(self.record.folder / "log", "ab") as log:
            self.nspawn = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=prepare,
                env={**os.environ, **cgroup.environment()},
            )

    def running(self):
        return self.nspawn is not None and self.nspawn.poll() is None

    def leader(self):
        """Pid of the host's first process as this machine counts; None while there is none."""
        if not self.running():
            return None
        pid = self.nspawn.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(children[0]) if children else None

    def power_off(self):
        """As if the plug were pulled: every process of the host is gone at once."""
        self.end_slow()
        if self.running():
            leader = self.leader()
            if leader:
                os.kill(leader, signal.SIGKILL)
            try:
                self.nspawn.wait(5)
            except subprocess.TimeoutExpired:
                self.nspawn.kill()
                self.nspawn.wait()
        cgroup.remove(self.record.name)

    def make_slow(self, milliseconds, percent):
        """Delay (each way) and loss on the host's link; 0 and 0 take both away."""
        self.end_slow()
        if not milliseconds and not percent:
            return
        command = [sys.executable, str(HERE / "slowlink.py"), self.record.name, self.record.address]
        command += [str(self.leader()), str(milliseconds), str(percent)]
        self.slow = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_die_with_parent
        )
        if self.slow.stdout.readline() != b"up\n":
            said = self.slow.stderr.read().decode(errors="replace").strip()
            self.end_slow()
            raise RuntimeError(f"the slow link to {self.record.name} did not come up: {said}")

    def end_slow(self):
        if self.slow:
            self.slow.kill()
            self.slow.wait()
            self.slow = None
            # The kernel takes the device away a moment after the process.
            device = Path(f"/sys/class/net/slow-{self.record.name}")
            deadline = time.monotonic() + 2
            while device.exists() and time.monotonic() < deadline:
                time.sleep(0.01)
