"""Copies of trees that are not ours: they are only read, and no file of ours shares an inode with theirs."""

import fcntl
import os
import stat
import time

from agent.files import explained
from agent.venv import tree

FICLONE = 0x40049409
PART = 1 << 20
BETWEEN_LINES = 2.0


class Meter:
    """Counts what was copied and says so every two seconds, with the rate. `total` in bytes, 0 = not known."""

    def __init__(self, what, total, progress, check):
        self.what = what
        self.total = total
        self.progress = progress
        self.check = check
        self.done = 0
        self.began = self.told = time.monotonic()

    def add(self, size):
        self.done += size
        now = time.monotonic()
        if now - self.told < BETWEEN_LINES:
            return
        self.told = now
        self.check()
        rate = self.done / (now - self.began)
        of = " of %.1f" % (self.total / 1e9) if self.total else ""
        left = ", %d s left" % ((self.total - self.done) / rate) if self.total and rate else ""
        self.progress("%s: %.1f%s GB, %.0f MB/s%s" % (self.what, self.done / 1e9, of, rate / 1e6, left))


def copy_tree(source, target, avoid=(), inward=False, only=None, reuse=None, meter=None, leads=None):
    """Copies a tree with modes, times, links, hard links inside of it and, for root, owners.

    inward: a tree of sources - links to files outside of it become files, and what no import reads stays behind (`avoid` too).
    only: names at the top to copy, all if None. reuse(path, facts): a file of ours with the same content to link to, or None.
    leads(path): where a link leads if what is there is to be copied in its place, or None.
    """
    skip = tree.source_skip(avoid) if inward else None
    seen = {}
    folders = [("", os.stat(source))]
    os.makedirs(target, exist_ok=True)
    for below, _facts in folders:
        folder = os.path.join(source, below)
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                path = os.path.join(below, entry.name)
                if only is not None and not below and entry.name not in only:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if not (skip and skip(path, entry)):
                        os.makedirs(os.path.join(target, path), exist_ok=True)
                        folders.append((path, entry.stat(follow_symlinks=False)))
                    continue
                real = leads(entry.path) if leads and entry.is_symlink() else None
                if real and os.path.isdir(real):
                    copy_tree(real, os.path.join(target, path), avoid=avoid, inward=True, meter=meter)
                    continue
                if real and os.path.isfile(real):
                    copy_file(real, os.path.join(target, path), meter)
                    continue
                _copy_entry(entry, os.path.join(target, path), path, source if inward else None, seen, reuse, meter)
    # Last, and from below: a folder may be read-only, and each file in it changes its time.
    for below, facts in reversed(folders):
        _finish(os.path.join(target, below), facts)


def copy_file(source, target, meter=None):
    """Copies the bytes, mode, times and, for root, owner of one file to a new file."""
    with open(source, "rb", buffering=0) as reader:
        facts = os.fstat(reader.fileno())
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            if not _reflink(reader.fileno(), handle, facts.st_size):
                for part in iter(lambda: reader.read(PART), b""):
                    _write(handle, part)
                    if meter:
                        meter.add(len(part))
            elif meter:
                meter.add(facts.st_size)
            _own(handle, facts)
            os.fchmod(handle, stat.S_IMODE(facts.st_mode))
            os.utime(handle, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        except OSError as error:
            raise explained(error, target, facts.st_size) from error
        finally:
            os.close(handle)


def can_reflink(source, target):
    """Whether a copy of the file `source` beside `target` would share blocks until one of the two is written."""
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(source, "rb") as reader:
            return _reflink(reader.fileno(), handle, 1)
    finally:
        os.close(handle)
        os.unlink(target)


def _copy_entry(entry, target, path, inside, seen, reuse, meter):
    facts = entry.stat(follow_symlinks=False)
    if stat.S_ISLNK(facts.st_mode):
        if inside and not _leads_inside(entry.path, inside) and os.path.isfile(entry.path):
            copy_file(entry.path, target, meter)
        else:
            os.symlink(os.readlink(entry.path), target)
        return
    if not stat.S_ISREG(facts.st_mode):
        # A socket, pipe or device is something's runtime, not part of a venv.
        return
    key = (facts.st_dev, facts.st_ino)
    known = seen.get(key) if facts.st_nlink > 1 else None
    known = known or (reuse(path, facts) if reuse else None)
    if not (known and link_or_none(known, target)):
        copy_file(entry.path, target, meter)
    if facts.st_nlink > 1:
        seen[key] = target


def link_or_none(source, target):
    """Hard-links; False where the file system has no more links for that file, or none at all."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        return False
    return True


def _reflink(reader, writer, size):
    if not size:
        return True
    try:
        fcntl.ioctl(writer, FICLONE, reader)
    except OSError:
        return False
    return True


def _write(handle, part):
    view = memoryview(part)
    while view:
        view = view[os.write(handle, view) :]


def _leads_inside(path, top):
    return (os.path.realpath(path) + os.sep).startswith(os.path.realpath(top) + os.sep)


def _own(handle, facts):
    if os.geteuid() == 0:
        os.chown(handle, facts.st_uid, facts.st_gid)


def _finish(path, facts):
    _own(path, facts)
    os.chmod(path, stat.S_IMODE(facts.st_mode) | stat.S_IRWXU)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
