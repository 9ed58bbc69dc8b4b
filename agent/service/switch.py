"""Moves a stopped service to its new release, spec and supervisor."""

import json
import os

from agent.files import atomic_write
from agent.service.previous import point
from agent.service.resident import source
from agent.service.supervisors import supervisor


def switch(place, spec, before=None):
    """Link, launcher, spec, then what the supervisor needs. `before`: kind of the supervisor that had the service."""
    if before is not None and before != spec["supervisor"]:
        supervisor(place, before).uninstall()
    point(place.link, target(place, spec))
    write_launcher(place)
    make_work(place, spec)
    write_spec(place, spec)
    supervisor(place, spec["supervisor"]).install(spec)


def target(place, spec):
    """What the stable link says: relative, so that the root can be moved or mounted elsewhere."""
    return os.path.relpath(place.layout.release(spec["venv"], spec["release"]), place.dir)


def write_launcher(place):
    """Writes the program that becomes the server."""
    atomic_write(place.launcher, source("agent.service.launcher").encode(), 0o644)


def write_spec(place, spec):
    """Writes the launcher's spec, readable for the service's user alone."""
    write_private(place.spec, json.dumps(spec, indent=1, sort_keys=True).encode("ascii"), spec)


def write_private(path, data, spec):
    """A 0600 file of the service's user."""
    root = os.geteuid() == 0
    atomic_write(path, data, 0o600, spec["uid"] if root else None, spec["gid"] if root else None)


def make_work(place, spec):
    """The default working directory, owned by the service's user."""
    os.makedirs(place.work, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(place.work, spec["uid"], spec["gid"])
