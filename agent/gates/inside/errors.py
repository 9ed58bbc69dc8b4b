"""What an exception of an import means for a person: which file, which library, which variable, which versions."""

import glob
import os
import re
import sys
import traceback

from . import requirers, trace

UNDEFINED = re.compile(r"undefined symbol: (\w+)")
# What a library that registers operators says when it did so for another torch.
NO_OPERATOR = re.compile(r"operator \w+::\w+ does not exist")
NO_LIBRARY = re.compile(r"([\w.+-]+\.so[\w.]*): cannot open shared object file")


def missing(error):
    """The name of the module whose absence this exception is, or None. An ImportError that was raised from it counts."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, ModuleNotFoundError) and error.name:
            return error.name
        # Only the declared cause: the context may be an optional module that was tried before.
        error = error.__cause__ if isinstance(error, ImportError) else None
    return None


def describe(error, job):
    """{"text", "detail"} of an exception that is not a plain missing module."""
    places = trace.frames(error)
    file, line, code = places[-1] if places else ("", 0, "")
    text = trace.line_of(error)
    if isinstance(error, SystemExit):
        text = "it called sys.exit(%r) while it was imported" % (error.code,)
    at = "%s:%d" % (trace.short(file), line) if file else "no line of Python"
    patched = in_patched(places, job)
    if patched and patched[:2] != (file, line):
        at = "%s, reached from the patched %s:%d (%s)" % (at, trace.short(patched[0]), patched[1], patched[2])
    elif patched:
        at = "the patched " + at
    told = "%s: %s" % (at, text)
    if code and not isinstance(error, SyntaxError):
        told += " (%s)" % code
    hint = library(str(error), file, job) or variable(error)
    return {"text": told + ("; " + hint if hint else ""), "detail": trace.last_lines(error)}


def in_patched(places, job):
    """The innermost frame that lies in a patched file, or None."""
    paths = [item.get("path") or item["module"].replace(".", os.sep) + ".py" for item in job["patched"]]
    suffixes = tuple(os.sep + path.lstrip(os.sep) for path in paths)
    return next((place for place in reversed(places) if suffixes and place[0].endswith(suffixes)), None)


def library(text, file, job):
    """What is known about a shared object that does not load: the versions that do not fit, the libraries that are there."""
    if UNDEFINED.search(text) or NO_OPERATOR.search(text):
        return abi(text, file, job)
    absent = NO_LIBRARY.search(text)
    if absent:
        name = absent.group(1)
        stem = name.split(".so")[0] + ".so"
        there = sorted(glob.glob(os.path.join(job["site"], "nvidia", "*", "lib", stem + "*")))[:4]
        told = "LD_LIBRARY_PATH is %s" % (os.environ.get("LD_LIBRARY_PATH") or "not set")
        return "%s is not found (%s)%s" % (name, told, "; the candidate has " + ", ".join(there) if there else "")
    return None


def abi(text, file, job):
    """Both sides of an undefined symbol: the distribution that was built, the torch that is here."""
    shared = re.search(r"(/\S+?\.so[\w.]*)", text)
    tops = [trace.short(path).split(os.sep)[0].split(".")[0] for path in ([shared.group(1)] if shared else []) + [file]]
    installed = requirers.distributions()
    torch = installed.get("torch", ("torch", "not installed", []))[1]
    loaded = getattr(sys.modules.get("torch"), "__version__", torch)
    here = "torch here is %s%s" % (loaded, "" if loaded == torch else " (its metadata says %s)" % torch)
    owner = next((found for found in (requirers.owner(top, installed) for top in tops) if found), None)
    if owner is None:
        return "%s was built for another torch; %s" % (shared.group(1) if shared else tops[-1], here)
    name, version, requirements = owner
    wish = next((req.split(";")[0].strip() for req in requirements if requirers.split(req)[0] == "torch"), None)
    tail = "it requires " + wish if wish else "its metadata does not say for which"
    return "%s %s was built for another torch (%s); %s" % (name, version, tail, here)


def variable(error):
    """The environment variable whose absence this is, with the user who lacks it."""
    raised = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)][-1:]
    if isinstance(error, KeyError) and error.args and raised in (["<frozen os>"], [trace.MACHINERY[1]]):
        return "the environment variable %s is not set in the service's environment (uid %d)" % (
            error.args[0],
            os.getuid(),
        )
    if "getpwuid" in str(error) or "No username set" in str(error):
        return (
            "uid %d has no passwd entry: set USER and HOME in the service's environment, or give it a user that exists"
            % os.getuid()
        )
    return None
