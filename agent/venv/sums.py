"""Hashes of the files of a tree, as `sha256sum` writes them: `cd <folder> && sha256sum -c ../<folder>.sums` says the same as a look does."""

import os
import stat

from agent.files import atomic_write
from agent.venv import tree

# Below this, starting threads costs more than they save.
WORTH_THREADS = 64 << 20
MOST_THREADS = 8
PART = 1 << 20


def read(path):
    """`path -> sha256` of a file of sums; None when there is none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            lines = file.read().split("\n")
    except (FileNotFoundError, NotADirectoryError):
        return None
    found = {}
    for line in lines:
        if line:
            escaped = line[0] == "\\"
            sha256, name = line[escaped:].split("  ", 1)
            found[tree.unescape(name) if escaped else name] = sha256
    return found


def write(path, sums):
    """Writes `path -> sha256`, sorted."""
    lines = []
    for name in sorted(sums):
        escaped = tree.escape(name)
        lines.append("%s%s  %s\n" % ("\\" if escaped != name else "", sums[name], escaped))
    atomic_write(path, "".join(lines).encode("utf-8", "surrogateescape"))


def files(lines):
    """The regular files among the lines of a tree: a link is its target, and that stands in its line."""
    return [path for path, line in lines.items() if not line.startswith("120000\t")]


def hashes(top, paths, tell=None, check=lambda: None):
    """`path -> sha256` of files below `top`; None for what is no file. `tell(bytes)` after each, on whichever thread."""
    sizes = {path: _size(os.path.join(top, path)) for path in paths}

    def one(path):
        check()
        sha256 = _hash(os.path.join(top, path)) if sizes[path] is not None else None
        if tell:
            tell(sizes[path] or 0)
        return sha256

    threads = min(MOST_THREADS, len(os.sched_getaffinity(0)))
    if threads > 1 and sum(size or 0 for size in sizes.values()) > WORTH_THREADS:
        from concurrent.futures import ThreadPoolExecutor

        # The largest first, so that none of them is what all wait for at the end.
        ordered = sorted(paths, key=lambda path: -(sizes[path] or 0))
        with ThreadPoolExecutor(threads) as pool:
            return dict(zip(ordered, pool.map(one, ordered)))
    return {path: one(path) for path in paths}


def _size(path):
    try:
        facts = os.lstat(path)
    except OSError:
        return None
    return facts.st_size if stat.S_ISREG(facts.st_mode) else None


def _hash(path):
    import hashlib

    digest = hashlib.sha256()
    try:
        with open(path, "rb", buffering=0) as file:
            for part in iter(lambda: file.read(PART), b""):
                digest.update(part)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    return digest.hexdigest()
