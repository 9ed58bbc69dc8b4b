"""Gate 5: each patched module is the file that was put there, and nothing of interest comes from outside the release."""

import hashlib
import os
import sys

from . import shadows, standin
from .places import below, real

# Where a declared import may lie outside the release: where the declared environment, or the adopted venv, itself says so.
DECLARED = ("PYTHONPATH", "system-site")


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def patched(item, job, places):
    """The problem with one patched module or file as this interpreter finds it, or None."""
    name = item.get("module")
    wanted = item.get("file") or os.path.join(job["site"], item.get("path") or name.replace(".", os.sep) + ".py")
    file = wanted
    if name:
        module = sys.modules.get(name)
        if module is None:
            return None  # the import gate has said why
        file = getattr(module, "__file__", None)
        if file is None:
            found = shadows.namespace(name.split(".")[0], sys.modules[name.split(".")[0]], places)
            return found[1] if found else "%s is imported without a file; the patched file is %s" % (name, wanted)
        if not below(os.path.realpath(file), places.release):
            found = shadows.foreign(name.split(".")[0], sys.modules[name.split(".")[0]], places)
            told = found[1] if found else "the patched file is %s" % wanted
            return "%s is imported from %s, outside the release; %s" % (name, os.path.realpath(file), told)
    return content(name, file, wanted, item["sha256"]) or (stale(name) if name else None)


def content(name, file, wanted, sha):
    if not os.path.exists(file):
        return "the patched file %s is not there" % file
    found = sha256(file)
    if found == sha:
        return another(name, file, wanted)
    subject = "%s is imported from %s, whose content" % (name, file) if name else "the content of %s" % file
    told = "%s is not the patched one (sha256 %s, expected %s)" % (subject, found[:12], sha[:12])
    if os.path.realpath(file) != os.path.realpath(wanted) and os.path.exists(wanted) and sha256(wanted) == sha:
        told += "; the patched file %s is there, but another one is found first" % wanted
    return told


def another(name, file, wanted):
    """A copy of the same content is another file: the next patch, and the next look, would miss it."""
    if name is None or os.path.realpath(file) == os.path.realpath(wanted):
        return None
    return "%s is imported from %s, and not from the patched file %s" % (name, file, wanted)


def stale(name):
    """Bytecode that Python takes for valid (same size, same second) though it is of another source."""
    module = sys.modules[name]
    loader = getattr(module.__spec__, "loader", None)
    if not hasattr(loader, "source_to_code") or not hasattr(loader, "get_code"):
        return None
    used = loader.get_code(name)
    if used == loader.source_to_code(loader.get_data(module.__file__), module.__file__):
        return None
    return "%s runs old bytecode: %s is not of the source %s; remove it" % (
        name,
        module.__spec__.cached,
        module.__file__,
    )


def loaded(job, places):
    """(problems, warnings) about the top-level modules that were loaded."""
    strict = {"sglang", job["module"].split(".")[0]}
    strict.update(item["module"].split(".")[0] for item in job["patched"] if item.get("module"))
    declared = {name.split(".")[0] for name in job["imports"]}
    problems, warnings = [], []
    for name, module in sorted(sys.modules.items()):
        if (
            "." in name
            or name in job["before"]
            or getattr(module, "__spec__", None) is None
            or isinstance(module, standin.StandIn)
        ):
            continue
        found = shadows.foreign(name, module, places)
        if found is None:
            continue
        kind, told = found
        wrong = name in strict or kind == "user-site" or (name in declared and kind not in DECLARED)
        (problems if wrong else warnings).append(told)
    return problems, warnings


def library(job, places):
    """Files of the working directory that take the place of a standard module once the service starts with -m."""
    if places.cwd is None:
        return []
    told = []
    for file in sorted(os.listdir(places.cwd)):
        path = os.path.join(places.cwd, file)
        name = file[:-3] if file.endswith(".py") else file
        package = os.path.isfile(os.path.join(path, "__init__.py"))
        if (
            (file.endswith(".py") or package)
            and places.stdlib_has(name)
            and name not in job["before"]
            and name not in sys.builtin_module_names
        ):
            told.append("%s in the working directory hides the standard module %s" % (path, name))
    return told


def run(job, places):
    """(problems, warnings, {module: file})."""
    problems = []
    for item in job["patched"]:
        told = patched(item, job, places)
        if told and told not in problems:
            problems.append(told)
    more, warnings = loaded(job, places)
    # A patched module's own sentence already names the shadow of its package.
    problems += [told for told in more if not any(told in known for known in problems)]
    problems += library(job, places)
    names = [job["module"]] + [item["module"] for item in job["patched"] if item.get("module")] + list(job["imports"])
    files = {name: getattr(sys.modules.get(name), "__file__", None) for name in names}
    return problems, warnings, {name: real(file) for name, file in files.items() if file}
