"""What the test hosts need of this machine, and why they cannot run when something of it is missing."""

import os
import platform
import shutil
import subprocess
import sys

from settings import BASE_SEED

# Command => the Debian package that has it.
COMMANDS = {
    "systemd-nspawn": "systemd-container",
    "ip": "iproute2",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "nsenter": "util-linux",
    "unshare": "util-linux",
}


def _commands():
    return COMMANDS if BASE_SEED else {**COMMANDS, "debootstrap": "debootstrap"}


def _packages_missing():
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return sorted({package for command, package in _commands().items() if not shutil.which(command, path=path)})


def cgroup_layout():
    """`unified` (version 2), `named` (version 1 with a hierarchy of systemd's name) or None."""
    if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        return "unified"
    return "named" if os.path.exists("/sys/fs/cgroup/systemd/cgroup.procs") else None


def reasons():
    """Why the hosts cannot run here: a sentence each, with what to do; none when they can."""
    if platform.system() != "Linux":
        return [f"Test hosts need Linux; this is {platform.system()}."]
    if not hasattr(os, "pidfd_open"):
        return [f"Test hosts need Python 3.9 or newer for their own tools; python3 is {platform.python_version()}."]
    if os.geteuid() != 0:
        return ["Test hosts need root (mounts, network devices, namespaces). Run them as root, or with sudo."]
    found = []
    missing = _packages_missing()
    if missing and not shutil.which("apt-get"):
        found.append(
            f"These Debian packages are missing and there is no apt-get to install them: {', '.join(missing)}."
        )
    if cgroup_layout() is None:
        found.append(
            "There is no cgroup hierarchy for systemd below /sys/fs/cgroup: neither cgroup.controllers (version 2) nor "
            "systemd/cgroup.procs (version 1). Mount one: mkdir /sys/fs/cgroup/systemd && mount -t cgroup -o "
            "none,name=systemd cgroup /sys/fs/cgroup/systemd"
        )
    elif not os.access("/sys/fs/cgroup" if cgroup_layout() == "unified" else "/sys/fs/cgroup/systemd", os.W_OK):
        found.append(
            "/sys/fs/cgroup is read-only here, as in a container without privileges; each host needs a cgroup of its own."
        )
    with open("/proc/filesystems") as known:
        if (
            "\toverlay\n" not in known.read()
            and subprocess.run(["modprobe", "overlay"], capture_output=True).returncode
        ):
            found.append("The kernel has no overlay file system, on which each host's tree is made.")
    if not os.path.exists("/dev/net/tun"):
        found.append(
            "There is no /dev/net/tun, which slow links are made of: mkdir -p /dev/net && mknod /dev/net/tun c 10 200"
        )
    return found


def install_missing():
    """Installs the Debian packages that are missing; nothing when all are there."""
    missing = _packages_missing()
    if missing:
        print(f"installing {' '.join(missing)}", file=sys.stderr, flush=True)
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-q"], check=True, env=quiet, stdout=subprocess.DEVNULL)
        subprocess.run(
            ["apt-get", "install", "-yq", "--no-install-recommends", *missing],
            check=True,
            env=quiet,
            stdout=subprocess.DEVNULL,
        )
