"""The venvs of a root as they are now, for `look`: VenvFacts of provider/host/facts.ts. Reads only, and builds nothing."""

import os
import re

from agent.files import read_json, sha256_file
from agent.venv import dists, fingerprint, manifest

MOST_DRIFT = 200
SOURCE = re.compile(r"^src/\d+/")


def venvs(layout, adopt=()):
    """({name: VenvFacts}, {path: fingerprint or None}): the venvs that we manage, and the paths asked for."""
    fingerprints = {}

    def taken(path):
        if path not in fingerprints:
            fingerprints[path] = fingerprint.fingerprint(path, (layout.root,))
        return fingerprints[path]

    found = {}
    for name in _names(layout.at("venvs")):
        wish = read_json(layout.venv(name, "venv.json"))
        if wish is not None:
            found[name] = {
                "owner": wish["owner"],
                "release": wish["release"],
                "base": _base(wish["base"], taken),
                "releases": {
                    release: _release(layout.release(name, release), release == wish["release"])
                    for release in _releases(layout, name)
                },
            }
    return found, {path: taken(path) for path in adopt}


def _base(base, taken):
    if "adopt" in base:
        return {"kind": "adopt", "path": base["adopt"], "fingerprint": taken(base["adopt"])}
    return {"kind": "managed", "key": base["key"]}


def _releases(layout, name):
    """Ids of the releases that are there, or should be."""
    found = set()
    for entry in _names(layout.venv(name, "releases")):
        if not entry.startswith("."):
            found.add(os.path.splitext(entry)[0] if entry.endswith((".json", ".manifest")) else entry)
    return sorted(found)


def _release(prefix, wanted):
    """ReleaseFacts. Only the wanted release is looked at file by file: a look has to stay cheap, and the others do not run."""
    facts = read_json(prefix + ".json")
    if facts is None or not os.path.isdir(prefix):
        return {
            "complete": False,
            "recipe": facts and facts["recipe"],
            "drift": [],
            "driftCount": 0,
            "packages": {},
            "files": {},
            "site": "",
            "made": 0,
        }
    site = os.path.join(prefix, facts["site"])
    files = {key: one["sha256"] for key, one in facts["patched"].items()}
    drift, packages = [], facts["packages"]
    if wanted:
        live = {key: sha256_file(os.path.join(prefix, one["path"])) for key, one in facts["patched"].items()}
        drift = manifest.drift(manifest.beside(prefix), prefix)
        drift = [{"path": "(manifest)", "kind": "missing"}] if drift is None else drift
        known = {one["path"] for one in drift}
        drift += [
            {"path": facts["patched"][key]["path"], "kind": "edited"}
            for key, sha256 in live.items()
            if sha256 != files[key] and facts["patched"][key]["path"] not in known
        ]
        drift = [dict(one, path=_shown(one["path"], facts["site"])) for one in drift]
        files = {key: sha256 for key, sha256 in live.items() if sha256 is not None}
        packages = dists.versions(site)
    return {
        "complete": True,
        "recipe": facts["recipe"],
        "drift": drift[:MOST_DRIFT],
        "driftCount": len(drift),
        "packages": packages,
        "files": files,
        "site": site,
        "made": facts["made"],
    }


def _shown(path, site):
    """A path as patches name it: below site-packages, or below the source tree of an editable install; others below the venv."""
    if path.startswith(site + "/"):
        return path[len(site) + 1 :]
    return SOURCE.sub("", path)


def _names(folder):
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
