"""Names and places of the test hosts, each said once."""

import os
from pathlib import Path

# Everything of the test hosts: the base tree, the key, one folder per host.
STATE = Path(os.environ.get("SGLANG_TEST_HOSTS") or Path.home() / ".cache/pulumi-sglang/test-hosts").absolute()
HOSTS = STATE / "hosts"
KEY = STATE / "key"

# A debootstrap tree to build on instead of making one; it is only read.
BASE_SEED = os.environ.get("SGLANG_TEST_BASE")
# A real venv that every host gets at VENV_IN_HOST, unless `up` says otherwise.
VENV = os.environ.get("SGLANG_TEST_VENV")
VENV_IN_HOST = "opt/venv"
WHEELS_IN_HOST = "opt/wheels"

BRIDGE = "sgl0"
NETWORK = "10.77.0"
GATEWAY = f"{NETWORK}.1"
ADDRESSES = range(11, 250)

# Of every user on the hosts; root and the others also take the key.
PASSWORD = "correct horse"

# What `hosts exec` runs a command with, as systemd gives it to a service of root.
ENVIRONMENT = [
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/root",
    "USER=root",
    "LANG=C.UTF-8",
]

SUITE = "bookworm"
PACKAGES = [
    "systemd",
    "systemd-sysv",
    "dbus",
    "libpam-systemd",
    "openssh-server",
    "python3",
    "python3-venv",
    "iproute2",
    "curl",
    "ca-certificates",
    "procps",
    "sudo",
    "tcsh",
    "fish",
]
