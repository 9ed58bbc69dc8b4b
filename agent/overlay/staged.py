"""What is staged of an overlay: for a look, which must not import what makes it."""

import os

from agent.files import read_json
from agent.venv import manifest, stamps, sums, tree, watch


def facts(layout, digest):
    """{packages: {name: version}, names: as declared, tags, source} of a staged overlay; None when it is not there, not complete, or was altered."""
    target = layout.tree(digest)
    made = read_json(os.path.join(target, "overlay.json"))
    wanted = made and manifest.read(os.path.join(target, "manifest"))
    whole = wanted is not None and manifest.compare(wanted, lines(target)) == []
    return made if whole and not contents(target).changed else None


def contents(target):
    """The Watch of a tree: its files by content, what was hashed before by stamp."""
    declared = sums.read(os.path.join(target, "sums")) or {}
    return watch.compare(target, declared, os.path.join(target, "stamps"))


def renew(target, known):
    """Takes the stamps of a tree anew, after its files were made or linked: `path -> sha256` as they are known to be."""
    stamps.write(os.path.join(target, "stamps"), stamps.take(target, known))


def lines(target):
    """The files of a tree that are laid; those about the tree stand beside the folders."""
    return {path: line for path, line in tree.lines(target).items() if "/" in path}
