"""Whether the declared process runs already: then what is beside it is put right, and nothing is restarted."""

from agent.fault import Fault
from agent.files import read_json, write_json
from agent.service import proof
from agent.service.outcome import committed
from agent.service.probe import Probe
from agent.service.spec import api_key, needs_restart
from agent.service.supervisors import supervisor
from agent.service.switch import write_spec


def keep(place, wish, spec, owner):
    """The result of an activation that has nothing to restart, or None when the process must be replaced."""
    current, old = read_json(place.current), read_json(place.spec)
    if current is None or old is None or needs_restart(old, spec):
        return None
    keeper = supervisor(place, spec["supervisor"])
    state = keeper.state()
    if state.phase != "running" or proof.changed_files(place, current.get("proven"), state.ticks):
        return None
    try:
        proven = proof.prove(place, spec, state, wish.patched)
    except (Fault, OSError):
        return None
    if not Probe(spec["address"], spec["port"], api_key(spec["config"]), wish.ready.get("path")).ready(5)[0]:
        return None
    if old != spec:
        write_spec(place, spec)
    keeper.install(spec)
    job = {"owner": owner, "wish": wish.asked, "ready": wish.ready, "patched": wish.patched}
    write_json(place.current, dict(committed(job, proven), activated=current["activated"]), 0o600)
    return {"release": spec["release"], "pid": state.pid, "readyAfter": 0, "proof": proven, "restarted": False}
