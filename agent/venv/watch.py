"""Whether files of ours still have the content that they had when they were made, whatever their sizes and times say."""

from agent.venv import beside, stamps, sums


class Watch:
    """What a comparison found. live: `path -> sha256`, None for what is no file; changed: paths with other bytes; known: `path -> sha256` of the rest."""

    def __init__(self, declared, live):
        self.live = live
        self.changed = sorted(path for path, sha256 in live.items() if sha256 not in (None, declared[path]))
        self.known = {path: sha256 for path, sha256 in live.items() if sha256 == declared[path]}


def compare(top, declared, cache, tell=None, check=lambda: None):
    """Compares the files of `declared` (`path -> sha256`) below `top`, by the cache at that path; what had to be hashed is remembered there.

    Without a cache (None) all are hashed, and nothing is written.
    """
    cached = {} if cache is None else stamps.read(cache)
    live, kept, _ = stamps.contents(top, declared, cached, tell, check)
    if cache is not None and kept != cached:
        stamps.remember(cache, kept)
    return Watch(declared, live)


def folder(top, whole=False, tell=None, check=lambda: None):
    """Compares the watched files of a folder of ours, or all of them."""
    declared = sums.read(beside.sums(top) if whole else beside.watched(top)) or {}
    return compare(top, declared, None if whole else beside.stamps(top), tell, check)


def edited(top, found, whole=False, tell=None, check=lambda: None):
    """The drift of contents that `found`, the drift by stat, lacks; and the Watch that saw it."""
    watch = folder(top, whole, tell, check)
    known = {one["path"]: one for one in found}
    for path in watch.changed:
        # More than its mode differs after all.
        known.get(path, {}).pop("mode", None)
    return [{"path": path, "kind": "edited"} for path in watch.changed if path not in known], watch
