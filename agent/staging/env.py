"""`env.stage`, `env.remove`: the variables of one service, byte for byte, readable by their owner only."""

import os
import re

from agent.claims import claim
from agent.fault import Fault
from agent.files import read_json, remove_file, write_json
from agent.lock import locked
from agent.staging.forget import forget
from agent.staging.staged import environment_file

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def stage(request):
    """Puts `args["variables"]` down as `env-<id>.json`; `args["salt"]` is the key of that id, for an import. Fault `bad-variable` names all that no process could be given."""
    args, layout = request.args, request.layout
    service, wish = args["service"], {"owner": args["claim"]["owner"], "id": args["id"]}
    _refuse_bad(service, args["variables"])
    with locked(request, "staging the environment of %s" % service):
        claim(layout, args["claim"])
        before = read_json(layout.service(service, "env.json")) or {}
        kept = {"variables": args["variables"], "salt": args.get("salt")}
        write_json(environment_file(layout, service, args["id"]), kept, mode=0o600)
        write_json(layout.service(service, "env.json"), wish)
        _drop_others(layout, service, {args["id"], before.get("id")})
    return wish


def remove(request):
    """Forgets the variables, but for those that a service still runs with: they go with it."""
    layout, service = request.layout, request.args["claim"]["name"]
    path = layout.service(service, "env.json")
    return forget(request, "the environment", path, lambda: _drop_others(layout, service, set()))


def _drop_others(layout, service, keep):
    """Old variables are old secrets: only those stay that are staged, were staged before (for the way back), or are in use."""
    current = read_json(layout.service(service, "current.json")) or {}
    keep = {"env-%s.json" % number for number in keep | {current.get("env")} if number}
    folder = layout.service(service)
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        if name.startswith("env-") and name.endswith(".json") and name not in keep:
            remove_file(os.path.join(folder, name))


def _refuse_bad(service, variables):
    bad = [repr(name) for name in sorted(variables) if not NAME.match(name)]
    bad += ["%s (its value holds a NUL byte)" % name for name in sorted(variables) if "\0" in variables[name]]
    if bad:
        raise Fault(
            "bad-variable",
            "the environment of %s cannot be given to a process: %s" % (service, ", ".join(bad)),
            expected="names of letters, digits and _, values without NUL",
        )
