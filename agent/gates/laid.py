"""Which modules the layers of a release brought: those that a program would import, by the RECORD of each distribution that was laid."""

import re

from agent.files import read_json
from agent.venv import dists, record

#: Beside what a distribution is for, some wheels leave these in site-packages.
NOT_FOR_USE = frozenset(
    ["test", "tests", "testing", "docs", "examples", "benchmark", "benchmarks", "scripts", "setup", "conftest"]
)
TOP = re.compile(r"([A-Za-z]\w*)(?:/__init__)?(?:\.py|\.abi3\.so|\.cpython-\S+\.so)")


def modules(release, site):
    """[{module, distribution, name}] by distribution, of the release at that path; [] when nothing was laid."""
    laid = (read_json(release + ".json") or {}).get("laid") or {}
    if not laid:
        return []
    return [
        {"module": module, "distribution": str(dist), "name": dist.name}
        for dist in dists.installed(site)
        if dist.name in laid
        for module in tops(record.files(site, dist) or [])
    ]


def tops(paths):
    """The modules and packages at the top of site-packages that these files make, sorted; no namespace packages, whose parts are not known to be modules."""
    found = {match.group(1) for match in map(TOP.fullmatch, paths) if match}
    return sorted(found - NOT_FOR_USE)
