"""Unpacks a wheel into a tree, after each of its bytes was compared with its RECORD."""

import base64
import configparser
import csv
import errno
import hashlib
import io
import lzma
import os
import zipfile
import zlib

from agent.fault import Fault
from agent.overlay import scripts, tags
from agent.venv import record

PART = 1 << 20
# What reading a damaged archive raises, as it comes; all of it means the same for a person.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    LookupError,
    csv.Error,
    configparser.Error,
)
# A path of the archive that no file system takes, a seek to nowhere, a broken bzip2 stream (which has no number).
ODD_PATHS = (errno.EINVAL, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, None)
# Signatures of RECORD cannot be in RECORD.
NOT_RECORDED = ("/RECORD", "/RECORD.jws", "/RECORD.p7s")
SCHEMES = {"purelib": "site", "platlib": "site", "data": "data", "scripts": "bin", "headers": "headers"}


def unpack(archive, filename, target, meter):
    """Unpacks `archive` (the wheel's file) below `target`; returns its tags. Fault `bad-wheel` says all that is wrong with it."""
    try:
        with zipfile.ZipFile(archive) as wheel:
            return _unpack(wheel, filename, target, meter)
    except DAMAGE as error:
        what = "no zip archive" if isinstance(error, zipfile.BadZipFile) else "damaged, or made in an odd way"
        raise _bad(filename, archive, "it is %s: %s" % (what, error or type(error).__name__))
    except OSError as error:
        if error.errno not in ODD_PATHS:
            raise
        raise _bad(filename, archive, "it holds a path that cannot be made: %s" % error)


def _unpack(wheel, filename, target, meter):
    names = [name for name in wheel.namelist() if not name.endswith("/")]
    info = _info(names, filename, wheel)
    data = info[: -len(".dist-info")] + ".data/"
    listed = {row[0]: row[1] for row in csv.reader(io.StringIO(wheel.read(info + "/RECORD").decode("utf-8"))) if row}
    wrong, rows = [], []
    for name in names:
        if name.startswith("/") or ".." in name.split("/"):
            raise _bad(filename, wheel.filename, "it holds the path %s, which leads out of it" % name)
        if name == info + "/RECORD":
            continue
        place = _place(name, data)
        path = os.path.join(target, place)
        digest = _extract(wheel, name, path, meter)
        if not name.startswith(info) or not name.endswith(NOT_RECORDED):
            _check(name, listed, path, digest, wrong)
        if place.startswith("bin/"):
            _relocate(path)
        if place.startswith("site/"):
            rows.append(record.row(os.path.join(target, "site"), place[5:]))
        else:
            rows.append(_row(target, place))
    wrong.extend("%s: in its RECORD, not in the wheel" % name for name in listed if name not in names)
    if wrong:
        raise _bad(filename, wheel.filename, "its files are not what its RECORD says", "\n".join(wrong[:50]))
    rows.extend(_entry_scripts(target, info))
    finish(target, info, rows)
    return tags.read(wheel.read(info + "/WHEEL").decode("utf-8"))


def finish(target, info, rows):
    """Writes INSTALLER and RECORD of one distribution in a tree. A row's path is below site-packages, as `record.row` gives it."""
    site = os.path.join(target, "site")
    with open(os.path.join(site, info, "INSTALLER"), "w") as file:
        file.write("pulumi-sglang\n")
    own = info + "/INSTALLER"
    rows = [row for row in rows if row[0] not in (own, info + "/RECORD")] + [
        record.row(site, own),
        (info + "/RECORD", "", ""),
    ]
    record.write(site, info, rows)


def _info(names, filename, wheel):
    found = sorted({name.split("/")[0] for name in names if name.split("/")[0].endswith(".dist-info")})
    if len(found) != 1:
        raise _bad(filename, wheel.filename, "it has %d .dist-info folders" % len(found))
    for needed in ("RECORD", "METADATA", "WHEEL"):
        if found[0] + "/" + needed not in names:
            raise _bad(filename, wheel.filename, "it has no %s/%s" % (found[0], needed))
    return found[0]


def _place(name, data):
    """Where a file of the wheel lies in the tree."""
    if not name.startswith(data):
        return "site/" + name
    scheme, _, rest = name[len(data) :].partition("/")
    return "%s/%s" % (SCHEMES.get(scheme, "data"), rest)


def _extract(wheel, name, path, meter):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    digest = hashlib.sha256()
    with wheel.open(name) as reader, open(path, "wb") as writer:
        for part in iter(lambda: reader.read(PART), b""):
            digest.update(part)
            writer.write(part)
            meter.add(len(part))
    executable = (wheel.getinfo(name).external_attr >> 16) & 0o111
    os.chmod(path, 0o755 if executable else 0o644)
    return digest.digest()


def _check(name, listed, path, digest, wrong):
    if name not in listed:
        wrong.append("%s: in the wheel, not in its RECORD" % name)
        return
    kind, _, value = listed[name].partition("=")
    if kind != "sha256":
        digest = _digest(kind, path)
    if digest is None or base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != value:
        wrong.append("%s: its bytes have another %s" % (name, kind or "hash"))


def _digest(kind, path):
    # RECORD may name any stronger hash; the two weak ones prove nothing.
    if kind not in ("sha384", "sha512"):
        return None
    with open(path, "rb") as file:
        return hashlib.new(kind, file.read()).digest()


def _relocate(path):
    with open(path, "rb") as file:
        text = file.read()
    fixed = scripts.relocated(text)
    if fixed != text:
        with open(path, "wb") as file:
            file.write(fixed)
    os.chmod(path, 0o755)


def _entry_scripts(target, info):
    path = os.path.join(target, "site", info, "entry_points.txt")
    if not os.path.isfile(path):
        return []
    with open(path, encoding="utf-8") as file:
        found = scripts.entry_points(file.read())
    os.makedirs(os.path.join(target, "bin"), exist_ok=True)
    rows = []
    for name, entry in sorted(found.items()):
        scripts.require_sound(name, entry)
        place = os.path.join(target, "bin", name)
        with open(place, "wb") as file:
            file.write(scripts.script(entry))
        os.chmod(place, 0o755)
        rows.append(_row(target, "bin/" + name))
    return rows


def _row(target, place):
    """The RECORD row of a file outside of site-packages, as seen from there: `../../../bin/x`."""
    scheme, _, rest = place.partition("/")
    _path, digest, size = record.row(target, place)
    return (
        "../../../" + ("bin/" + rest if scheme == "bin" else rest if scheme == "data" else "include/" + rest),
        digest,
        size,
    )


def _bad(filename, where, what, detail=None):
    return Fault(
        "bad-wheel",
        "the wheel %s is not usable: %s" % (filename, what),
        where=where,
        detail=detail,
        remedy="get the wheel again",
    )
