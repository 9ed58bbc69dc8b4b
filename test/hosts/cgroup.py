"""A cgroup of its own for each host: hosts that share one would share units of the same name."""

import contextlib
import os
import signal
import time
from pathlib import Path

from needs import cgroup_layout

ROOT = Path("/sys/fs/cgroup")


def _groups(host):
    if cgroup_layout() == "unified":
        return [ROOT / f"sgl-{host}"]
    # A cpuset takes no process before it is told its processors; nothing here counts them.
    return [
        path / f"sgl-{host}"
        for path in sorted(ROOT.iterdir())
        if path.name != "cpuset" and (path / "cgroup.procs").exists()
    ]


def join(host):
    """Puts the calling process into the host's cgroups."""
    for group in _groups(host):
        group.mkdir(exist_ok=True)
        (group / "cgroup.procs").write_text(str(os.getpid()))


def _processes(group):
    for path, _, _ in os.walk(group):
        with contextlib.suppress(OSError):
            yield from map(int, Path(path, "cgroup.procs").read_text().split())


def remove(host):
    """Ends what still runs in the host's cgroups and removes them; at most 5 s."""
    deadline = time.monotonic() + 5
    for group in _groups(host):
        while group.exists() and time.monotonic() < deadline:
            for pid in _processes(group):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            # Deepest first; a directory goes only when no process is in it.
            for path, _, _ in os.walk(group, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(path)
            if group.exists():
                time.sleep(0.05)


def environment():
    """systemd-nspawn is to give every host version 2, as Debian has it: in version 1 a nested systemd never hears that a unit's last process ended."""
    return {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}
