"""Runs one command as a service's unit would, and leaves none of its processes behind.

It is started as a program of its own (agent/alone.py; `python3 -I -S -c SOURCE JOB ANSWER REPORT`, the numbers of three open files):
to change user and limits between fork and exec is only safe in a process with a single thread, and a subreaper
collects the descendants that leave their session. It reads what to do as one line of JSON from stdin; when stdin
ends, because whoever asked gave up or died, everything is killed.
"""

import contextlib
import json
import os
import resource
import select
import signal
import sys
import time

from agent.offspring import adopt_orphans, below, prctl

PR_SET_PDEATHSIG = 1
KILL_SECONDS = 10
POLL_SECONDS = 0.02


def limit(name, value):
    """Sets one limit by systemd's name without `Limit`, to a number or `infinity`, soft and hard."""
    kind = getattr(resource, "RLIMIT_" + name.upper())
    number = resource.RLIM_INFINITY if value == "infinity" else int(value)
    try:
        resource.setrlimit(kind, (number, number))
    except ValueError as error:
        raise ValueError("%s, which is %d here" % (error, resource.getrlimit(kind)[1]))


def die_first():
    """When memory runs out, it is this process that goes, and not the server that runs beside it."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def become(spec, say):
    """Turns this process into what the unit would be; `say(step)` names each step before it is taken."""
    os.setsid()
    die_first()
    for name, value in sorted(spec["limits"].items()):
        say("limit %s=%s" % (name, value))
        limit(name, value)
    if spec["identity"] is not None:
        say("user")
        uid, gid, groups = spec["identity"]
        os.setgroups(groups)
        os.setgid(gid)
        os.setuid(uid)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    say("directory " + spec["cwd"])
    os.chdir(spec["cwd"])
    os.umask(0o022)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def blocked(path):
    """The first directory of a path that this user may not enter, or None."""
    parts = os.path.realpath(path).split(os.sep)
    folders = [os.sep.join(parts[:count]) or os.sep for count in range(1, len(parts))]
    return next((folder for folder in folders if os.path.isdir(folder) and not os.access(folder, os.X_OK)), None)


def run_child(spec, failure, keep):
    """The forked child: never returns."""
    step = ["start"]
    try:
        become(spec, lambda text: step.__setitem__(0, text))
        step[0] = "exec " + spec["argv"][0]
        for number in keep:
            os.set_inheritable(number, True)
        environment = {
            key.encode("utf-8", "surrogateescape"): value.encode("utf-8", "surrogateescape")
            for key, value in spec["env"].items()
        }
        os.execve(spec["argv"][0], [arg.encode("utf-8", "surrogateescape") for arg in spec["argv"]], environment)
    except Exception as error:
        said = {
            "step": step[0],
            "error": getattr(error, "strerror", None) or str(error),
            "blocked": blocked(spec["argv"][0]),
        }
        os.write(failure, json.dumps(said).encode())
    finally:
        os._exit(127)


def wait(pid):
    """(wait status, None) when the child has ended, (None, "cancelled") when stdin ended before."""
    while True:
        try:
            found, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 0, None
        if found == pid:
            return status, None
        if found == 0 and select.select([0], [], [], POLL_SECONDS)[0] and not os.read(0, 4096):
            return None, "cancelled"


def kill_all(pid):
    """Kills what is left; the pids that would not die within ten seconds (a driver can hold them)."""
    deadline = time.monotonic() + KILL_SECONDS
    while True:
        left = below(os.getpid())
        for kill, target in [(os.killpg, pid)] + [(os.kill, each) for each in left]:
            with contextlib.suppress(OSError):
                kill(target, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return []
        if time.monotonic() > deadline:
            return left
        time.sleep(0.005)


def main(job, answer, report):
    for number in (job, answer, report):
        os.set_inheritable(number, False)
    spec = json.loads(sys.stdin.buffer.raw.readline().decode())
    adopt_orphans()  # else only the session is killed, not what has left it
    reader, failure = os.pipe()
    pid = os.fork()
    if pid == 0:
        run_child(spec, failure, (job, answer))
    os.close(failure)
    failed = os.read(reader, 65536)
    status, ended = wait(pid)
    said = {"status": status, "ended": ended, "left": kill_all(pid)}
    if failed:
        said["failed"] = json.loads(failed.decode())
    os.write(report, json.dumps(said).encode())


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:4]))
