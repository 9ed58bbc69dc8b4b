"""Names of the environment that SGLang would ignore: a misspelt SGLANG_… is silently the default."""

import difflib
import os
import re

NAME = re.compile(rb"SGL(?:ANG)?_[A-Z0-9_]+")


def warnings(names, site):
    """One sentence for each SGLANG_ or SGL_ name of `names` that no source of this site-packages' sglang mentions."""
    root = os.path.join(site, "sglang")
    asked = {name for name in names if NAME.fullmatch(name.encode())}
    if not asked or not os.path.isdir(root):
        return []
    left = {name for name in asked if not {name, modern(name)} & mentioned([os.path.join(root, "srt", "environ.py")])}
    if not left:
        return []
    # Some names are read outside environ.py, and a patch may read its own: only what nobody mentions is unknown.
    known = mentioned(
        os.path.join(folder, file) for folder, _, files in os.walk(root) for file in files if file.endswith(".py")
    )
    return [sentence(name, known) for name in sorted(left) if not {name, modern(name)} & known]


def modern(name):
    """SGLang reads SGL_X as SGLANG_X."""
    return "SGLANG_" + name[4:] if name.startswith("SGL_") else name


def mentioned(paths):
    """The names that any of these files contains."""
    found = set()
    for path in paths:
        try:
            with open(path, "rb") as file:
                found.update(name.decode() for name in NAME.findall(file.read()))
        except OSError:
            continue
    return found


def sentence(name, known):
    near = difflib.get_close_matches(name, sorted(known), 1, 0.7)
    return "%s is read nowhere in this sglang%s" % (name, "; nearest: " + near[0] if near else "")
