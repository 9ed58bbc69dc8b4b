"""Symbols that the extensions of a release want and nothing that they load defines: a kernel built for another torch, another Python, an older library."""

from agent.gates.static import families, symbols
from agent.gates.static.demangle import demangle
from agent.gates.static.finding import Finding


def findings(tree, roots, owners, torch, torch_too):
    """[Finding], one a file, of what is loaded with `roots`; and with torch itself where `torch_too`."""
    found = {}
    opened = [(tree.process, one) for one in tree.steps] if torch_too else []
    opened += [tree.opened(root) for root in roots if tree.opened(root)]
    for process, one in opened:
        lost = [name for _library, name, _reason in one.missing]
        # What a missing library would have defined is no second cause.
        if not all(families.of_driver(name) for name in lost):
            continue
        for library, unbound in symbols.unresolved(process, one):
            names = [name for name in unbound if not (lost and symbols.of_driver(name))]
            by = tree.shown(library.path)
            if names and by not in found:
                found[by] = _finding(tree, library, by, names, owners, torch)
    return list(found.values())


def _finding(tree, library, by, names, owners, torch):
    of_torch = [name for name in names if symbols.of_torch(name)]
    of_python = [name for name in names if symbols.of_python(name)]
    first = (of_torch or of_python or names)[0].decode("utf-8", "replace")
    readable = demangle(first)
    what = first if readable == first else "%s (%s)" % (readable, first)
    more = " and %d more" % (len(names) - 1) if len(names) > 1 else ""
    owner = owners.named(by)
    who = "%s (%s)" % (by, owner) if owner else by
    if of_torch:
        text = "%s wants %s%s, which torch %s of this release does not define%s" % (
            who,
            what,
            more,
            torch,
            _built(owners, by),
        )
    elif of_python:
        text = "%s wants %s%s, which this interpreter does not define: it was built for another Python" % (
            who,
            what,
            more,
        )
    else:
        text = "%s wants %s%s, which nothing that it loads defines" % (who, what, more)
        provider = _provider(tree, library, names)
        if provider:
            return Finding(("symbol", by, first), library, "%s; %s does" % (text, provider), True, names)
    return Finding(("symbol", by, first), library, text, bool(of_torch or of_python), names)


def _built(owners, by):
    for dist in owners.of(by):
        wish = owners.requires(dist.name, "torch")
        return "; %s %s was built for another torch%s" % (
            dist.name,
            dist.version,
            " (it requires %s)" % wish if wish else "",
        )
    return "; it was built for another torch"


def _provider(tree, library, names):
    """A file of the release that has the symbols, under a name that the library asks for."""
    for soname in library.elf.needed:
        for relative in tree.files_named(soname):
            if symbols.defined(tree.system, tree.path(relative)) & set(names):
                return tree.shown(tree.path(relative))
    return None
