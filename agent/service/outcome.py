"""The end of an activation: its result, and what is cleared away afterwards."""

import glob
import os
import time

from agent.files import read_json, remove_file, write_json
from agent.service import recover
from agent.tidy import remove_tree


def conclude(activation, state, **fields):
    """Writes the result, then the journal's last line, then clears away: cut anywhere, it can be done again."""
    place, job = activation.place, activation.job
    write_json(place.activation("result.json"), dict(fields, id=job["id"], state=state, ended=time.time()), 0o600)
    activation.journal.write("result", "end", state=state)
    clean(place)


def clean(place):
    """Removes what only an unfinished activation needs: the state of before, secrets, and the unit for a reboot."""
    recover.disable(place)
    remove_tree(place.previous())
    for name in ("facts.json", "cancel", os.path.basename(place.reserve)):
        remove_file(place.activation(name))
    job = read_json(place.activation("job.json"))
    if job is not None and "spec" in job:
        kept = {name: job[name] for name in ("id", "started", "python", "detached")}
        write_json(place.activation("job.json"), dict(kept, release=job["wish"]["release"]), 0o600)
    spec = read_json(place.spec) or {}
    for path in glob.glob(glob.escape(place.dir) + "/config-*.yaml"):
        if path != spec.get("config"):
            remove_file(path)
    # Last: this very process may run from it, and imports nothing after this.
    remove_file(place.activation("agent.pyz"))
    remove_file(os.path.join(place.activation(), "watch.log"))
