"""`hello`, `look`: what is there, field for field as provider/host/facts.ts says. Nothing is written but a cache (agent/venv/stamps.py)."""

import importlib
import os

from agent.claims import claims
from agent.files import existing, read_json
from agent.layout import FORMAT
from agent.left import services_left
from agent.machine import machine
from agent.spoilt import Spoilt
from agent.staging import staged


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
    facts["place"] = _place(layout.root)
    facts.update(_venvs(request, layout, spoilt))
    facts.update(_services(layout, facts["machine"], facts["claims"], spoilt))
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
        "overlays": spoilt.each("overlay", names, lambda name: staged.overlays(layout, name)),
        "patches": spoilt.each("patch", names, lambda name: staged.patches(layout, name)),
        "venvs": venvs,
        "adoptable": adoptable,
    }


def _services(layout, facts, held, spoilt):
    names = _names(layout.at("services"))
    claimed = [key[len("service/") :] for key in held if key.startswith("service/")]
    left = services_left(layout, names, claimed)
    services = (
        importlib.import_module("agent.service.look").services(layout, facts, spoilt, left) if names or left else {}
    )
    return {"envs": spoilt.each("env", names, lambda name: staged.environment(layout, name)), "services": services}


def _place(root):
    """Which folder the root is, or will lie in: two ways to one machine show the same."""
    found = os.stat(existing(root))
    return "%d:%d" % (found.st_dev, found.st_ino)


def _names(path):
    """The folders in one; what cannot be read is no word that nothing is there."""
    try:
        return sorted(entry.name for entry in os.scandir(path) if entry.is_dir())
    except FileNotFoundError:
        return []
