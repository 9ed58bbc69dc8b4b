"""What the layers of a release did to its libraries: the findings about it that its base does not have."""

import os

from agent.counted import counted
from agent.gates.static import bindings, damaged, missing, needed, winners
from agent.gates.static.accepted import Accepted, lenient
from agent.gates.static.elf import NotElf
from agent.gates.static.tree import tree_of


def affected(tree, changed):
    """The libraries that the service loads and that are changed, or load one that is."""
    found = []
    for relative in tree.libraries:
        opened = tree.opened(relative) if tree.is_root(relative) else None
        if opened and (relative in changed or any(tree.below(one.path) in changed for one in opened[1].closure)):
            found.append(relative)
    return found


def findings(tree, changes, own, torch, accept=()):
    """([Finding], note): what is the layers' doing, and what the environment puts before the release's own files.

    accept: patterns of what is only warned of.
    """
    roots = affected(tree, changes.changed)
    torch_too = any(tree.below(one.path) in changes.changed for one in tree.process.loaded)
    shadows = winners.findings(tree, changes.changed, roots)
    unbound = bindings.findings(tree, roots, own, torch, torch_too)
    explained = {name for one in shadows for name in one.names}
    found = needed.wants(tree) + [one for one in unbound if not set(one.names) <= explained]
    new = _new(tree, changes, found, roots, own, torch_too)
    files, old = counted(len(tree.libraries), "file"), len(found) - len(new)
    shortcomings = "%s the base's" % counted(old, "shortcoming is", "shortcomings are")
    note = "%s, %d changed; %s" % (files, len(changes.changed), shortcomings)
    if not changes.known:
        note = "%s; what layers changed is not known, so nothing is held against them" % files
    if not tree.system.exact:
        note += "; the loader does not say where it looks: the usual places are assumed"
    accepted = Accepted(accept, own)
    wants = [one for one in new if isinstance(one, needed.Want)]
    passing = [one for one in wants if accepted.takes(one.shown, one.name)]
    told = [one for one in new if one not in wants] + damaged.findings(tree, changes.changed, own) + shadows
    lenient([one for one in told if accepted.takes(one.key[1], one.key[2])])
    failing = missing.findings(tree, own, torch, [one for one in wants if one not in passing])
    return failing + lenient(missing.findings(tree, own, torch, passing)) + told, note


def _new(tree, changes, found, roots, own, torch_too):
    """What the base does not have. Without a base: what is in changed files and in what loads them."""
    if not found or not (changes.changed or changes.gone):
        return []
    if changes.base is None:
        loads = {one.key for root in roots for one in tree.opened(root)[1].closure}
        return [one for one in found if tree.below(one.by.path) in changes.changed or one.by.key in loads]
    before = _before(tree, changes, found, roots, own, torch_too)
    new = [one for one in found if any(key not in before for key in one.marks())]
    for one in new:
        # A file that nobody touched and that had all it wants before: whoever took that away broke it.
        one.severe = one.severe or tree.below(one.by.path) not in changes.changed
    return new


def _before(tree, changes, found, roots, own, torch_too):
    """The keys of the base's own findings, in the same environment."""
    candidate = {"release": tree.prefix, "env": tree.environment, "cwd": tree.cwd}
    moved = [path.replace(tree.prefix, changes.base, 1) for path in (tree.site, tree.python)]
    libraries = sorted((set(tree.libraries) - changes.changed) | changes.gone | _there(changes))
    try:
        base = tree_of(changes.base, moved[0], moved[1], candidate, libraries, tree.system)
    except (NotElf, OSError):
        return set()
    there = set(libraries)
    wanting = sorted(there.intersection(one.root for one in found if isinstance(one, needed.Want)))
    unbound = (
        bindings.findings(base, [root for root in roots if root in there], own, None, torch_too)
        if _unbound(found)
        else []
    )
    return {key for one in needed.wants(base, wanting) + unbound for key in one.marks()}


def _unbound(found):
    return any(one.key[0] == "symbol" for one in found)


def _there(changes):
    return {path for path in changes.changed if os.path.lexists(os.path.join(changes.base, path))}
