"""What a folder of ours held when it was complete, one line a file, and what is no longer so."""

import os
import stat

from agent.files import atomic_write
from agent.rows import rows
from agent.venv import tree

FIRST = "sglang manifest 1"
REMEDY = "use the version that wrote it, or remove the file: the folder beside it is then made again"


def write(path, lines):
    """Writes the lines of `tree.lines` as a manifest."""
    text = "\n".join([FIRST] + [lines[name] for name in sorted(lines)]) + "\n"
    atomic_write(path, text.encode("utf-8", "surrogateescape"))


def read(path):
    """`path -> line` of a manifest; None when there is none."""
    try:
        return {tree.unescape(line.split("\t", 4)[3]): line for line in rows(path, FIRST, REMEDY)}
    except (FileNotFoundError, NotADirectoryError):
        return None


def drift(path, top):
    """Differences of the folder `top` from its manifest, as [{path, kind}]; None when there is no manifest."""
    wanted = read(path)
    return None if wanted is None else compare(wanted, tree.lines(top))


def compare(wanted, live):
    """[{path, kind: edited|missing|extra, mode?}] by path; mode: `644 → 600` when nothing else differs."""
    # Most often all is the same, and one comparison in C says so.
    if wanted == live:
        return []
    found = []
    for path, line in wanted.items():
        other = live.get(path)
        if other is None:
            found.append({"path": path, "kind": "missing"})
        elif other != line:
            found.append(dict({"path": path, "kind": "edited"}, **_mode(line, other)))
    found.extend({"path": path, "kind": "extra"} for path in live if path not in wanted)
    return sorted(found, key=lambda one: one["path"])


def _mode(line, other):
    (old, *rest), (new, *others) = line.split("\t"), other.split("\t")
    kinds = [stat.S_IFMT(int(mode, 8)) for mode in (old, new)]
    if rest != others or kinds[0] != kinds[1]:
        return {}
    return {"mode": "%o → %o" % (stat.S_IMODE(int(old, 8)), stat.S_IMODE(int(new, 8)))}


def describe(found, most=5):
    """A drift in one line for people."""
    shown = ", ".join("%s (%s)" % (one["path"], one["kind"]) for one in found[:most])
    return shown + (" and %d more" % (len(found) - most) if len(found) > most else "")


def beside(top):
    """Path of the manifest of a folder of ours."""
    return os.path.normpath(top) + ".manifest"
