"""Gives a release back the files that somebody changed in it, one by one, from a candidate that was composed aside.

Each file is replaced by a rename, so a server that runs from the release keeps what it has open and mapped, and finds the declared
bytes when it imports more. Its path stays, so nothing has to be switched. A mended file is a new one with the time of now: the
service's own row sees that its process is older, and restarts it.
"""

import os
import shutil

from agent.files import remove_file
from agent.tidy import remove_empty, remove_tree
from agent.venv import bytecode, tree
from agent.venv.patch import newer


def mend(prefix, candidate, drift):
    """Makes the files in `drift` (`manifest.compare`) at `prefix` as they are in `candidate`; those that are extra go."""
    for one in drift:
        path, source = os.path.join(prefix, one["path"]), os.path.join(candidate, one["path"])
        if one["kind"] == "extra" and not os.path.lexists(source):
            remove_file(path)
            bytecode.drop(path)
            _prune(prefix, os.path.dirname(path))
        elif os.path.lexists(source):
            _replace(path, source)


def differences(prefix, candidate):
    """How a release differs from its candidate in what counts: paths, sizes, modes, link targets; times are those of making."""
    live, wanted = _shape(tree.lines(prefix)), _shape(tree.lines(candidate))
    return sorted(path for path in set(live) | set(wanted) if live.get(path) != wanted.get(path))


def _replace(path, source):
    # A folder that stands where a file belongs, or the reverse, is as foreign as an edit.
    if os.path.isdir(path) and not os.path.islink(path):
        remove_tree(path)
    _folder(os.path.dirname(path))
    temporary = path + ".mended"
    remove_file(temporary)
    shutil.copy2(source, temporary, follow_symlinks=False)
    if not os.path.islink(temporary):
        facts = os.stat(source)
        if os.geteuid() == 0:
            os.chown(temporary, facts.st_uid, facts.st_gid)
        newer(temporary, path)
    os.replace(temporary, path)
    bytecode.drop(path)


def _folder(path):
    if os.path.isdir(path):
        return
    if os.path.lexists(path):
        os.unlink(path)
    _folder(os.path.dirname(path))
    if not os.path.isdir(path):
        os.mkdir(path)


def _prune(prefix, folder):
    while folder != prefix and folder.startswith(prefix):
        remove_empty(os.path.join(folder, "__pycache__"))
        if not remove_empty(folder):
            return
        folder = os.path.dirname(folder)


def _shape(lines):
    parsed = [tree.parse(line) for line in lines.values()]
    return {path: (mode, size, target) for mode, size, _time, path, target in parsed}
