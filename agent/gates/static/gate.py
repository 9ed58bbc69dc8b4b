"""Runs the static gates on a candidate: nothing of it is executed, and what its base had already is not held against it."""

import time

from agent.gates.static import cuda, libraries, owners, versions
from agent.gates.static.changes import Changes
from agent.gates.static.elf import NotElf
from agent.gates.static.finding import Finding, result
from agent.gates.static.tree import tree_of

NAMES = ("libraries", "cuda", "versions")
REMEDIES = {
    "libraries": "lay what brings the library, the torch that the kernels were built for, name the library's folder in LD_LIBRARY_PATH, or let it pass by `checks.acceptLibraries` if nothing needs it",
    "cuda": "lay distributions of one CUDA major, one that the driver offers",
    "versions": "lay the whole distribution, code and metadata of one build for this Python",
}


def check(candidate, progress=lambda gate: None):
    """Results of the gates `libraries`, `cuda` and `versions`, in this order.

    candidate: as for the other gates (release, site, python, env, cwd, gates).
    """
    accept = (candidate.get("gates") or {}).get("acceptLibraries") or ()
    started = time.monotonic()
    progress(NAMES[0])
    changes = Changes(candidate["release"])
    try:
        tree = tree_of(candidate["release"], candidate["site"], candidate["python"], candidate, changes.libraries)
    except (NotElf, OSError) as error:
        return [result(name, [], 0.0, "not checked: %s: %s" % (candidate["python"], error)) for name in NAMES]
    if not tree.process.named("libc.so.6"):
        return [result(name, [], 0.0, "not checked: the interpreter does not use glibc") for name in NAMES]
    own, torch, done = owners.Owners(tree.site), owners.torch(tree.site)[0], []
    for name, find in (
        ("libraries", lambda: libraries.findings(tree, changes, own, torch, accept)),
        ("cuda", lambda: cuda.findings(tree, own, changes.laid, changes.changed, torch)),
        ("versions", lambda: versions.findings(tree, own, changes.laid, changes.changed)),
    ):
        progress(name)
        found, note = _found(find)
        done.append(result(name, found, time.monotonic() - started, note))
        started = time.monotonic()
    return done


def _found(find):
    """([Finding], note). A fault of ours here must not keep a good candidate from running: the live gates still judge it."""
    try:
        return find()
    except Exception as error:
        text = "could not be checked: %s: %s (a fault of this program; please report it)" % (
            type(error).__name__,
            error,
        )
        return [Finding(("fault", "", ""), None, text, False)], ""
