"""`hello`, `look`: what is there, field for field as provider/host/facts.ts says. Nothing is written but a cache (agent/venv/stamps.py)."""

import importlib
import os

from agent.claims import claims
from agent.files import read_json
from agent.layout import FORMAT
from agent.machine import machine
from agent.spoilt import Spoilt
from agent.staging import env, overlays, patches


def hello(_request):
    """The machine alone."""
    return machine()


def look(request):
    """HostFacts of `args["root"]`.

    `args["adopt"]`: paths of venvs whose fingerprint is wanted though nothing manages them yet; `args["verify"]`: hash everything.
    """
    layout = request.layout
    read_json(layout.format)
    spoilt = Spoilt()
    facts = {"format": FORMAT, "machine": machine(), "root": layout.root, "claims": claims(layout)}
    facts.update(_venvs(request, layout, spoilt))
    facts.update(_services(layout, facts["machine"], spoilt))
    return dict(facts, unreadable=spoilt.faults) if spoilt.faults else facts


def _venvs(request, layout, spoilt):
    adopt = request.args.get("adopt") or []
    names = _names(layout.at("venvs"))
    venvs, adoptable = {}, {}
    if names or adopt:
        venvs, adoptable = importlib.import_module("agent.venv.look").venvs(
            layout, adopt, bool(request.args.get("verify")), request.check, spoilt
        )
    return {
        "overlays": spoilt.each("overlay", names, lambda name: overlays.staged(layout, name)),
        "patches": spoilt.each("patch", names, lambda name: patches.staged(layout, name)),
        "venvs": venvs,
        "adoptable": adoptable,
    }


def _services(layout, facts, spoilt):
    names = _names(layout.at("services"))
    services = importlib.import_module("agent.service.look").services(layout, facts, spoilt) if names else {}
    return {"envs": spoilt.each("env", names, lambda name: env.staged(layout, name)), "services": services}


def _names(path):
    """The folders in one; what cannot be read is no word that nothing is there."""
    try:
        return sorted(entry.name for entry in os.scandir(path) if entry.is_dir())
    except FileNotFoundError:
        return []
