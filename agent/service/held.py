"""`service.port`: who holds the port that a service wants, and what an activation would do about that. Reads only."""

from agent.fault import Fault
from agent.service import proc
from agent.service.found import found, members
from agent.service.place import Place
from agent.service.ports import bindable, port
from agent.service.supervisors import standing


def held(request):
    """{problem: message and remedy, or null; takes: the server that would be stopped for it, or null}. `spec`: {address, port, takeOverPort}."""
    place, spec = Place(request.layout, request.args["service"]), request.args["spec"]
    keeper, _ = standing(place)
    ours = keeper.members() if keeper else []
    try:
        taken = found(spec, ours)
    except Fault as fault:
        return {"problem": said(fault), "takes": None}
    for check in (port, bindable):
        for problem in check(place, spec, ours + members(taken)):
            return {"problem": said(problem), "takes": None}
    return {"problem": None, "takes": None if taken is None else proc.describe(taken)}


def said(fault):
    return "%s; %s" % (fault.message, fault.more["remedy"])
