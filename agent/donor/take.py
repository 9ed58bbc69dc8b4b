"""`donor.take`: files of a venv on this same host, copied into our store. The donor is only read, and shares no inode with us."""

import os

from agent import store
from agent.counted import counted
from agent.donor.belongings import Donor
from agent.fault import Fault
from agent.files import sha256_file
from agent.root import prepare_root
from agent.tidy import remove_tree
from agent.venv import interpreter, space
from agent.venv.copying import Meter, copy_file


def take(request):
    """Copies those of `args["files"]` ([{place, sha256, size}]) of the venv `args["venv"]` that the store lacks; {taken, bytes}. Fault `donor-changed`."""
    interpreter.require_venv(request.args["venv"])
    donor, layout = Donor(request.args["venv"]), request.layout
    lacking = {one["sha256"]: one for one in request.args["files"] if not store.has(layout, one["sha256"])}
    size = sum(one["size"] for one in lacking.values())
    space.require(layout.root, size, len(lacking), "%s of %s" % (counted(len(lacking), "file"), donor.prefix))
    meter = Meter("copying from %s" % donor.prefix, size, request.progress, request.check)
    prepare_root(layout)
    with store.incoming(layout.at("store")) as folder:
        for sha256, one in lacking.items():
            request.check()
            _copy(
                layout, donor.path(one["place"]), sha256, os.path.join(folder, "%s.%d" % (sha256, os.getpid())), meter
            )
    return {"taken": len(lacking), "bytes": size}


def _copy(layout, path, sha256, temporary, meter):
    remove_tree(temporary)
    found = "nothing"
    if os.path.isfile(path):
        # Blocks are shared where the file system can; the hash is of what we then have.
        copy_file(path, temporary, meter)
        os.chmod(temporary, 0o444)
        os.utime(temporary)
        found = sha256_file(temporary)
    if found != sha256:
        remove_tree(temporary)
        raise Fault(
            "donor-changed",
            "the donor was changed since it was looked at",
            where=path,
            found=found,
            expected=sha256,
            remedy="run the command again: it looks at the donor anew",
        )
    store.keep(layout, temporary, sha256)
