"""`nvidia-smi` of this host, where there is one."""

import os

from agent.output import output

#: Seconds after which it is given up: a driver in trouble can hang it.
SECONDS = 20


def smi(*arguments):
    """What it prints with these arguments; "" where there is none, or it hangs."""
    return output(["nvidia-smi"] + list(arguments), SECONDS, {"PATH": os.environ.get("PATH", os.defpath)})


def rows(*arguments):
    """The rows of a query (`--query-gpu=index,uuid`), each a list of texts; [] where nothing can be asked."""
    text = smi(*(arguments + ("--format=csv,noheader",)))
    return [[part.strip() for part in line.split(",")] for line in text.splitlines() if "," in line]
