"""What is no longer as it was made in one release. Writes nothing but the cache of hashes."""

from agent.venv import beside, manifest, watch
from agent.venv.mended import shown


def drift_of(prefix, facts, verify=False, check=lambda: None):
    """([{path, kind}], Watch): paths below site-packages as people know them; the Watch has the hashes of watched files.

    facts: the release's own file; verify: every file is hashed.
    """
    found = manifest.drift(beside.manifest(prefix), prefix)
    found = [{"path": "(manifest)", "kind": "missing"}] if found is None else found
    foreign, seen = watch.edited(prefix, found, verify, check=check)
    return [dict(one, path=shown(one["path"], facts["site"])) for one in found + foreign], seen
