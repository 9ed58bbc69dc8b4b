"""Which function serves which request. Modules are imported when first asked for: a look must not pay for a build.

Each function has the form `op(request) -> dict`; see `agent/request.py` for what a request offers.
"""

import importlib

OPS = {
    "hello": "agent.look:hello",
    "look": "agent.look:look",
    "store.missing": "agent.store:missing",
    "store.put": "agent.store:put",
    "store.get": "agent.store:get",
    "donor.look": "agent.donor.look:look",
    "donor.get": "agent.donor.give:get",
    "donor.take": "agent.donor.take:take",
    "donor.direct": "agent.donor.direct:direct",
    "donor.reuse": "agent.donor.reuse:reuse",
    "overlay.missing": "agent.staging.overlays:missing",
    "overlay.fits": "agent.overlay.fit:check",
    "overlay.stage": "agent.staging.overlays:stage",
    "overlay.remove": "agent.staging.overlays:remove",
    "patch.stage": "agent.staging.patches:stage",
    "patch.remove": "agent.staging.patches:remove",
    "env.stage": "agent.staging.env:stage",
    "env.remove": "agent.staging.env:remove",
    "venv.diff": "agent.venv.diff:diff",
    "venv.foresee": "agent.venv.foresee:foresee",
    "venv.make": "agent.venv.make:make",
    "venv.remove": "agent.venv.make:remove",
    "service.check": "agent.service.check:check",
    "service.port": "agent.service.held:held",
    "service.activate": "agent.service.activate:activate",
    "service.remove": "agent.service.remove:remove",
    "exec": "agent.execute:execute",
}


def find(name):
    """The function behind one operation, or None."""
    target = OPS.get(name)
    if target is None:
        return None
    module, function = target.split(":")
    return getattr(importlib.import_module(module), function)
