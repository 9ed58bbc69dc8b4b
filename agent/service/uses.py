"""Which releases services need: what runs, what a link or a spec names, and what an activation may go back to."""
import os

from agent.files import read_json
from agent.service import proc
from agent.service.place import Place
from agent.service.proof import release_in


def releases(layout):
    """{(venv, release)} that must not be removed."""
    found = set()
    folder = layout.at("services")
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        found |= of_service(Place(layout, name))
    below = os.path.realpath(layout.root) + "/venvs/"
    for pid in proc.table():
        found |= {release_in(path[len(below):]) for path in proc.mapped(pid, below)}
    return found - {None}


def of_service(place):
    below = os.path.realpath(place.layout.root) + "/venvs/"
    found = set()
    for path in (place.spec, place.previous("spec.json"), place.current, place.previous("current.json")):
        kept = read_json(path)
        found |= {(kept["venv"], kept["release"])} if kept else set()
    job = read_json(place.activation("job.json")) or {}
    if "spec" in job:
        found.add((job["spec"]["venv"], job["spec"]["release"]))
    if os.path.islink(place.link):
        found.add(release_in(os.path.realpath(place.link)[len(below):]))
    return found
