"""`current.json`: the wish that was last committed, and how what was written for it stands now."""

import hashlib
import time

from agent.files import read_json, sha256_file

#: What the launcher runs.
SPEC = "spec.json"

#: What stays beside a service to start it. `keeper.py` is not there where systemd keeps it.
RESIDENT = ("launcher.py", "keeper.py", SPEC)


def committed(place, job, proof):
    """`current.json`: the wish without its secrets, what the gates passed, and what the next activation needs to come back to it."""
    wish = job["wish"]
    return {
        "owner": job["owner"],
        "venv": wish["venv"],
        "release": wish["release"],
        "env": wish["env"],
        "spec": wish["spec"],
        "ready": job["ready"],
        "patched": job["patched"],
        "proven": proof["files"],
        "passed": passed(wish),
        "written": {name: sha256_file(place.at(name)) for name in RESIDENT},
        "launched": launched(read_json(place.spec)),
        "activated": time.time(),
    }


def launched(spec):
    """What tells a process that was started by this spec, should that be edited; of the values of variables only hashes."""
    return {"argv": spec["argv"], "environ": {name: digest(value) for name, value in spec["environ"].items()}}


def digest(value):
    """Hash of a variable's value, which is text with surrogates."""
    return hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()


def passed(wish):
    """What the gates were asked, but for what follows from the release; how long they may take is no part of it."""
    return {name: value for name, value in (wish["gates"] or {}).items() if name not in ("patched", "timeout")}


def altered(place, current):
    """What is not as it was written of the files that start the server, each as a sentence; nothing of what an older version wrote."""
    found = []
    for name, sha256 in sorted((current.get("written") or {}).items()):
        now = sha256_file(place.at(name))
        if now != sha256:
            found.append("%s %s" % (name, "missing" if now is None else "edited on the host"))
    return found


def spec_edited(place, current):
    """Whether what the launcher would run is no longer what it ran: then it says nothing of the process."""
    written = (current.get("written") or {}).get(SPEC)
    return written is not None and sha256_file(place.at(SPEC)) != written
