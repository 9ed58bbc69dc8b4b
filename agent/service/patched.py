"""The patched files of the release behind a service's link: where they are, what they have become, and which a process is older than."""

import os

from agent.fault import Fault
from agent.files import read_json, sha256_file
from agent.service import proc
from agent.service.environment import site_packages
from agent.venv import beside
from agent.venv.mended import since


def locations(venv):
    """{path as patches name it: absolute path} of what is patched in a release; it lies in site-packages, or in the source tree of an editable install."""
    facts = read_json(beside.facts(os.path.realpath(venv))) or {}
    return {path: os.path.join(venv, one["path"]) for path, one in (facts.get("patched") or {}).items()}


def locate(venv, path):
    """Where a file is that a patch names by this path. Fault: no-site."""
    return locations(venv).get(path) or os.path.join(site_packages(venv), path)


def noted(place, patched):
    """What is noted of each file that the gates passed, and the paths of those that are no longer what they passed."""
    found, wrong = [], []
    for item in patched:
        module = (item.get("module") or "").replace(".", "/")
        paths = [item["path"]] if item.get("path") else [module + ".py", module + "/__init__.py"]
        facts = [entry for entry in (seen(place.link, path) for path in paths) if entry["sha256"] == item["sha256"]]
        found += facts[:1]
        wrong += [] if facts else [paths[0]]
    return found, wrong


def newer(place, proven, ticks):
    """Files, by the path that patches name them by, that a process, started at `ticks`, is older than.

    Those of `proven`, as `noted` gave them, that were replaced or altered since; and all that its release was given back.
    """
    return sorted({item["path"] for item in proven or [] if now(place, item) != item} | set(given_back(place, ticks)))


def shown(place, proven, older):
    """PatchedFacts of provider/host/serviceFacts.ts for the files of `proven`; `older`: the paths that the process is older than."""
    found = []
    for item in proven or []:
        live = now(place, item)
        file = None if live is None else os.path.realpath(locate(place.link, item["path"]))
        sha256 = None if live is None else live["sha256"]
        found.append(
            {
                "path": item["path"],
                "file": file,
                "sha256": sha256,
                "declared": item["sha256"],
                "older": item["path"] in older,
            }
        )
    return found


def now(place, item):
    """The same facts as they are now; None when the release is none any more."""
    try:
        return seen(place.link, item["path"])
    except Fault:
        return None


def given_back(place, ticks):
    """What the release behind the link was given back after that start, whether or not the process imported it before."""
    facts = read_json(beside.facts(os.path.realpath(place.link))) or {}
    return since(facts.get("mended"), ticks / proc.HZ)


def seen(venv, path):
    """What is noted of one file: a file that was replaced by an equal one is another one to a running process."""
    full = locate(venv, path)
    digest = sha256_file(full)
    if digest is None:
        return {"path": path, "sha256": None, "inode": None, "mtime": None}
    facts = os.stat(full)
    return {"path": path, "sha256": digest, "inode": facts.st_ino, "mtime": facts.st_mtime_ns}
