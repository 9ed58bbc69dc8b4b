"""The activation that a service had last, as its files tell."""

import time

from agent.files import read_json
from agent.service.journal import read_lines
from agent.service.working import held, result_of, works

#: Seconds that a started activation may take until it holds its lock; by a clock that may be set meanwhile.
GRACE = 2


def job_of(place):
    return read_json(place.activation("job.json"))


def at_work(place, job):
    """Whether a process works on it, or will: its lock is held, or the service manager has it."""
    return held(place) or abs(time.time() - job["started"]) < GRACE or works(place, job)


def status(place):
    """(state, job): None | running | interrupted | committed | rolled-back | failed."""
    job = job_of(place)
    if job is None:
        return None, None
    result = result_of(place, job)
    if result is not None:
        return result["state"], job
    return ("running" if at_work(place, job) else "interrupted"), job


def facts(place):
    """ActivationFacts, or None when there was none."""
    state, job = status(place)
    if job is None:
        return None
    lines = read_lines(place.activation("journal.jsonl"))
    stages = [line["stage"] for line in lines if line["event"] == "begin"]
    result = result_of(place, job)
    return {
        "id": job["id"],
        "state": state,
        "started": job["started"],
        "stage": (result or {}).get("stage") or (stages[-1] if stages else "begin"),
        "message": (result or {}).get("message"),
    }
