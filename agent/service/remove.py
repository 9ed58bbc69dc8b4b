"""`service.remove`: stops the service and takes away all that is its own."""

import glob
import os

from agent.claims import claims, owns, release_claim
from agent.fault import Fault
from agent.files import read_json, remove_file
from agent.lock import locked
from agent.service import activation, detach, recover
from agent.service.follow import follow
from agent.service.place import Place
from agent.service.supervisors import standing
from agent.tidy import remove_empty, remove_tree


def remove(request):
    """{}; what is not there, or another owner's, is no error. An activation at work is waited for; a cut one is ended first."""
    place = Place(request.layout, request.args["claim"]["name"])
    state, job = activation.status(place)
    if state in ("running", "interrupted"):
        if state == "interrupted":
            detach.revive(place, job)
        request.progress("waits for the activation that is at work")
        follow(request, place, job)
    with locked(request, "removing service %s" % place.name):
        current = read_json(place.current)
        if not owns(request.layout, request.args["claim"], current) and not _stranded(request.layout, place, current):
            return {}
        if activation.status(place)[0] in ("running", "interrupted"):
            raise Fault(
                "busy", "service %s is being activated" % place.name, where=place.activation(), remedy="run this again"
            )
        stop(request, place)
        clear(place)
        release_claim(request.layout, request.args["claim"])
    return {}


def _stranded(layout, place, current):
    """Whether it runs from files that are gone, and with them who owned it: then it is whose root and name it has."""
    return current is None and "service/" + place.name not in claims(layout) and standing(place)[0] is not None


def stop(request, place):
    keeper, timeout = standing(place)
    if keeper is None:
        return
    # What only waits for its next start, or was left behind, is stopped too, but no server is.
    if keeper.state().pid or keeper.members():
        request.progress("stops the server")
    keeper.stop(timeout)
    keeper.uninstall()


def clear(place):
    """Removes the files of a service that does not run; its staged variables are another resource's."""
    recover.disable(place)
    for path in (place.activation(), place.work, place.replaced):
        remove_tree(path)
    for path in glob.glob(glob.escape(place.dir) + "/config-*.yaml") + glob.glob(glob.escape(place.log) + "*"):
        remove_file(path)
    names = ("spec", "current", "launcher", "keeper", "kept", "unit_text", "link")
    for path in [getattr(place, name) for name in names] + [
        place.at("keeper.log"),
        place.gates + ".json",
        place.gates + ".txt",
    ]:
        remove_file(path)
    drop_variables(place)
    remove_empty(place.dir)


def drop_variables(place):
    """Variables that were kept only for this service's way back; those that are staged stay."""
    staged = (read_json(place.at("env.json")) or {}).get("id")
    for path in glob.glob(glob.escape(place.dir) + "/env-*.json"):
        if path != place.variables(staged):
            os.unlink(path)
