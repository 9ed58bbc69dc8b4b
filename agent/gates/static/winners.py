"""Which file wins where two could: what LD_LIBRARY_PATH or the system puts before a library of the release."""

import os

from agent.gates.static import families, preload, symbols
from agent.gates.static.changes import same
from agent.gates.static.finding import Finding
from agent.gates.static.loader import Process


def findings(tree, changed, roots):
    """[Finding] for each library of the release that another file takes the place of, in the process after torch and with `roots` loaded.

    One that a layer brought must win over what the service's environment leads to; otherwise it is only said.
    """
    found = {}
    for process in [tree.process] + [tree.opened(root)[0] for root in roots if tree.opened(root)]:
        for library in process.loaded:
            soname = library.elf.soname or os.path.basename(library.path)
            if (soname, library.path) in found or tree.below(library.path) or families.of_driver(soname):
                continue
            found[soname, library.path] = _finding(tree, changed, process, library, soname)
    return [one for one in list(found.values()) + [_interpreter(tree)] if one]


def by_environment(tree, library):
    return library.how == "LD_LIBRARY_PATH" or library.path in tree.process.preloads


def _finding(tree, changed, process, library, soname):
    rivals = [one for one in tree.files_named(soname) if not same(tree.path(one), library.path)]
    ours = [one for one in rivals if one in changed]
    environment = by_environment(tree, library)
    if not rivals or not (environment or (ours and (families.of_cuda(soname) or families.of_torch(soname)))):
        return None
    rival = (ours or rivals)[0]
    shown = tree.shown(tree.path(rival))
    text = "%s is %s (by %s), and not %s %s" % (
        soname,
        library.path,
        library.how,
        shown,
        "that was laid" if ours else "of the release",
    )
    names, wanting = lacking(tree, process, library, tree.path(rival), soname)
    if names:
        text += "; it lacks %s, which %s needs" % (
            ", ".join(name.decode("utf-8", "replace") for name in names[:3]),
            wanting,
        )
    if environment:
        text += "; take its folder out of LD_LIBRARY_PATH, or put %s before it" % os.path.dirname(tree.path(rival))
    return Finding(("shadow", shown, soname), library, text, bool(ours and environment), names)


def lacking(tree, process, library, rival, soname):
    """(names that the rival defines, this file does not, and something loaded needs; who needs them)"""
    only = symbols.defined(tree.system, rival) - symbols.defined(tree.system, library.path)
    for other in process.loaded:
        if only and soname in other.elf.needed:
            names = sorted(symbols.undefined(tree.system, other.path) & only)
            if names:
                return names, tree.shown(other.path)
    return [], ""


def _interpreter(tree):
    """Another libpython than the interpreter's own: its extension modules may not fit it."""
    if tree.own_python is tree.process.main or not tree.environment.get("LD_LIBRARY_PATH"):
        return None
    bare = Process(tree.system, {}, tree.cwd)
    bare.start(tree.python)
    own = preload.python_core(bare)
    if own is bare.main or same(own.path, tree.own_python.path):
        return None
    text = (
        "LD_LIBRARY_PATH gives the interpreter %s and not its own %s: modules of its standard library may not load"
        % (tree.own_python.path, own.path)
    )
    return Finding(("shadow", own.path, "python"), own, text, False)
