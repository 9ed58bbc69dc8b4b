"""All files below a folder, each as one line of text: two trees are the same when their lines are."""

import os
import stat

# In a source tree of somebody: what Python never imports from, and what can be larger than all the rest.
NOT_SOURCE = frozenset(["node_modules"])
DOTTED_LIBRARIES = frozenset([".libs", ".dylibs"])


def lines(top, skip=None, most=None):
    """`path -> line` of each file and link below `top`; bytecode is not counted, for running Python writes it.

    Line: `mode<TAB>size<TAB>mtime in ns<TAB>path<TAB>link target`; folders count by what is in them. `skip(path, entry)` says
    which folders are left out. `most`: as soon as there are more files than that, no more are looked for.
    """
    found = {}
    pending = [""]
    while pending and (most is None or len(found) <= most):
        below = pending.pop()
        try:
            entries = os.scandir(os.path.join(top, below) if below else top)
        except (FileNotFoundError, NotADirectoryError):
            continue
        with entries:
            for entry in entries:
                name = entry.name
                path = below + "/" + name if below else name
                if entry.is_dir(follow_symlinks=False):
                    if name != "__pycache__" and not (skip and skip(path, entry)):
                        pending.append(path)
                    continue
                if name.endswith(".pyc"):
                    continue
                line = _line(path, entry)
                if line:
                    found[path] = line
    return found


def source_skip(avoid=()):
    """A `skip` for trees of sources: no version control, no venv inside, none of the paths `avoid`."""
    avoid = {os.path.realpath(path) for path in avoid}

    def skip(_path, entry):
        name = entry.name
        if name in NOT_SOURCE or (name.startswith(".") and name not in DOTTED_LIBRARIES):
            return True
        return os.path.realpath(entry.path) in avoid or os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))

    return skip


def parse(line):
    """(mode, size, mtime in ns, path, link target or "") of a line."""
    mode, size, mtime, path, target = line.split("\t")
    return int(mode, 8), int(size), int(mtime), unescape(path), unescape(target)


def escape(text):
    """A path in one line: backslash, tab and line ends are escaped."""
    if "\\" in text or "\t" in text or "\n" in text or "\r" in text:
        return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return text


def unescape(text):
    """The inverse of `escape`."""
    if "\\" not in text:
        return text
    return text.replace("\\\\", "\0").replace("\\t", "\t").replace("\\n", "\n").replace("\\r", "\r").replace("\0", "\\")


def _line(path, entry):
    try:
        facts = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(facts.st_mode):
            # A link's own mode and times say nothing.
            return "120000\t0\t0\t%s\t%s" % (escape(path), escape(os.readlink(entry.path)))
    except FileNotFoundError:
        return None
    return "%o\t%d\t%d\t%s\t" % (facts.st_mode, facts.st_size, facts.st_mtime_ns, escape(path))
