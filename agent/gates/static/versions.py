"""Versions as code says them against metadata, local labels, and whether wheels and extension modules are for this interpreter and libc."""

import os
import re

from agent.counted import counted
from agent.gates import pep440
from agent.gates.static.finding import Finding
from agent.gates.static.owners import label_major, says
from agent.overlay import tags
from agent.venv import interpreter

FILES = ("version.py", "_version.py", "_build_meta.py", "__about__.py", "__init__.py")
FAMILY = ("torchvision", "torchaudio")
GLIBC = re.compile(r"GLIBC_(2\.\d+)")


def findings(tree, owners, laid, changed):
    """([Finding], note) about the distributions that layers brought; `torch` and its siblings are held to their CUDA label as well."""
    found = []
    for dist in owners.installed:
        if dist.name in laid:
            found += _code(tree, owners, dist) + _wheel(tree, dist)
    found += _modules(tree, owners, changed)
    return found + _labels(tree, laid), counted(len(laid), "distribution") + " laid"


def _code(tree, owners, dist):
    """What a package says of itself. Only torch's version decides anything (torch._C is built with it); others are often stale."""
    for folder in _packages(tree, owners, dist):
        for name in FILES:
            version = says(os.path.join(tree.site, folder, name))[0]
            if version and (differs if dist.name == "torch" else far)(version, dist.version):
                path = folder + "/" + name
                text = "%s says %s, the metadata of %s says %s: code and metadata are not of one build" % (
                    path,
                    version,
                    dist.name,
                    dist.version,
                )
                return [Finding(("version", path, version), None, text, dist.name == "torch")]
            if version:
                break
    return []


def differs(code, metadata):
    """Whether two versions are not of one build; a label that only one of them has says nothing (torch from PyPI: `2.14.1` and `2.14.1+cu130`)."""
    one, other = pep440.Version.parse(code), pep440.Version.parse(metadata)
    if one is None or other is None:
        return False
    return one.public() != other.public() or bool(one.local and other.local and one.local != other.local)


def far(code, metadata):
    """Whether two versions are not of one release: `1.2.post1` and `1.2` are."""
    one, other = pep440.Version.parse(code), pep440.Version.parse(metadata)
    return bool(one and other) and one.public()[:2] != other.public()[:2]


def _packages(tree, owners, dist):
    stem = dist.name.replace("-", "_")
    named = [stem, re.sub(r"_python$", "", stem), stem.replace("sglang_kernel", "sgl_kernel")]
    return [name for name in dict.fromkeys(named) if any(one is dist for one in owners.of(name + "/__init__.py"))]


def _labels(tree, laid):
    """torch's own label against its CUDA, and its siblings' against torch's: they refuse to be loaded with another major."""
    found = []
    version, cuda = says(os.path.join(tree.site, "torch", "version.py"))
    major = cuda.split(".")[0] if cuda else label_major(version)
    if version and cuda and label_major(version) not in (None, major):
        text = "torch/version.py says version %s and CUDA %s" % (version, cuda)
        found.append(Finding(("label", "torch", version), None, text, "torch" in laid))
    for name in FAMILY:
        other = says(os.path.join(tree.site, name, "version.py"))[0]
        its = label_major(other)
        if its and major and its != major:
            text = "%s %s is for CUDA %s, torch %s is for CUDA %s" % (name, other, its, version, cuda or major)
            found.append(Finding(("label", name, other), None, text, "torch" in laid or name in laid))
    return found


def _wheel(tree, dist):
    """The tags that a distribution's own WHEEL names: those of an overlay from another host were never compared with this one."""
    try:
        with open(os.path.join(tree.site, dist.info, "WHEEL"), encoding="utf-8", errors="replace") as file:
            own = [line.split(":", 1)[1].strip() for line in file if line.startswith("Tag:")]
    except OSError:
        return []
    facts = facts_of(tree)
    try:
        fits = not own or tags.fits([tag for one in own for tag in tags.expand(one)], facts)
    except ValueError:
        return []
    if fits:
        return []
    text = "%s %s was built for %s, this release is %s" % (
        dist.name,
        dist.version,
        ", ".join(own[:3]),
        tags.wanted(facts),
    )
    return [Finding(("tag", dist.name, ""), None, text, True)]


def facts_of(tree):
    """What `tags.fits` asks of an interpreter, from its files."""
    folder = os.path.basename(os.path.dirname(tree.site))
    named = interpreter.config(tree.prefix) or {}
    minor = folder[len("python") :].rstrip("t")
    full = named.get("version_info") or named.get("version") or minor
    libc = tree.process.named("libc.so.6")
    known = [
        found.group(1) for version in (libc.elf.versions if libc else ()) for found in [GLIBC.match(version)] if found
    ]
    newest = max(known, key=lambda text: int(text.split(".")[1]), default="")
    return {
        "version": full if full.startswith(minor + ".") else minor,
        "suffixes": [".cpython-t-"] if folder.endswith("t") else [],
        "markers": {"platform_machine": tree.system.machine},
        "libc": ["glibc" if libc else "", newest],
    }


def _modules(tree, owners, changed):
    """Extension modules for another Python or processor: told where a distribution has no other ones."""
    usable, foreign = {}, {}
    for relative in sorted(changed):
        shown = tree.shown(tree.path(relative))
        elf = tree.elf(relative)
        if elf is None or not shown.endswith(".so") or os.path.basename(shown).startswith("lib"):
            continue
        here = tree.importable(relative) and tree.system.fits(elf)
        for dist in owners.of(shown):
            (usable if here else foreign).setdefault(dist, []).append((shown, elf))
    found = []
    for dist, files in sorted(foreign.items(), key=lambda one: one[0].name):
        shown, elf = files[0]
        text = "%d of %d changed extension modules of %s %s are not for this Python (%s) on %s: %s%s" % (
            len(files),
            len(files) + len(usable.get(dist, [])),
            dist.name,
            dist.version,
            os.path.basename(os.path.dirname(tree.site)),
            tree.system.machine,
            shown,
            "" if tree.system.fits(elf) else " is for %s, %d bit" % (elf.machine, elf.bits),
        )
        found.append(Finding(("module", dist.name, shown), None, text, dist not in usable))
    return found
