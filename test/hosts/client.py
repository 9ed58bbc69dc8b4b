"""What `hosts` does: starts keepers, talks to them, waits for sshd."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

import cgroup
import layers
import limits
import needs
import network
import record as records
from lock import lock
from settings import HOSTS

HERE = Path(__file__).resolve().parent
BOOT_SECONDS = 90


class HostsError(Exception):
    """Said to the user as it is."""


def find(name):
    found = records.load(name)
    if found is None:
        there = ", ".join(record.name for record in records.all_records()) or "none"
        raise HostsError(f"there is no host {name}; there are: {there}")
    return found


def ask(record, do, **request):
    """One request to the host's keeper; its answer."""
    if record.keeper() is None:
        raise HostsError(f"nobody keeps {record.name} (its keeper was killed): hosts down {record.name}, then up again")
    with _connected(record) as client:
        client.sendall(json.dumps({"do": do, **request}).encode() + b"\n")
        reply = json.loads(client.makefile("r").readline() or '{"error": "its keeper ended"}')
    if "error" in reply:
        raise HostsError(f"{do} {record.name}: {reply['error']}")
    return reply


def _connected(record):
    """The keeper listens once the host's tree is mounted: a moment after it was started."""
    deadline = time.monotonic() + 20
    # By the folder's descriptor: a socket's path has at most 107 bytes.
    folder = os.open(record.folder, os.O_PATH)
    try:
        while True:
            client = socket.socket(socket.AF_UNIX)
            try:
                client.connect(f"/proc/self/fd/{folder}/socket")
                return client
            except OSError:
                client.close()
                if record.keeper() is None or time.monotonic() > deadline:
                    raise
            time.sleep(0.02)
    finally:
        os.close(folder)


def create(name, kind, venv, wheels, owner):
    """Makes a host and starts its keeper; does not wait for the boot. A host that is there already is refused."""
    if not records.NAME.fullmatch(name):
        raise HostsError(f"{name!r} is no name for a host: a small letter, then at most 9 of a-z, 0-9 and -")
    for what, path in (("venv", venv), ("wheels", wheels)):
        if path and not os.path.isdir(path):
            raise HostsError(f"{what} {path} is not there")
    with lock():
        if records.load(name):
            raise HostsError(f"there is a host {name} already: hosts down {name}")
        layers.host_layer()
        network.bridge_up()
        limits.raise_limits()
        address, holder = network.claim_address({record.address for record in records.all_records()})
        absolute = [path and os.path.abspath(path) for path in (venv, wheels)]
        record = records.Record(name, address, kind, *absolute, owner, uuid.uuid4().hex)
        record.save()
    with holder:
        keep(record, holder)
    return record


def keep(record, holder):
    """Starts the host's keeper, detached, in a mount namespace of its own; it has the address as long as it runs."""
    command = ["unshare", "-m", "--propagation", "private", sys.executable, str(HERE / "keeper.py"), record.name]
    with open(record.folder / "keeper.log", "ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
            pass_fds=[holder.fileno()],
        )
    (record.folder / "pid").write_text(str(process.pid))


def answers(record):
    """Whether root can log in on this very host, by its own key."""
    try:
        with socket.create_connection((record.address, 22), timeout=2) as probe:
            probe.recv(4)
    except OSError:
        return False
    login = ["ssh", "-F", f"{record.folder}/ssh_config", "-o", "ConnectTimeout=5", record.name, "true"]
    return subprocess.run(login, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


def wait_booted(record):
    """Returns when the host can be logged in to; after 90 s says what its console showed."""
    deadline = time.monotonic() + BOOT_SECONDS
    while not answers(record):
        ended = record.keeper() is None
        if ended or time.monotonic() > deadline:
            shown = []
            for file in ("keeper.log", "log"):
                with contextlib.suppress(OSError):
                    shown += (record.folder / file).read_text(errors="replace").splitlines()[-8:]
            why = "its keeper ended" if ended else f"no sshd answered at {record.address} within {BOOT_SECONDS} s"
            raise HostsError(f"{record.name} did not come up: {why}\n" + "\n".join(shown))
        time.sleep(0.1)


def wait_other_leader(record, leader):
    """Returns when the host's first process is another one: it rebooted."""
    deadline = time.monotonic() + BOOT_SECONDS
    while ask(record, "status")["leader"] in (leader, None):
        if time.monotonic() > deadline:
            raise HostsError(f"{record.name} did not reboot within {BOOT_SECONDS} s")
        time.sleep(0.05)


def down(record):
    """Ends the host and forgets it."""
    keeper = record.keeper()
    if keeper:
        try:
            ask(record, "down")
        except (HostsError, OSError):
            with contextlib.suppress(ProcessLookupError):
                os.kill(keeper, signal.SIGTERM)
        deadline = time.monotonic() + 20
        while record.keeper() and time.monotonic() < deadline:
            time.sleep(0.02)
        if record.keeper():
            raise HostsError(f"the keeper of {record.name} (pid {keeper}) does not end; see {record.folder}/keeper.log")
    # What a killed keeper left: no mounts (they were its own), but files and cgroups.
    if record.folder.exists():
        cgroup.remove(record.name)
        subprocess.run(["rm", "-rf", "--one-file-system", str(record.folder)], check=True)
    forget_bridge()


def forget_bridge():
    """Takes the bridge away with the last host."""
    with lock():
        if not records.all_records():
            network.bridge_down()


def require():
    """Raises when the hosts cannot run here; installs what can be installed."""
    why = needs.reasons()
    if why:
        raise HostsError("test hosts cannot run here:\n- " + "\n- ".join(why))
    needs.install_missing()
    HOSTS.mkdir(parents=True, exist_ok=True)
