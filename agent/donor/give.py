"""`donor.get`: the bytes of many files of a donor, one after the other. Reads only."""

import errno
import os
import stat

from agent.donor.belongings import Donor
from agent.fault import Fault
from agent.frames import CHUNK
from agent.venv import interpreter


def get(request):
    """The files `args["files"]` ([{place, size, from?}]) of the venv `args["venv"]`, before the result {sent}. Fault `donor-changed` when one has another size.

    from: the byte from which on it is wanted.
    """
    interpreter.require_venv(request.args["venv"])
    paths = Donor(request.args["venv"])
    out, sent = _Out(request), 0
    for file in request.args["files"]:
        request.check()
        sent += _give(out, paths.path(file["place"]), file["size"], file.get("from", 0))
    out.end()
    return {"sent": sent}


class _Out:
    """Gathers small files: a frame of its own for each of thousands would cost more than their bytes."""

    def __init__(self, request):
        self._request = request
        self._kept = []
        self._size = 0

    def add(self, data):
        self._kept.append(data)
        self._size += len(data)
        if self._size >= CHUNK:
            self.end()

    def end(self):
        if self._kept:
            self._request.reply(self._kept[0] if len(self._kept) == 1 else b"".join(self._kept))
        self._kept, self._size = [], 0


def _give(out, path, size, start):
    try:
        # Of what is no file any more nobody would ever send a byte.
        with open(path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise _changed(path, "no file", size)
            if facts.st_size != size:
                raise _changed(path, "%d bytes" % facts.st_size, size)
            left = size - file.seek(start)
            while left:
                data = file.read(min(CHUNK, left))
                if not data:
                    raise _changed(path, "%d bytes less" % left, size)
                out.add(data)
                left -= len(data)
    except OSError as error:
        if error.errno in (errno.EISDIR, errno.ENXIO):
            raise _changed(path, "no file", size)
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise _changed(path, "nothing", size)
        raise
    return size - start


def _changed(path, found, size):
    return Fault(
        "donor-changed",
        "the donor was changed while its files were fetched",
        where=path,
        found=found,
        expected="%d bytes" % size,
        remedy="run the command again: it looks at the donor anew",
    )
