"""Starting what goes on without us."""

import os
import subprocess
import sys
import time

from agent.fault import Fault
from agent.files import write_json
from agent.service.resident import write_resident
from agent.service.systemctl import Systemctl, run
from agent.service.working import held, result_of

_SCRIPT = """
import os, sys
if os.fork():
    os._exit(0)
os.setsid()
os.chdir("/")
os.execv(sys.argv[1], sys.argv[1:])
"""


def revive(place, job):
    """Goes on with an activation that nobody works on any more, by this agent: the one that began it may be gone."""
    write_resident(place.activation("agent.pyz"))
    job = dict(job, python=sys.executable)
    write_json(place.activation("job.json"), job, 0o600)
    detach(place, job)


def start_detached(argv, log):
    """Starts a command as nobody's child but init's, in a session of its own; its output is appended to a file."""
    # By a child of its own rather than a fork of ours: this process has threads.
    with open(os.devnull, "rb") as nothing, open(
        os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "wb", 0
    ) as out:
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", _SCRIPT] + argv, stdin=nothing, stdout=out, stderr=out, check=True
        )


def argv_of(place, job, verb):
    """The command that works on the activation of a service: `run`, `watch` (run, and again if killed), `recover`."""
    return [job["python"], "-I", "-B", place.activation("agent.pyz"), verb, place.layout.root, place.name]


def detach(place, job):
    """Starts the activation, or goes on with it: by the service manager where it can, which runs it again if it is killed."""
    if job["detached"] != "systemd":
        start_detached(argv_of(place, job, "watch"), place.activation("watch.log"))
        end = time.monotonic() + 5
        while not held(place) and result_of(place, job) is None and time.monotonic() < end:
            time.sleep(0.02)
        return
    ctl = Systemctl(user=os.geteuid() != 0)
    ctl.ask("stop", place.activation_unit)
    ctl.ask("reset-failed", place.activation_unit)
    properties = (
        "Description=Activation of SGLang " + place.name,
        "Type=exec",
        "Restart=on-failure",
        "RestartSec=500ms",
        "StartLimitIntervalSec=0",
        "TimeoutStopSec=5",
    )
    argv = (
        ["systemd-run"] + (["--user"] if ctl.user else []) + ["--quiet", "--collect", "--unit=" + place.activation_unit]
    )
    for text in properties:
        argv += ["-p", text]
    exit, out, err = run(argv + argv_of(place, job, "run"), ctl.environ(), 60)
    if exit != 0:
        raise Fault(
            "not-detached",
            "systemd-run did not start the activation: %s" % (err or out).strip(),
            where=place.activation_unit,
            found="exit %d" % exit,
            expected="exit 0",
        )
