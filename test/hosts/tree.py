"""One host's file tree: the shared layers below, its own on top, and what tells it from its siblings."""

import subprocess

from layers import host_layer, venv_layers
from settings import GATEWAY, KEY, VENV_IN_HOST, WHEELS_IN_HOST


def _mount(*args):
    subprocess.run(["mount", *args], check=True)


def _overlay(at, lower, upper, work):
    for path in (at, upper, work):
        path.mkdir(parents=True, exist_ok=True)
    lowerdir = ":".join(map(str, lower))
    _mount("-t", "overlay", "overlay", "-o", f"lowerdir={lowerdir},upperdir={upper},workdir={work}", str(at))


def compose(record):
    """Mounts the host's tree, in the mount namespace of the caller."""
    folder, root = record.folder, record.root
    _overlay(root, host_layer(), folder / "up", folder / "work")
    if record.venv:
        _overlay(root / VENV_IN_HOST, venv_layers(record.venv), folder / "venv-up", folder / "venv-work")
    if record.wheels:
        (root / WHEELS_IN_HOST).mkdir(parents=True, exist_ok=True)
        _mount("--bind", record.wheels, str(root / WHEELS_IN_HOST))
        _mount("-o", "remount,bind,ro", str(root / WHEELS_IN_HOST))
    if not (root / "etc/test-network").exists():
        _identify(record)


def _identify(record):
    etc = record.root / "etc"
    (etc / "hostname").write_text(record.name + "\n")
    (etc / "hosts").write_text(f"127.0.0.1 localhost\n{record.address} {record.name}\n{GATEWAY} control\n")
    # No name server: a look-up fails at once instead of after a time-out.
    (etc / "resolv.conf").unlink(missing_ok=True)
    (etc / "resolv.conf").write_text("")
    (etc / "machine-id").write_text(record.machine_id + "\n")
    (etc / "test-network").write_text(
        f"#!/bin/sh\nip addr add {record.address}/24 dev host0\nip link set lo up\nip link set host0 up\n"
    )
    (etc / "test-network").chmod(0o755)
    new_host_keys(record)


def new_host_keys(record):
    """Gives the host SSH keys of its own, and writes what a client needs to know it."""
    for old in (record.root / "etc/ssh").glob("ssh_host_*"):
        old.unlink()
    subprocess.run(["ssh-keygen", "-q", "-A", "-f", str(record.root)], check=True)
    keys = [path.read_text().split()[:2] for path in sorted((record.root / "etc/ssh").glob("ssh_host_*.pub"))]
    known = "".join(f"{record.address} {kind} {key}\n" for kind, key in keys)
    (record.folder / "known_hosts").write_text(known)
    (record.folder / "ssh_config").write_text(
        f"Host {record.name}\n  HostName {record.address}\n  User root\n  IdentityFile {KEY}\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {record.folder}/known_hosts\n  StrictHostKeyChecking yes\n  BatchMode yes\n"
    )
