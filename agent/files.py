"""Files of ours: written beside their place and renamed into it, so that a reader sees the old bytes or the new ones."""

import errno
import hashlib
import json
import os
import threading

from agent.fault import Fault
from agent.layout import FORMAT
from agent.shape import misshapen, shape_of


def atomic_write(path, data, mode=None, uid=None, gid=None):
    """Replaces `path` by `data` (bytes). Mode and owner stay those of the file that was there, unless given; a new file gets 0644."""
    folder, name = os.path.split(path)
    before = _stat(path)
    if mode is None:
        mode = before.st_mode & 0o7777 if before else 0o644
    if before:
        uid = before.st_uid if uid is None else uid
        gid = before.st_gid if gid is None else gid
    try:
        os.makedirs(folder, exist_ok=True)
        drop_leftovers(folder, name)
        temporary = os.path.join(folder, ".%s.%d.%x.tmp" % (name, os.getpid(), threading.get_ident()))
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise explained(error, path) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            _own(handle, uid, gid)
            os.fchmod(handle, mode)
            os.fsync(handle)
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            raise explained(error, path, len(data)) from error
        raise
    sync_folder(folder)


def sync_folder(folder):
    """Makes a rename in `folder` outlive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256_file(path):
    """The sha256 of a file's bytes, hex; None when there is no such file."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as stream:
            for part in iter(lambda: stream.read(1 << 20), b""):
                digest.update(part)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        # An error of reading, unlike one of opening, does not say of which file.
        raise explained(error, path) from error
    return digest.hexdigest()


def content(path):
    """Bytes of a file; None when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def read_json(path):
    """A JSON file of ours as a dict, without `format`; None when there is no such file. Fault `newer-format` or `corrupt`."""
    try:
        with open(path, encoding="utf-8") as stream:
            value = json.load(stream)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise explained(error, path) from error
    except ValueError as error:
        raise _corrupt(path, "is not valid JSON: %s" % error)
    found = value.pop("format", None) if isinstance(value, dict) else None
    if isinstance(found, int) and found > FORMAT:
        raise Fault(
            "newer-format",
            "%s was written by a newer version of this tool" % path,
            where=path,
            found="format %d" % found,
            expected="format %d or older" % FORMAT,
            remedy="use that version, or a later one",
        )
    wrong = misshapen(value, shape_of(path) or {})
    if wrong:
        at, is_there, expected = wrong
        place = "`%s` in it" % at if at else "what it holds"
        raise _corrupt(path, "is not as it was written: %s is %s" % (place, is_there), is_there, expected)
    if not isinstance(found, int):
        raise _corrupt(path, "carries no format number", "nothing", '"format": %d' % FORMAT)
    return value


def _corrupt(path, why, found=None, expected=None):
    return Fault(
        "corrupt",
        "%s %s" % (path, why),
        where=path,
        found=found,
        expected=expected,
        remedy="restore this file; or remove it, and `up` makes anew what it was for",
    )


def write_json(path, value, mode=None):
    """Writes a dict as a JSON file of ours; `mode` as for `atomic_write`."""
    atomic_write(path, json_bytes(value), mode)


def json_bytes(value):
    """A dict as the bytes of a JSON file of ours."""
    text = json.dumps(dict(value, format=FORMAT), indent=1, sort_keys=True, ensure_ascii=False)
    return (text + "\n").encode("utf-8", "surrogateescape")


def names_in(folder):
    """Names of what lies in a folder, sorted; [] when it is not there."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def remove_file(path):
    """Removes a file; True when there was one."""
    try:
        os.unlink(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


_DISK = "the disk or the file system fails: see dmesg on the host, and mend that first"
_OTHER_KIND = "something else lies there than this tool puts there: look at it, and move it away"
_REMEDIES = {
    errno.EIO: _DISK,
    errno.ESTALE: _DISK,
    errno.EUCLEAN: _DISK,
    errno.ENOTDIR: _OTHER_KIND,
    errno.EISDIR: _OTHER_KIND,
    errno.ELOOP: _OTHER_KIND,
}


def explained(error, path, needed=None):
    """The Fault that says what an OSError at `path` means for a person; `needed` = bytes that were to be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        place = existing(path)
        return Fault(
            "no-space",
            "no space left for %s" % path,
            where=place,
            found="%d bytes free" % free_bytes(place),
            expected=None if needed is None else "%d bytes" % needed,
            remedy="free space there, or choose another root",
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        unreadable = os.path.lexists(path) and not os.access(path, os.R_OK)
        return Fault(
            "permission",
            "%s: %s" % (path, os.strerror(error.errno)),
            where=path,
            found="user id %d" % os.geteuid(),
            remedy="log in as a user who may read it, set `become: sudo`, or make it readable there"
            if unreadable
            else "log in as a user who may write there, set `become: sudo`, or choose another root",
        )
    remedy = _REMEDIES.get(error.errno)
    return Fault("os-error", "%s: %s" % (path, error.strerror or error), where=path, remedy=remedy)


def existing(path):
    """`path`, or the nearest folder above it that is there."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return path


def free_bytes(path):
    """Bytes that the agent's user may still write on the file system that `path` lies (or will lie) on."""
    facts = os.statvfs(existing(path))
    return facts.f_frsize * (facts.f_bfree if os.geteuid() == 0 else facts.f_bavail)


def _stat(path):
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _own(handle, uid, gid):
    """Gives the file its owner; for a user who is not root only its own ids can be kept, and nothing else is meant."""
    if uid is None and gid is None:
        return
    made = os.fstat(handle)
    if uid in (None, made.st_uid) and gid in (None, made.st_gid):
        return
    os.fchown(handle, -1 if uid is None else uid, -1 if gid is None else gid)


def drop_leftovers(folder, name=None):
    """Removes what writers left who were killed between the first byte and the rename; `name`: of this one file only."""
    for entry in os.listdir(folder):
        parts = entry[1:-4].rsplit(".", 2) if entry.startswith(".") and entry.endswith(".tmp") else []
        if (
            len(parts) == 3
            and name in (None, parts[0])
            and parts[1].isdigit()
            and not os.path.exists("/proc/" + parts[1])
        ):
            remove_file(os.path.join(folder, entry))
