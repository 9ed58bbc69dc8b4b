"""The venvs of a root as they are now, for `look`: VenvFacts of provider/host/facts.ts. Reads only, and builds nothing."""

import importlib
import os

from agent.files import names_in, read_json
from agent.spoilt import Spoilt
from agent.venv import beside, dists
from agent.venv.drift import Drift, drift_of

MOST_DRIFT = 200


def venvs(layout, adopt=(), verify=False, check=lambda: None, spoilt=None):
    """({name: VenvFacts}, {path: fingerprint or None}): the venvs that we manage, and the paths asked for.

    verify: each file of a wanted release is hashed, not only those that are watched, and no cache is believed.
    spoilt: notes the venvs that cannot be read.
    """
    fingerprints = {}

    def taken(path):
        if path not in fingerprints:
            fingerprints[path] = importlib.import_module("agent.venv.fingerprint").fingerprint(path, (layout.root,))
        return fingerprints[path]

    def one(name):
        wish = read_json(layout.venv(name, "venv.json"))
        return wish and {
            "owner": wish["owner"],
            "release": wish["release"],
            "base": _base(layout, name, wish, taken),
            "releases": {
                release: _release(layout, name, release, release == wish["release"], verify, check)
                for release in _releases(layout, name)
            },
        }

    found = (spoilt or Spoilt()).each("venv", names_in(layout.at("venvs")), one)
    return found, {path: taken(path) for path in adopt}


def _base(layout, name, wish, taken):
    base = wish["base"]
    if "adopt" in base:
        found = taken(base["adopt"])
        copied = wish["recipe"]["base"]["fingerprint"]
        facts = {"kind": "adopt", "path": base["adopt"], "fingerprint": found}
        if found not in (None, copied):
            copy = layout.base(name, copied[:16])
            facts["moved"] = importlib.import_module("agent.venv.moved").changes(copy, base["adopt"], (layout.root,))
        return facts
    made = {name: base[name] for name in base if name != "key"}
    return {"kind": "managed", "key": base["key"], "made": made}


def _releases(layout, name):
    """Ids of the releases that are there, or should be."""
    found = set()
    for entry in names_in(layout.venv(name, "releases")):
        if not entry.startswith("."):
            known = entry.endswith(beside.ENDINGS + (".json",))
            found.add(os.path.splitext(entry)[0] if known else entry)
    return sorted(found)


def _release(layout, name, release, wanted, verify, check):
    """ReleaseFacts. Only the wanted release is looked at file by file: a look has to stay cheap, and the others do not run."""
    prefix = layout.release(name, release)
    facts = read_json(beside.facts(prefix))
    if facts is None or not os.path.isdir(prefix):
        return {
            "complete": False,
            "recipe": facts and facts["recipe"],
            "drift": [],
            "driftCount": 0,
            "exchanged": {},
            "packages": {},
            "files": {},
            "located": {},
            "site": "",
            "made": 0,
        }
    site = os.path.join(prefix, facts["site"])
    files = {key: one["sha256"] for key, one in facts["patched"].items()}
    drift, packages = Drift([], {}), facts["packages"]
    if wanted:

        def before(path):
            # Not among what travels for each look: of a release that is as it was made nobody asks for texts.
            from agent.venv.texts import Texts

            return Texts(layout, name, release).before(path)

        drift, seen = drift_of(prefix, facts, before, verify, check)
        live = {key: seen.live.get(one["path"]) for key, one in facts["patched"].items()}
        files = {key: sha256 for key, sha256 in live.items() if sha256 is not None}
        packages = dists.versions(site)
    return {
        "complete": True,
        "recipe": facts["recipe"],
        "drift": drift.files[:MOST_DRIFT],
        "driftCount": len(drift.files),
        "exchanged": drift.exchanged,
        "packages": packages,
        "files": files,
        "located": {key: os.path.join(prefix, one["path"]) for key, one in facts["patched"].items()},
        "site": site,
        "made": facts["made"],
    }
