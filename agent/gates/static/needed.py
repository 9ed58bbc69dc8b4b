"""Libraries and versions of libraries that the files of a release want and the loader does not find."""

import os
import re

from agent.gates.static import families
from agent.gates.static.finding import Finding

CUDA_VARIANT = re.compile(r"cu\d\d")
NUMBERED = re.compile(r"\.(\d+(?:\.\d+)*)$")


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


def findings(tree, owners, torch, wanted):
    """[Finding] for wants: a sentence a file where it stops the service, else one a distribution. torch: its version."""
    grave, light = {}, {}
    for want in wanted:
        if want.other is not None:
            grave[want.shown, want.name] = [want]
        elif want.severe:
            grave.setdefault((want.shown, families.cuda_major(want.name)), []).append(want)
        else:
            light.setdefault(owners.named(want.shown) or os.path.dirname(want.shown), []).append(want)
    found = []
    for group in grave.values():
        text = too_old(tree, group[0]) if group[0].other is not None else sentence(tree, owners, torch, group)
        found.append(Finding(group[0].key, group[0].by, text, any(one.severe for one in group)))
    for owner, group in light.items():
        found.append(Finding(group[0].key, group[0].by, perhaps(owner, group), False))
    return found


def perhaps(owner, group):
    """A sentence for libraries that are loaded only when something asks for them."""
    files = sorted({one.shown for one in group})
    count = files[0] if len(files) == 1 else "%d files" % len(files)
    return "%s: %s, which may never be loaded, cannot be here: %s wants %s" % (
        owner,
        count,
        os.path.basename(group[0].shown),
        ", ".join(_few([one.name for one in group if one.shown == group[0].shown])),
    )


def _few(names):
    return names[:3] + (["and %d more" % (len(names) - 3)] if len(names) > 3 else [])


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


def sentence(tree, owners, torch, group):
    """Who wants what, what torch is for, and who could bring it."""
    want, names = group[0], [one.name for one in group]
    how = "the loader cannot take: " + want.reason if want.reason else "the loader finds nowhere"
    text = "%s wants %s, which %s" % (described(owners, want.shown), ", ".join(_few(names)), how)
    if want.root is not None and tree.shown(tree.path(want.root)) != want.shown:
        text += " (loaded for %s)" % tree.shown(tree.path(want.root))
    major = families.cuda_major(want.name)
    if major and tree.cuda and major != tree.cuda.split(".")[0]:
        text += "; it was built for CUDA %s, torch %s here is for CUDA %s" % (major, torch, tree.cuda)
    return text + supply(tree, owners, want.name)


def supply(tree, owners, name):
    """`; …`: where the library is, if anywhere, else which distribution brings it."""
    inside = tree.files_named(name)
    if inside:
        shown = tree.shown(tree.path(inside[0]))
        owner = owners.named(shown)
        return "; the release has %s%s, but no search path leads there: name its folder in LD_LIBRARY_PATH" % (
            shown,
            " of " + owner if owner else "",
        )
    text = ""
    bringer = families.distribution(name, tree.cuda and tree.cuda.split(".")[0])
    if bringer:
        text += "; %s brings it" % bringer
    other = tree.on_host(name)
    if other:
        text += "; this host has %s: name its folder in LD_LIBRARY_PATH" % other
    return text


def described(owners, by):
    owner = owners.named(by)
    return "%s (%s)" % (by, owner) if owner else by


def too_old(tree, want):
    """A sentence for a version that the library which was found does not define."""
    other, stem = want.other, re.split(r"[\d.]", want.name)[0]
    numbers = [NUMBERED.search("." + one[len(stem) :]) for one in other.elf.versions if one.startswith(stem)]
    newest = max(
        (found.group(1) for found in numbers if found),
        key=lambda text: [int(part) for part in text.split(".")],
        default=None,
    )
    has = "has up to %s%s" % (stem, newest) if newest else "has none of that name"
    return "%s wants %s of %s, and %s (by %s) %s" % (
        want.shown,
        want.name,
        os.path.basename(other.path),
        tree.shown(other.path),
        other.how,
        has,
    )
