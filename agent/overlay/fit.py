"""Whether what is to be laid is for the interpreter that it is to be laid over."""

import os
import re

from agent.fault import Fault
from agent.overlay import tags as compare
from agent.venv import interpreter

# `_C.cpython-312-x86_64-linux-gnu.so`: for one minor version, whatever the wheel's tags say.
EXTENSION = re.compile(r"\.cpython-3(\d+)(t?)-(\w+?)-linux-(?:gnu|musl)\w*\.so$")


def tags(site, installed, paths):
    """The tags that bind distributions: of their wheels, narrowed to the Python of extension modules that are for one only."""
    found = [tag for dist in installed for tag in _of_wheel(os.path.join(site, dist.info, "WHEEL"))]
    modules = {match.groups() for match in map(EXTENSION.search, paths) if match}
    narrow = [
        "cp3%s-cp3%s%s-linux_%s" % (minor, minor, threads, machine) for minor, threads, machine in sorted(modules)
    ]
    if narrow and all("-none-" in tag or "-abi3-" in tag for tag in found):
        return narrow
    return found


def require(wanted, about, python, remedy="take the wheel that was built for it"):
    """Fault `wrong-wheel` unless one of the tags is good for the interpreter whose `interpreter.facts` are given."""
    if wanted and not compare.fits(wanted, python):
        raise Fault(
            "wrong-wheel",
            "the overlay of %s is not for this venv's interpreter" % about,
            found=", ".join(sorted(set(wanted))),
            expected=compare.wanted(python),
            remedy=remedy,
        )


def check(request):
    """`overlay.fits`: faults unless each of `args["overlays"]` ([{about, tags}]) is for the interpreter of `args["base"]`; {} when that cannot be told yet."""
    base = request.args.get("base") or {}
    python = base.get("adopt") or base.get("python") or ""
    if not os.path.isabs(python) or not os.path.exists(python):
        return {}
    facts = interpreter.facts(python)
    for one in request.args["overlays"]:
        require(
            one["tags"],
            one["about"],
            facts,
            "take a donor with the same Python and C library, or a wheel that was built for it",
        )
    return {}


def _of_wheel(path):
    try:
        with open(path, encoding="utf-8") as file:
            return compare.read(file.read())
    except (FileNotFoundError, NotADirectoryError):
        return []
