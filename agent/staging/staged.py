"""What is staged for a venv or a service, as a look tells it: apart from what stages it, which need not travel with each look."""

import importlib
import os

from agent.files import read_json, sha256_file


def environment(layout, service):
    """EnvFacts of provider/host/facts.ts, or None. A file of variables that is gone shows as none."""
    wish = read_json(layout.service(service, "env.json"))
    if wish is None:
        return None
    kept = read_json(environment_file(layout, service, wish["id"])) or {"variables": {}}
    return {"owner": wish["owner"], "id": wish["id"], "variables": kept["variables"], "salt": kept.get("salt")}


def overlays(layout, venv):
    """StagedOverlays of provider/host/facts.ts, or None. A later overlay wins over an earlier one of the same name."""
    wish = read_json(layout.venv(venv, "overlays.json"))
    if wish is None:
        return None
    packages = {}
    for overlay in wish["overlays"]:
        # A venv without overlays must not pay for the import of what makes them.
        whole = importlib.import_module("agent.overlay.staged").facts(layout, overlay["digest"])
        for name, version in overlay["packages"].items():
            packages.pop(name, None)
            if whole is not None:
                packages[name] = "%s %s" % (version, overlay["digest"][:12])
            elif os.path.isdir(layout.tree(overlay["digest"])):
                packages[name] = "%s edited on the host" % version
    origins = [{"packages": one.get("names", []), "source": one.get("source")} for one in wish["overlays"]]
    return {"owner": wish["owner"], "digest": wish["digest"], "packages": packages, "origins": origins}


def patches(layout, venv):
    """StagedPatches of provider/host/facts.ts, or None."""
    wish = read_json(layout.venv(venv, "patches.json"))
    if wish is None:
        return None
    files = {_label(patch["target"]): _state(layout, patch) for patch in wish["patches"]}
    pre = {_label(patch["target"]): patch["pre"] for patch in wish["patches"] if patch.get("pre")}
    return {"owner": wish["owner"], "digest": wish["digest"], "files": files, "pre": pre}


def environment_file(layout, service, number):
    """Path of the variables of that number."""
    return layout.service(service, "env-%s.json" % number)


def _label(target):
    return "module:" + target["module"] if "module" in target else target["path"]


def _state(layout, patch):
    there = sha256_file(layout.content(patch["sha256"])) == patch["sha256"]
    return "%s %s" % (patch["kind"], patch["sha256"]) if there else "missing"
