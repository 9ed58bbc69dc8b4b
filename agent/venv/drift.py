"""What is no longer as it was made in one release. Writes nothing but the cache of hashes."""

import re

from agent.venv import beside, exchanged, manifest, watch
from agent.venv.mended import shown

SGLANG = re.compile(r"(^|/)sglang/")


class Drift:
    """files: [{path, kind, mode?}], paths as people know them: patched ones first, then those of sglang, then the rest; exchanged: see `exchanged.fold`."""

    def __init__(self, files, exchanged):
        self.files = files
        self.exchanged = exchanged


def drift_of(prefix, facts, before, verify=False, check=lambda: None):
    """(Drift, Watch) of a release; the Watch has the hashes of watched files.

    facts: the release's own file; before(path): the bytes that the layers below the patches have there; verify: every file is hashed.
    """
    found = manifest.drift(beside.manifest(prefix), prefix)
    found = [{"path": "(manifest)", "kind": "missing"}] if found is None else found
    foreign, seen = watch.edited(prefix, found, verify, check=check)
    left, folded = exchanged.fold(found + foreign, prefix, facts, before)
    patched = {one["path"] for one in facts["patched"].values()}
    # What is cut off for its length is to be what matters least.
    left.sort(key=lambda one: (one["path"] not in patched, not SGLANG.search(one["path"])))
    return Drift([dict(one, path=shown(one["path"], facts["site"])) for one in left], folded), seen
