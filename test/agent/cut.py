"""Activations that are cut: the journal that they carry with them ends their process at one of its lines."""

import contextlib
import os
import tempfile
import unittest.mock

from agent import bundle

CUT = """

_write = Journal.write


def cut_write(self, stage, event, **more):
    import os, signal
    here = (stage, event) == {at!r}
    if here and event != "begin" and {before!r}:
        cut_once()
    _write(self, stage, event, **more)
    if here:
        cut_once()


def cut_once():
    import os, signal, subprocess, time
    try:
        os.close(os.open({mark!r}, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    if {pause!r}:
        time.sleep(600)
    if {watcher!r} and {unit!r}:
        subprocess.Popen(["systemctl", "stop", "--no-block", {unit!r}])
        time.sleep(60)
    if {watcher!r}:
        os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


Journal.write = cut_write
"""


@contextlib.contextmanager
def cut(top, unit, stage, event, watcher=False, before=False, pause=False):
    """Within it, an activation that is started kills itself once at that line of its journal; `before`: before it is written.

    `watcher`: what would run it again does not; `unit`: the unit of systemd that would, else None. `pause`: it stops there for good
    instead, so that the host can be cut.
    """
    mark = tempfile.mktemp(dir=top)
    sources = bundle.sources()
    sources["agent.service.journal"] += CUT.format(
        at=(stage, event), mark=mark, watcher=watcher, before=before, pause=pause, unit=unit
    )
    with unittest.mock.patch("agent.service.resident.sources", lambda: sources):
        yield mark
    if not os.path.exists(mark):
        raise AssertionError("nothing was cut at %s of %s" % (event, stage))
