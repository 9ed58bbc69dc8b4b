"""Editable installs: the source trees that a venv's .pth files and finders point at, and how a copy gets them inside.

A release must not change when somebody edits a checkout, so its source trees lie in `src/<n>` and are found through a plain
path line. That line also ends the trap of the editable finders: those stand behind the path finder, where a directory of the
same name in the working directory hides the package.
"""

import ast
import json
import os
import re

from agent.fault import Fault
from agent.venv import dists, interpreter, record
from agent.venv.clone import rewrite
from agent.venv.copying import copy_tree

FINDER = re.compile(r"import (__editable___\w+_finder)\b")
REDIRECT = re.compile(r"import (_\w*editable\w*)\b")
MAP_MODULE = re.compile(r"map_module\(\s*(['\"])(?P<name>[\w.]+)\1\s*,\s*(?P<path>(['\"]).*?\4)\s*\)")
MOST_FILES = 300000


class Source:
    """One line of a .pth file that leads out of its venv: file, index of the line, and what it provides.

    places: {"": folder} for a path line, {dotted name: file or folder} for a finder; finder: its module file, or None.
    """

    def __init__(self, pth, index, places, finder=None):
        self.pth = pth
        self.index = index
        self.places = places
        self.finder = finder


def sources(prefix):
    """The source trees outside of the venv `prefix` that its packages come from, in the order in which they are searched."""
    site = interpreter.site_packages(prefix)
    inside = os.path.realpath(prefix)
    system = system_places(prefix)
    found = []
    for pth in sorted(name for name in os.listdir(site) if name.endswith(".pth")):
        for index, line in enumerate(_lines(os.path.join(site, pth))):
            source = _source(site, pth, index, line)
            places = {
                name: path
                for name, path in (source.places if source else {}).items()
                if os.path.exists(path)
                and not _below(path, inside)
                and not any(_below(path, place) for place in system)
            }
            if places:
                source.places = places
                found.append(source)
    return found


def bring_in(prefix, original, found, avoid, progress):
    """Copies the sources of `original` into its copy `prefix` and lets the copy's packages come from there; returns {"src/<n>": origin}."""
    site = interpreter.site_packages(prefix)
    origins = {}
    gone = set()
    changed = set()
    for number, source in enumerate(found):
        below = "src/%d" % number
        target = os.path.join(prefix, below)
        for name, path in sorted(source.places.items()):
            progress("copying the source tree %s" % path)
            _copy(path, os.path.join(target, *name.split(".")) if name else target, avoid)
        origins[below] = sorted(set(source.places.values()))
        _replace_line(site, source, os.path.relpath(target, site))
        changed.add(source.pth)
        if source.finder:
            gone.add(source.finder)
    for finder in gone:
        os.unlink(os.path.join(site, finder))
    for path in _direct_urls(site, origins) | _inward(site, prefix, original):
        changed.add(path)
    for egg_link in [name for name in os.listdir(site) if name.endswith(".egg-link")] if found else []:
        os.unlink(os.path.join(site, egg_link))
        gone.add(egg_link)
    record.refresh(site, changed, gone)
    return origins


def search_paths(prefix):
    """Folders that packages of a copy come from: site-packages, then its source trees."""
    site = interpreter.site_packages(prefix)
    found = [site]
    for pth in sorted(name for name in os.listdir(site) if name.endswith(".pth")):
        for line in _lines(os.path.join(site, pth)):
            path = (
                os.path.normpath(os.path.join(site, line))
                if line and not line.startswith(("import ", "import\t", "#"))
                else None
            )
            if path and _below(path, os.path.join(os.path.normpath(prefix), "src")) and path not in found:
                found.append(path)
    return found


def check_size(path, files):
    """Faults when a source tree is too large to be one."""
    if files > MOST_FILES:
        raise Fault(
            "source-too-large",
            "packages of this venv come from %s, which is no source tree" % path,
            where=path,
            found="more than %d files" % MOST_FILES,
            remedy="let the .pth file, or the link, lead to the folder that holds the package, not to one far above it",
        )


def _source(site, pth, index, line):
    if not line or line.startswith("#"):
        return None
    if not line.startswith(("import ", "import\t")):
        return Source(pth, index, {"": os.path.normpath(os.path.join(site, line))})
    match = FINDER.search(line) or REDIRECT.search(line)
    file = match and match.group(1) + ".py"
    if not match or not os.path.isfile(os.path.join(site, file)):
        return None
    with open(os.path.join(site, file), encoding="utf-8", errors="surrogateescape") as text:
        places = _mapped(text.read())
    return Source(pth, index, places, file) if places else None


def _mapped(text):
    """{dotted name: existing file or folder} of a finder's MAPPING and NAMESPACES, or of its map_module calls."""
    places = {match.group("name"): ast.literal_eval(match.group("path")) for match in MAP_MODULE.finditer(text)}
    values = {}
    try:
        for node in ast.parse(text).body:
            targets = (
                [node.target]
                if isinstance(node, ast.AnnAssign)
                else node.targets
                if isinstance(node, ast.Assign)
                else []
            )
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            if names and names[0] in ("MAPPING", "NAMESPACES") and node.value is not None:
                values[names[0]] = ast.literal_eval(node.value)
    except (SyntaxError, ValueError):
        return {}
    for name, paths in values.get("NAMESPACES", {}).items():
        if paths:
            places[name] = paths[0]
    places.update(values.get("MAPPING", {}))
    return {name: found for name, found in ((name, _place(path)) for name, path in places.items()) if found}


def _place(path):
    """A package's folder or a module's file, as finders name them: with `/__init__.py`, with `.py` or without."""
    if os.path.basename(path) == "__init__.py":
        return os.path.dirname(path)
    return path if os.path.exists(path) else path + ".py" if os.path.isfile(path + ".py") else None


def _copy(path, target, avoid):
    if os.path.isfile(path):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        copy_tree(os.path.dirname(path), os.path.dirname(target), only={os.path.basename(path)})
    else:
        copy_tree(path, target, avoid=avoid, inward=True)


def _replace_line(site, source, line):
    path = os.path.join(site, source.pth)
    with open(path, "rb") as file:
        found = file.read().splitlines(True)
    # A checkout may hold other modules' folders beside the package: it stays where it stood in the order of search.
    found[source.index] = line.encode() + b"\n"
    rewrite(path, b"".join(found))


def _direct_urls(site, origins):
    """Says in the metadata that the copied trees are no longer editable; returns the changed files."""
    changed = set()
    for dist in dists.installed(site) if origins else []:
        path = os.path.join(site, dist.info, "direct_url.json")
        if not dist.info.endswith(".dist-info") or not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
        if value.get("dir_info", {}).pop("editable", None):
            rewrite(path, json.dumps(value).encode())
            changed.add(dist.info + "/direct_url.json")
    return changed


def _inward(site, prefix, original):
    """Makes path lines that name the original venv itself relative, so that they lead into the copy; returns the changed files."""
    changed = set()
    spellings = {os.path.normpath(original), os.path.realpath(original)}
    for pth in [name for name in os.listdir(site) if name.endswith(".pth")]:
        path = os.path.join(site, pth)
        found = _lines(path)
        fixed = [
            os.path.relpath(os.path.join(prefix, os.path.relpath(line, start)), site) if start else line
            for line, start in ((line, next((one for one in spellings if _below(line, one)), None)) for line in found)
        ]
        if fixed != found:
            rewrite(path, ("\n".join(fixed) + "\n").encode("utf-8", "surrogateescape"))
            changed.add(pth)
    return changed


def system_places(prefix):
    """Where the base interpreter keeps its own libraries: a path line into them is no source tree."""
    home = (interpreter.config(prefix) or {}).get("home", "")
    base = os.path.dirname(os.path.realpath(home)) if home else "/usr"
    return [os.path.join(base, "lib"), "/usr/lib", "/usr/local/lib"]


def _below(path, top):
    return (os.path.isabs(path) and (os.path.normpath(path) + os.sep).startswith(top + os.sep)) or (
        os.path.isabs(path) and (os.path.realpath(path) + os.sep).startswith(os.path.realpath(top) + os.sep)
    )


def _lines(path):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return [line.rstrip() for line in file.read().split("\n")]
    except OSError:
        return []
