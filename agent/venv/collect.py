"""Removes releases and bases that nobody needs: `keep` stay, and whatever runs, is led to, or may be gone back to."""

import errno
import os
import time

from agent.files import drop_leftovers, names_in, read_json, remove_file
from agent.tidy import remove_empty, remove_tree
from agent.venv import beside, users

#: Seconds within which the children of a killed run notice that and end.
LATE_WRITERS = 15


def releases(layout, venv):
    """{id: facts of releases/<id>.json} of the complete releases of a venv."""
    found = {}
    folder = layout.venv(venv, "releases")
    for name in names_in(folder):
        if name.endswith(".json") and os.path.isdir(os.path.join(folder, name[:-5])):
            found[name[:-5]] = read_json(os.path.join(folder, name))
    return found


def collect(request, venv, wanted, keep):
    """Removes old releases beyond `keep` (the wanted one counts), then bases that no kept release was made from."""
    layout = request.layout
    known = releases(layout, venv)
    ordered = sorted(known, key=lambda name: (name == wanted, known[name]["made"]), reverse=True)
    spare = ordered[max(1, keep) :]
    spare = [name for name in spare if name not in users.named(layout, spare)]
    running = users.processes([layout.release(venv, name) for name in spare]) if spare else {}
    for name in spare:
        if layout.release(venv, name) not in running:
            request.progress("removing the old release %s" % name)
            remove_release(layout, venv, name)
            del known[name]
    _remove_bases(layout, venv, {facts["base"] for facts in known.values()})
    _remove_debris(layout, venv, set(known))


def remove_release(layout, venv, name):
    """Removes one release; what is half removed does not look complete."""
    path = layout.release(venv, name)
    remove_file(path + ".json")
    remove_tree(path)
    beside.remove(path)


def remove_unfinished(layout, venv):
    """Removes what a run that was killed left: nothing in use has such a name. Call it under the lock."""
    for folder in (layout.venv(venv), layout.venv(venv, "releases")):
        for name in names_in(folder):
            if name.startswith(".tmp-"):
                path = os.path.join(folder, name)
                _remove_for_good(path) if os.path.isdir(path) else remove_file(path)
        if os.path.isdir(folder):
            drop_leftovers(folder)
    remove_empty(layout.venv(venv, "releases"))
    remove_empty(layout.venv(venv))


def _remove_for_good(path):
    """Removes a folder into which a child of the killed run, such as a compiler of bytecode, may be writing yet."""
    end = time.monotonic() + LATE_WRITERS
    while os.path.isdir(path):
        try:
            remove_tree(path)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.ENOENT) or time.monotonic() > end:
                raise
            time.sleep(0.1)


def _remove_bases(layout, venv, wanted):
    for name in names_in(layout.venv(venv)):
        path = layout.venv(venv, name)
        if name.startswith("base-") and os.path.isdir(path) and name not in wanted:
            remove_file(path + ".json")
            remove_tree(path)
            beside.remove(path)


def _remove_debris(layout, venv, known):
    """Releases without their facts: a run was killed between the two, or somebody removed the file."""
    folder = layout.venv(venv, "releases")
    spare = [
        name
        for name in names_in(folder)
        if os.path.isdir(os.path.join(folder, name)) and name not in known and not name.startswith(".")
    ]
    spare = [name for name in spare if name not in users.named(layout, spare)]
    running = users.processes([os.path.join(folder, name) for name in spare]) if spare else {}
    for name in spare:
        if os.path.join(folder, name) not in running:
            remove_release(layout, venv, name)
