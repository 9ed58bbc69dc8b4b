"""`service.port`: who holds the port that a service wants, and whether its model is there: what an activation would meet first. Reads only."""

import os

from agent.fault import Fault
from agent.service import proc
from agent.service.found import found, members
from agent.service.place import Place
from agent.service.ports import bindable, port
from agent.service.preflight import missing
from agent.service.supervisors import standing


def held(request):
    """{problem: messages and remedies, or null; takes: the server that would be stopped for it, or null}. `spec`: {address, port, takeOverPort, modelPath}."""
    place, spec = Place(request.layout, request.args["service"]), request.args["spec"]
    keeper, _ = standing(place)
    ours = keeper.members() if keeper else []
    path, taken = spec.get("modelPath"), None
    problems = [] if path is None or os.path.exists(path) else [missing("model", path)]
    try:
        taken = found(spec, ours)
    except Fault as fault:
        problems.append(fault)
    else:
        for check in (port, bindable):
            problems += check(place, spec, ours + members(taken))
    return {
        "problem": "; and ".join(said(problem) for problem in problems) or None,
        "takes": None if problems or taken is None else proc.describe(taken),
    }


def said(fault):
    return "%s; %s" % (fault.message, fault.more["remedy"])
