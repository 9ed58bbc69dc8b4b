"""Editable installs of a donor: their source lies elsewhere, and changes with each edit there."""

import json
import os

from agent.fault import Fault
from agent.venv import editable


def require_plain(donor, chosen):
    """Fault `editable-donor` with all of the chosen distributions whose packages are not in the venv itself."""
    found = [dist for dist in chosen if _is_editable(donor, dist)]
    if found:
        places = sorted({path for source in editable.sources(donor.prefix) for path in source.places.values()})
        raise Fault(
            "editable-donor",
            "%s: editable on the donor, so its files are not in that venv" % ", ".join(map(str, found)),
            where=donor.prefix,
            found="sources in %s" % (", ".join(places) or "a place that is not there"),
            remedy="install it there without -e, or lay a copy of its package over the venv: `from: { directory: … }`",
        )


def _is_editable(donor, dist):
    try:
        with open(os.path.join(donor.site, dist.info, "direct_url.json"), encoding="utf-8") as file:
            return bool(json.load(file).get("dir_info", {}).get("editable"))
    except (OSError, ValueError):
        return False
