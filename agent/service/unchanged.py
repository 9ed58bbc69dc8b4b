"""Whether the declared process runs already: then what is beside it is put right, and nothing is restarted."""

from agent.fault import Fault
from agent.files import read_json, write_json
from agent.service import patched, proof
from agent.service.committed import committed, passed, spec_edited
from agent.service.probe import Probe
from agent.service.spec import api_key, needs_restart
from agent.service.supervisors import supervisor
from agent.service.switch import write_launcher, write_spec


def proven(place, wish, spec):
    """The proof of the process that runs as declared, or None when it must be replaced."""
    current, old = read_json(place.current), read_json(place.spec)
    if current is None or old is None or moved(place, current, old, wish, spec):
        return None
    state = supervisor(place, spec["supervisor"]).state()
    if state.phase != "running" or patched.newer(place, current.get("proven"), state.ticks):
        return None
    try:
        found = proof.prove(place, spec, state, wish.patched)
    except (Fault, OSError):
        return None
    ready = Probe(spec["address"], spec["port"], api_key(spec["config"]), wish.ready.get("path")).ready(5)[0]
    return found if ready else None


def moved(place, current, old, wish, spec):
    """Whether what is wanted is no longer what the process was started by."""
    if spec_edited(place, current):
        return any(current[name] != wish.asked[name] for name in ("venv", "release", "env", "spec"))
    return bool(needs_restart(old, spec))


def has_passed(place, wish):
    """Whether the gates have passed all that they are asked now."""
    return read_json(place.current).get("passed") == passed(wish.asked)


def keep(place, wish, spec, owner, found):
    """Puts right what is beside the process of this proof; the result of an activation that has nothing to restart."""
    if read_json(place.spec) != spec:
        write_spec(place, spec)
    write_launcher(place)
    supervisor(place, spec["supervisor"]).install(spec)
    job = {"owner": owner, "wish": wish.asked, "ready": wish.ready, "patched": wish.patched}
    activated = read_json(place.current)["activated"]
    write_json(place.current, dict(committed(place, job, found), activated=activated), 0o600)
    return {"release": spec["release"], "pid": found["pid"], "readyAfter": 0, "proof": found, "restarted": False}
