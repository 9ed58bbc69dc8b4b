"""A tree of ours again, by hard links: folders are new, files are shared. Who changes a file in one makes it a new one first."""

import os
import shutil
import stat

from agent.venv.copying import copy_file, link_or_none


def link_tree(source, target, check=lambda: None):
    """Makes `target` with all that is in `source`; returns how many files it has."""
    count = 0
    pending = [("", stat.S_IMODE(os.stat(source).st_mode))]
    while pending:
        below, mode = pending.pop()
        check()
        folder = os.path.join(target, below) if below else target
        os.mkdir(folder)
        os.chmod(folder, mode | stat.S_IRWXU)
        prefix = folder + os.sep
        with os.scandir(os.path.join(source, below) if below else source) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    mode = stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode)
                    pending.append((os.path.join(below, entry.name), mode))
                    continue
                link(entry.path, prefix + entry.name)
                count += 1
    return count


def link(source, target):
    """One file of ours at a second place: linked, else (no more links, another file system) copied."""
    if link_or_none(source, target):
        return
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
    else:
        copy_file(source, target)


def put(source, target):
    """Links `source` to `target`, in place of whatever is there."""
    if os.path.isdir(target) and not os.path.islink(target):
        shutil.rmtree(target)
    elif os.path.lexists(target):
        os.unlink(target)
    _folders(os.path.dirname(target))
    link(source, target)


def rewrite(path, data):
    """Gives a file of a tree that is being made other bytes, as a new inode with the same mode and owner.

    Not synced: what a power cut takes away shows in the size that the manifest has, and is made again.
    """
    facts = os.stat(path)
    temporary = path + ".new"
    with open(temporary, "wb") as file:
        file.write(data)
        if os.geteuid() == 0:
            os.fchown(file.fileno(), facts.st_uid, facts.st_gid)
        os.fchmod(file.fileno(), stat.S_IMODE(facts.st_mode))
    os.replace(temporary, path)


def _folders(path):
    if os.path.isdir(path):
        return
    # What is a file here was a module where the new tree has a package.
    if os.path.lexists(path):
        os.unlink(path)
    else:
        _folders(os.path.dirname(path))
    os.mkdir(path)
