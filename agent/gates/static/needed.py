"""Libraries and versions of libraries that the files of a release want and the loader does not find."""

import os
import re

from agent.gates.static import families

CUDA_VARIANT = re.compile(r"cu\d\d")


class Want:
    """One name that one file wants in vain. by: its Library; root: what was loaded for it (None: the program or torch);

    other: the library that was found and lacks the version; key: as of a Finding.
    """

    def __init__(self, tree, root, by, name, reason="", other=None):
        self.root, self.by, self.name, self.reason, self.other = root, by, name, reason, other
        self.shown = tree.shown(by.path)
        self.key = ("missing" if other is None else "version", self.shown, name)
        self.severe = severity(tree, root, name) if other is None else is_loaded(tree, root)

    def marks(self):
        """What tells it from others, as of a Finding."""
        return [self.key]


def wants(tree, only=None):
    """[Want] of a tree, each (file, name) once, at its gravest. only: paths of the libraries to load, beside the program and torch."""
    found = {}
    for root, opened in steps(tree, only):
        for library, name, reason in opened.missing:
            if not families.of_driver(name):
                _keep(found, Want(tree, root, library, name, reason))
        for library, version, other in opened.old:
            _keep(found, Want(tree, root, library, version, other=other))
    return list(found.values())


def _keep(found, want):
    if want.key not in found or (want.severe and not found[want.key].severe):
        found[want.key] = want


def steps(tree, only=None):
    """(path or None, Opened) of everything that is loaded: the program and torch first, then each library by itself."""
    for opened in tree.steps:
        yield None, opened
    for relative in tree.libraries if only is None else only:
        opened = tree.opened(relative)
        if opened is not None and tree.importable(relative):
            yield relative, opened[1]


def driver_wanted(tree):
    """The sonames of the driver that something wants and this host has not."""
    return sorted(
        {
            name
            for _root, opened in steps(tree)
            for _library, name, _reason in opened.missing
            if families.of_driver(name)
        }
    )


def is_loaded(tree, root):
    return root is None or tree.is_root(root)


def severity(tree, root, name):
    """Whether a missing library stops the service: only where what wants it is loaded for sure.

    Wheels carry libraries that are for other hosts: a plugin for MPI, a decoder for each version of FFmpeg, a kernel for each CUDA. And a
    package can load a library of its own before the one that wants it.
    """
    if not is_loaded(tree, root):
        return False
    if root is not None and CUDA_VARIANT.search(os.path.basename(root)) and len(_siblings(tree, root)) > 1:
        return False
    if families.of_cuda(name) or families.of_torch(name):
        return True
    if root is not None and any(_package(tree, one) == _package(tree, root) for one in tree.files_named(name)):
        return False
    return root is None or tree.is_module(root)


def _package(tree, relative):
    return tree.shown(tree.path(relative)).split("/")[0]


def _siblings(tree, root):
    folder, plain = os.path.dirname(root), re.sub(r"\d", "", os.path.basename(root))
    return [
        one
        for one in tree.libraries
        if os.path.dirname(one) == folder and re.sub(r"\d", "", os.path.basename(one)) == plain
    ]
