"""Becomes the server: `python -I launcher.py SPEC` reads argv, environment and the rest from SPEC and execs.

It stands alone in the directory of its service. Through it every byte arrives as declared, whatever the quoting rules
of what starts it, and neither `ps` nor a unit shows the environment. What its supervisor has set already, it leaves.
"""

import json
import os
import resource
import sys


def launch(path):
    with open(path, encoding="utf-8") as file:
        spec = json.load(file)
    for name, value in spec["limits"].items():
        limit(name, value)
    for name, value in spec["wishes"].items():
        raise_limit(name, value)
    if os.geteuid() == 0 and spec["uid"] != 0:
        os.setgroups(spec["groups"])
        os.setgid(spec["gid"])
        os.setuid(spec["uid"])
    os.chdir(spec["cwd"])
    argv = [raw(word) for word in spec["argv"]]
    os.execve(argv[0], argv, {raw(name): raw(value) for name, value in spec["environ"].items()})


def limit(name, value):
    kind = getattr(resource, "RLIMIT_" + name.upper())
    number = resource.RLIM_INFINITY if value == "infinity" else int(value)
    if resource.getrlimit(kind) != (number, number):
        resource.setrlimit(kind, (number, number))


def raise_limit(name, value):
    """As far as it is allowed: to the hard limit at least."""
    try:
        limit(name, value)
    except (ValueError, OSError):
        kind = getattr(resource, "RLIMIT_" + name.upper())
        soft, hard = resource.getrlimit(kind)
        wanted = resource.RLIM_INFINITY if value == "infinity" else int(value)
        if soft != resource.RLIM_INFINITY and (wanted == resource.RLIM_INFINITY or wanted > soft):
            resource.setrlimit(kind, (hard, hard))


def raw(text):
    """The bytes of a text; a surrogate stands for a byte that is not UTF-8, whatever the locale."""
    return text.encode("utf-8", "surrogateescape")


if __name__ == "__main__":
    try:
        launch(sys.argv[1])
    except (OSError, ValueError, KeyError, AttributeError) as error:
        sys.stderr.write("launcher: %s: %s\n" % (sys.argv[1], error))
        sys.exit(127)
