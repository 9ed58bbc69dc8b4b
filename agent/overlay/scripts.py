"""Console scripts of a distribution, made so that they run the interpreter beside them."""

import configparser
import os
import re

from agent.venv import relocate

BODY = """# -*- coding: utf-8 -*-
import sys
from %(module)s import %(first)s
if __name__ == "__main__":
    sys.argv[0] = sys.argv[0][:-11] if sys.argv[0].endswith("-script.pyw") else sys.argv[0]
    sys.exit(%(call)s())
"""


def entry_points(text):
    """{script name: `module:attribute`} of an entry_points.txt."""
    parser = configparser.ConfigParser(delimiters=("=",), strict=False, interpolation=None)
    parser.optionxform = str
    parser.read_string(text)
    found = {}
    for section in ("console_scripts", "gui_scripts"):
        if parser.has_section(section):
            found.update(parser.items(section))
    # `name = module:function [extra]` is an old way to say what it needs.
    return {name: re.sub(r"\s*:\s*", ":", value.split("[")[0].strip()) for name, value in found.items()}


def require_sound(name, target):
    """ValueError unless the script's name is that of a file in `bin`, and its target one that Python can import."""
    if name in (".", "..") or re.search(r"[/\0]", name) or not re.match(r"[\w.]+:[\w.]+\Z", target):
        raise ValueError("the entry point %r = %r makes no script" % (name, target))


def script(target):
    """The text of the script for `module:attribute`."""
    module, _, attribute = target.partition(":")
    body = BODY % {"module": module, "first": attribute.split(".")[0], "call": attribute}
    return (relocate.HEAD % ("python", "") + body).encode("utf-8")


def relocated(text):
    """A script from a wheel's `.data/scripts`: its `#!python` becomes the interpreter beside it."""
    first, _end, rest = text.partition(b"\n")
    if first.rstrip() in (b"#!python", b"#!pythonw"):
        return (relocate.HEAD % ("python", "")).encode("utf-8") + rest
    return text


def adopted(text, venv):
    """A script of the venv `venv` on a donor: it runs the interpreter beside it. One of the system is what its author meant."""
    match = relocate.LONG.match(text) or relocate.SHORT.match(text)
    if not match:
        return text
    python = os.fsdecode(match.group("python"))
    home = os.path.dirname(os.path.dirname(python))
    if (
        home != os.path.normpath(venv)
        and os.path.exists(python)
        and not os.path.exists(os.path.join(home, "pyvenv.cfg"))
    ):
        return text
    options = (match.groupdict().get("options") or b"").decode("utf-8", "surrogateescape").rstrip()
    return (relocate.HEAD % ("python", options)).encode("utf-8", "surrogateescape") + text[match.end() :]
