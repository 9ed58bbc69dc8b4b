"""What layers brought under a library's name and is none: empty, cut, a text, of another byte order."""

from agent.gates.static.finding import Finding


def findings(tree, changed, own):
    """[Finding] of the changed files of a tree. An extension module of this interpreter is there to be loaded; others may be scripts of a linker."""
    found = []
    for relative in sorted(changed):
        reason = tree.damage(relative)
        if reason:
            shown = tree.shown(tree.path(relative))
            owner = own.named(shown)
            text = "%s%s cannot be loaded: %s" % (shown, " (%s)" % owner if owner else "", reason)
            found.append(Finding(("damaged", shown, shown), None, text, tree.tagged(relative)))
    return found
