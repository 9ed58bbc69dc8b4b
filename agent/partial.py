"""What has arrived of a large content when the rest does not come: it stays below `store/incoming`, and the next sender goes on from there."""

import fcntl
import hashlib
import os
import time

#: Bytes from which on it is worth keeping; the same as `RESUMED` of provider/host/resumed.ts.
LEAST = 4 << 20
#: Seconds after which nobody is expected to go on.
STALE = 24 * 3600
_SUFFIX = ".part"


def path_of(folder, sha256):
    """Where what there is of a content lies."""
    return os.path.join(folder, sha256 + _SUFFIX)


def is_fresh(path):
    """Whether a file of `incoming` is the beginning of a content that somebody may go on with."""
    try:
        return path.endswith(_SUFFIX) and os.stat(path).st_mtime > time.time() - STALE
    except OSError:
        return False


def is_over(path, place):
    """Whether the store at `place` got the whole of it another way meanwhile: from who could not go on, as a cut writer still held it."""
    sha256 = os.path.basename(path)[: -len(_SUFFIX)]
    return path.endswith(_SUFFIX) and os.path.exists(os.path.join(place, sha256[:2], sha256))


def is_worth(path):
    """Whether what a cut writer leaves at this path is worth to go on with."""
    return path.endswith(_SUFFIX) and os.path.isfile(path) and os.path.getsize(path) >= LEAST


def begun(folder, sha256):
    """How many bytes there are of a content that nobody is writing just now; 0 of one that has not begun."""
    try:
        with open(path_of(folder, sha256), "rb") as stream:
            return os.fstat(stream.fileno()).st_size if _locked(stream) else 0
    except OSError:
        return 0


def open_part(folder, sha256, start):
    """(stream, digest) to go on with a content at byte `start`; None when another one is writing it, or less of it is there."""
    path = path_of(folder, sha256)
    if os.path.exists(path):
        # One that was cut just before it got its place has the mode of those that are whole.
        os.chmod(path, 0o600)
    return _from(open(path, "a+b", opener=private), start)


def private(path, flags):
    """An opener of `open`: what is not complete is its owner's to read."""
    return os.open(path, flags, 0o600)


def _from(stream, start):
    if not _locked(stream) or os.fstat(stream.fileno()).st_size < start:
        stream.close()
        return None
    stream.truncate(start)
    stream.seek(0)
    digest = hashlib.sha256()
    for part in iter(lambda: stream.read(1 << 20), b""):
        digest.update(part)
    return stream, digest


def _locked(stream):
    """Whether nobody else writes it; it is ours until the stream is closed."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Between opening and locking another one may have completed it: what we hold is then a content of the store.
        return os.path.samestat(os.stat(stream.name), os.fstat(stream.fileno()))
    except OSError:
        return False
