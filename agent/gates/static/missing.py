"""Sentences about what files want and the loader does not find: who wants it, what torch is for, who could bring it."""

import os
import re

from agent.counted import counted
from agent.gates.static import families
from agent.gates.static.finding import Finding

NUMBERED = re.compile(r"\.(\d+(?:\.\d+)*)$")


def findings(tree, owners, torch, wants):
    """[Finding] for wants. torch: its version.

    One sentence a file where it stops the service, one a distribution for all its files that want another CUDA, and one a distribution
    for what may never be loaded.
    """
    grave, light = {}, {}
    for want in wants:
        owner = owners.named(want.shown)
        if want.other is not None:
            grave[want.shown, want.name] = [want]
        elif want.severe:
            major = families.cuda_major(want.name)
            grave.setdefault((owner if owner and major else want.shown, major), []).append(want)
        else:
            light.setdefault(owner or os.path.dirname(want.shown), []).append(want)
    found = []
    for group in grave.values():
        text = too_old(tree, group[0]) if group[0].other is not None else sentence(tree, owners, torch, group)
        found.append(Finding(group[0].key, group[0].by, text, any(one.severe for one in group)))
    for owner, group in light.items():
        found.append(Finding(group[0].key, group[0].by, perhaps(owner, group), False))
    return found


def sentence(tree, owners, torch, group):
    """Who wants what in vain, of one file or of several that want the same CUDA."""
    want, names = group[0], list(dict.fromkeys(one.name for one in group))
    files = len({one.shown for one in group})
    who = described(owners, want.shown) + (" and " + counted(files - 1, "more file") if files > 1 else "")
    how = "the loader cannot take: " + want.reason if want.reason else "the loader finds nowhere"
    text = "%s %s %s, which %s" % (who, "want" if files > 1 else "wants", ", ".join(_few(names)), how)
    if files == 1 and want.root is not None and tree.shown(tree.path(want.root)) != want.shown:
        text += " (loaded for %s)" % tree.shown(tree.path(want.root))
    major = families.cuda_major(want.name)
    if major and tree.cuda and major != tree.cuda.split(".")[0]:
        text += "; built for CUDA %s, torch %s here is for CUDA %s" % (major, torch, tree.cuda)
    return text + supply(tree, owners, names)


def supply(tree, owners, names):
    """`; …`: where the libraries are, if anywhere, else which distributions bring them."""
    inside, brought, beside = [], [], []
    for name in names:
        files = tree.files_named(name)
        other = tree.on_host(name)
        bringer = families.distribution(name, tree.cuda and tree.cuda.split(".")[0])
        if files:
            shown = tree.shown(tree.path(files[0]))
            owner = owners.named(shown)
            inside.append(shown + (" of " + owner if owner else ""))
        elif bringer:
            brought.append(bringer)
        if other and not files:
            beside.append(other)
    text = ""
    if inside:
        text += "; the release has %s, but no search path leads there: name its folder in LD_LIBRARY_PATH" % ", ".join(
            inside
        )
    if brought:
        brought = sorted(set(brought))
        text += "; %s %s" % (", ".join(brought), "brings it" if len(brought) == 1 else "bring them")
    if beside:
        text += "; this host has %s: name its folder in LD_LIBRARY_PATH" % beside[0]
    return text


def perhaps(owner, group):
    """A sentence for libraries that are loaded only when something asks for them."""
    files = sorted({one.shown for one in group})
    first = [one.name for one in group if one.shown == group[0].shown]
    count = files[0] if len(files) == 1 else "%d files" % len(files)
    return "%s: %s, which may never be loaded, cannot be here: %s wants %s" % (
        owner,
        count,
        os.path.basename(group[0].shown),
        ", ".join(_few(first)),
    )


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


def _few(names):
    return names[:4] + (["and %d more" % (len(names) - 4)] if len(names) > 4 else [])
