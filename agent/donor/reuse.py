"""`donor.reuse`: of what is to come from a donor, what the venv that it is laid over has already. That venv is only read, and shares no inode with us."""

import os
import stat

from agent import store
from agent.donor.belongings import Donor
from agent.fault import Fault
from agent.files import names_in, sha256_file
from agent.root import prepare_root
from agent.tidy import remove_tree
from agent.venv import interpreter, space
from agent.venv.copying import Meter, copy_file


def reuse(request):
    """Copies into the store those of `args["files"]` ([{place, sha256, size}]) that have the same bytes at the same place of the base; {reused: [sha256], bytes}.

    The base is `args["base"]["adopt"]`, or what was made before for the venv `args["venv"]`.
    """
    bases, files = [Donor(prefix) for prefix in _prefixes(request)], request.args["files"]
    alike = [(path, one) for one in files for path in _of_that_size(bases, one)]
    size = sum(one["size"] for _path, one in alike)
    meter = Meter("comparing with what is here", size, request.progress, request.check)
    same = {}
    for path, one in alike:
        request.check()
        if one["sha256"] not in same and _hash(path) == one["sha256"]:
            same[one["sha256"]] = (path, one["size"])
        meter.add(one["size"])
    if not same:
        return {"reused": [], "bytes": 0}
    size = sum(size for _path, size in same.values())
    space.require(request.layout.root, size, len(same), "what the base has of an overlay")
    prepare_root(request.layout)
    with store.incoming(request.layout.at("store")) as folder:
        reused = [sha256 for sha256, (path, _size) in same.items() if _copied(request.layout, folder, path, sha256)]
    return {"reused": reused, "bytes": sum(same[sha256][1] for sha256 in reused)}


def _prefixes(request):
    adopted = (request.args.get("base") or {}).get("adopt")
    venv = request.layout.venv(request.args["venv"])
    made = [os.path.join(venv, name) for name in names_in(venv) if name.startswith("base-")]
    return [path for path in ([adopted] if adopted else []) + made if interpreter.is_venv(path)]


def _of_that_size(bases, one):
    """What lies at the place of a file, where it has that file's size: only that is worth hashing."""
    for base in bases:
        path = base.path(one["place"])
        try:
            facts = os.stat(path)
        except OSError:
            continue
        if stat.S_ISREG(facts.st_mode) and facts.st_size == one["size"]:
            yield path


def _hash(path):
    """None of what cannot be read: then it is sent."""
    try:
        return sha256_file(path)
    except (OSError, Fault):
        return None


def _copied(layout, folder, path, sha256):
    """Whether the store has it now: what is changed while it is copied is sent as well."""
    temporary = os.path.join(folder, "%s.%d" % (sha256, os.getpid()))
    remove_tree(temporary)
    copy_file(path, temporary)
    os.chmod(temporary, 0o444)
    os.utime(temporary)
    if sha256_file(temporary) != sha256:
        remove_tree(temporary)
        return False
    store.keep(layout, temporary, sha256)
    return True
