"""MachineFacts of provider/host/facts.ts: which machine this is, and what it can do."""

import hashlib
import os
import pwd
import sys
import time


def machine():
    """The facts, field for field. Reads a few files, asks nobody."""
    return {
        "machineId": _machine_id(),
        "hostKey": _host_key(),
        "bootId": _line("/proc/sys/kernel/random/boot_id"),
        "hostname": os.uname().nodename,
        "python": "%d.%d.%d" % sys.version_info[:3],
        "arch": os.uname().machine,
        "libc": _libc(),
        "user": _user(),
        "uid": os.geteuid(),
        "systemd": os.path.isdir("/run/systemd/system") and _line("/proc/1/comm") == "systemd",
        "now": time.time(),
    }


def _machine_id():
    """`/etc/machine-id`; rented containers often have none, or that of their image: then the host's SSH keys, or its name, must do."""
    known = _line("/etc/machine-id")
    if len(known) == 32:
        return known
    return (_host_key() or hashlib.sha256(os.uname().nodename.encode("utf-8", "replace")).hexdigest())[:32]


def _host_key():
    """A digest of the public SSH host keys; "" without any. Machines made of one image may share a machine id."""
    keys = "".join(_line("/etc/ssh/ssh_host_%s_key.pub" % kind) for kind in ("ecdsa", "ed25519", "rsa"))
    return hashlib.sha256(keys.encode("utf-8", "replace")).hexdigest() if keys else ""


def _libc():
    try:
        return "glibc" if os.confstr("CS_GNU_LIBC_VERSION") else "musl"
    except (ValueError, OSError):
        return "musl"


def _user():
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _line(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.readline().strip()
    except OSError:
        return ""
