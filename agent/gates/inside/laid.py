"""Gate 8: what was laid and nothing of the service has imported yet is imported as well.

It comes last: what dies of it takes no other answer along. A missing module and a symbol that nobody defines are wrong on every host. What fails
otherwise (a kernel without its GPU, a plugin without its server) may be right where it is used, and only warns.
"""

import fnmatch
import importlib
import sys

from . import errors
from .imports import Imports


def run(job, places, tell):
    """(problems, warnings, note)"""
    accepted = [name.lower().replace("_", "-") for name in job["accept"]]
    problems, warnings, count = [], [], 0
    for one in job["laid"]:
        module = one["module"]
        if module in sys.modules:
            continue
        count += 1
        work = Imports(job, places, tell, "laid")
        work.attempt(module, one["distribution"], importlib.import_module)
        for problem in work.problems + work.hidden:
            told = dict(problem, text="%s, laid with %s: %s" % (module, one["distribution"], problem["text"]))
            if is_certain(problem) and not any(fnmatch.fnmatchcase(one["name"], name) for name in accepted):
                problems.append(told)
            else:
                warnings.append(told["text"])
        if work.problems:
            # The next one must not find what stood in for this one's.
            work.standins.forget()
    return problems, warnings, "%d more module%s" % (count, "" if count == 1 else "s")


def is_certain(problem):
    """Whether it fails on every host, and not only on one without what this is for."""
    text = problem["text"]
    return "missing" in problem or bool(errors.UNDEFINED.search(text) or errors.NO_OPERATOR.search(text))
