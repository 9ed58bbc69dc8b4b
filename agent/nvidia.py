"""`nvidia-smi` of this host, where there is one."""

import os
import subprocess

#: Seconds after which it is given up: a driver in trouble can hang it.
SECONDS = 20


def smi(*arguments):
    """What it prints with these arguments; "" where there is none, it fails or hangs."""
    return output(["nvidia-smi"] + list(arguments), {"PATH": os.environ.get("PATH", os.defpath)})


def output(argv, environment):
    """Standard output of a short command with exactly this environment; "" when it cannot be had."""
    try:
        ran = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout.decode("utf-8", "replace")


def rows(*arguments):
    """The rows of a query (`--query-gpu=index,uuid`), each a list of texts; [] where nothing can be asked."""
    text = smi(*(arguments + ("--format=csv,noheader",)))
    return [[part.strip() for part in line.split(",")] for line in text.splitlines() if "," in line]
