"""Runs a command as a service's unit would: its user, limits, directory, and exactly its environment.

What it prints is noise and is only kept as a tail for errors; answers come through an open file of their own.
"""

import collections
import json
import os
import select
import subprocess
import sys
import tempfile
import time

from agent.alone import assembled
from agent.bundle import source
from agent.fault import Fault
from agent.service.account import account

TAIL = 65536
# The keeper, and before it what it imports: one program.
KEEPER = ("agent.offspring", "agent.gates.keeper")

Outcome = collections.namedtuple("Outcome", "exit signal ended answer output left seconds")
Outcome.__doc__ = """How a command ended.

exit: its exit code, or None; signal: what killed it, or None; ended: "exited", "timeout" or "cancelled"; answer: the bytes it
wrote to its answer file; output: the tail of what it printed; left: pids that could not be killed; seconds: how long it took.
"""


def identity(user, group):
    """(uid, gid, supplementary gids) to change to, or None when root stays root or the agent is that user already."""
    if user is None and group is None:
        return None
    who = account(user, group)
    return None if os.geteuid() != 0 or who.uid == 0 else (who.uid, who.gid, list(who.groups))


def open_answer(content=b""):
    """An open file without a name: no directory that is full, noexec, or another user's is involved."""
    if hasattr(os, "memfd_create"):
        number = os.memfd_create("answer")
    else:
        with tempfile.TemporaryFile() as file:
            number = os.dup(file.fileno())
    os.write(number, content)
    os.lseek(number, 0, os.SEEK_SET)
    return number


def read_all(number, start=0):
    """What an open file holds from `start` on, without moving the offset that its writer shares with us."""
    return os.pread(number, max(0, os.fstat(number).st_size - start), start)


def run(argv, env, cwd, user=None, group=None, limits=None, job=b"", timeout=600, cancelled=lambda: False, watch=None):
    """Runs `argv(job fd, answer fd)` (a function, for the numbers are only known here), or a plain list, to its Outcome.

    timeout: seconds; cancelled(): asked ten times a second; watch(bytes): the answer file so far, when it has grown.
    Raises Fault("sandbox") when the command cannot be started as the unit would start it.
    """
    started = time.monotonic()
    who = identity(user, group)
    files = [open_answer(job), open_answer(), open_answer()]
    try:
        command = argv(files[0], files[1]) if callable(argv) else list(argv)
        spec = {"argv": command, "env": env, "cwd": cwd, "identity": who, "limits": limits or {}}
        keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", assembled(KEEPER, source)] + [str(number) for number in files],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=files,
            start_new_session=True,
        )
        with keeper:
            output, ended = follow(keeper, spec, files[1], started + timeout, cancelled, watch)
        return outcome(files, command, cwd, output, ended, time.monotonic() - started)
    finally:
        for number in files:
            os.close(number)


def follow(keeper, spec, answer, deadline, cancelled, watch):
    """Lets the keeper work until it ends, the deadline passes or the caller gives up: (tail of the output, why it was ended)."""
    keeper.stdin.write(json.dumps(spec).encode() + b"\n")
    keeper.stdin.flush()
    tail, ended, size, open_output = b"", None, 0, True
    while keeper.poll() is None:
        if open_output and select.select([keeper.stdout], [], [], 0.1)[0]:
            chunk = os.read(keeper.stdout.fileno(), 65536)
            tail, open_output = (tail + chunk)[-TAIL:], bool(chunk)
        elif not open_output:
            time.sleep(0.01)
        if watch and os.fstat(answer).st_size > size:
            size = os.fstat(answer).st_size
            watch(read_all(answer))
        if ended is None and (cancelled() or time.monotonic() > deadline):
            ended = "cancelled" if cancelled() else "timeout"
            keeper.stdin.close()
    while open_output and select.select([keeper.stdout], [], [], 0)[0]:
        chunk = os.read(keeper.stdout.fileno(), 65536)
        tail, open_output = (tail + chunk)[-TAIL:], bool(chunk)
    return tail.decode("utf-8", "replace"), ended


def outcome(files, command, cwd, output, ended, seconds):
    """The keeper's report as an Outcome, or as the Fault that kept the command from starting."""
    report = read_all(files[2])
    if not report:
        raise Fault("sandbox", "%s could not be run: its keeper ended without a report" % command[0], detail=output)
    said = json.loads(report.decode())
    failed = said.get("failed")
    if failed:
        where = " as this user, who may not enter %s" % failed["blocked"] if failed["blocked"] else ""
        raise Fault(
            "sandbox",
            "%s cannot be run in %s as the service would: %s: %s%s"
            % (command[0], cwd, failed["step"], failed["error"], where),
            where=command[0],
            found=failed["error"],
        )
    status = said["status"]
    code = os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None
    killed = os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None
    return Outcome(code, killed, ended or said["ended"] or "exited", read_all(files[1]), output, said["left"], seconds)
