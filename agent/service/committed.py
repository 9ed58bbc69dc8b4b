"""`current.json`: the wish that was last committed, and how what was written for it stands now."""

import time

from agent.files import sha256_file

#: Programs of ours that stay beside a service. `keeper.py` is not there where systemd keeps it.
RESIDENT = ("launcher.py", "keeper.py")


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
        "activated": time.time(),
    }


def passed(wish):
    """What the gates were asked, but for what follows from the release; how long they may take is no part of it."""
    return {name: value for name, value in (wish["gates"] or {}).items() if name not in ("patched", "timeout")}


def altered(place, current):
    """What is not as it was written of the programs that start the server, each as a sentence; nothing of what an older version wrote."""
    found = []
    for name, sha256 in sorted((current.get("written") or {}).items()):
        now = sha256_file(place.at(name))
        if now != sha256:
            found.append("%s %s" % (name, "missing" if now is None else "edited on the host"))
    return found
