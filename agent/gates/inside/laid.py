"""Gate 8: what was laid and nothing of the service has imported yet is imported as well.

It comes last: what dies of it takes no other answer along, and what each import led to is told before the next one begins. A missing module and a symbol that
nobody defines are wrong on every host. What fails otherwise (a kernel without its GPU, a plugin without its server) may be right where it is used, and only warns.
"""

import fnmatch
import importlib
import sys

from . import errors
from .imports import Imports
from .share import Share


def run(job, places, tell):
    """Its note. Problems and warnings are told as {"found"}, module by module."""
    accepted = [name.lower().replace("_", "-") for name in job["accept"]]
    pending = [one for one in job["laid"] if one["module"] not in sys.modules]
    share = Share(job["late"])
    for at, one in enumerate(pending):
        tell({"left": pending[at + 1 :]})
        if one["module"] not in sys.modules:
            tell({"found": attempt(one, job, places, tell, share, accepted)})
    return "%d more module%s" % (len(pending), "" if len(pending) == 1 else "s")


def attempt(one, job, places, tell, share, accepted):
    """{"problems", "warnings"} of one module."""
    found = {"problems": [], "warnings": []}
    work = Imports(job, places, tell, "laid")
    with share:
        work.attempt(one["module"], one["distribution"], importlib.import_module)
    for problem in work.problems + work.hidden:
        told = dict(problem, text="%s, laid with %s: %s" % (one["module"], one["distribution"], problem["text"]))
        if is_certain(problem) and not any(fnmatch.fnmatchcase(one["name"], name) for name in accepted):
            found["problems"].append(told)
        else:
            found["warnings"].append(told["text"])
    if work.problems:
        # The next one must not find what stood in for this one's.
        work.standins.forget()
    return found


def is_certain(problem):
    """Whether it fails on every host, and not only on one without what this is for."""
    text = problem["text"]
    return "missing" in problem or bool(errors.UNDEFINED.search(text) or errors.NO_OPERATOR.search(text))
