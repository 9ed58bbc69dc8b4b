"""Which distributions of a donor are meant by names and patterns such as `nvidia-*`."""

import fnmatch
import os

from agent.fault import Fault
from agent.venv import dists

MOST_NAMES = 5


def choose(donor, patterns):
    """The Dists that are meant, by name. Fault `no-match` names every pattern that means nothing, with the nearest names."""
    known = {}
    for dist in donor.installed:
        known.setdefault(dist.name, []).append(dist)
    chosen, unmatched = set(), []
    for pattern in patterns:
        found = fnmatch.filter(known, dists.normalise(pattern))
        chosen.update(found)
        if not found:
            unmatched.append(_explained(donor, pattern, known))
    if unmatched:
        raise Fault(
            "no-match",
            "; ".join(unmatched),
            where=donor.prefix,
            remedy="name distributions as `pip list` of the donor does, or patterns such as `nvidia-*`",
        )
    return [_only(donor, known[name]) for name in sorted(chosen)]


def _only(donor, found):
    if len(found) > 1:
        raise Fault(
            "unclear-donor",
            "the donor has %d installations of %s" % (len(found), found[0].name),
            where=donor.site,
            found=" and ".join(dist.info for dist in found),
            expected="one .dist-info",
            remedy="remove on the donor what an interrupted or hand-made install left",
        )
    dist = found[0]
    if not dist.info.endswith(".dist-info"):
        raise Fault(
            "unclear-donor",
            "%s was installed in the old way, which does not say what belongs to it" % dist,
            where=os.path.join(donor.site, dist.info),
            expected="a .dist-info",
            remedy="install it on the donor with a present pip or uv, or take it from a wheel",
        )
    return dist


def _explained(donor, pattern, known):
    owners = [dist for dist in donor.installed if _brings(donor, dist, pattern)]
    if owners:
        return "`%s` is a part of %s and goes with it; name that instead" % (pattern, " and ".join(map(str, owners)))
    near = _nearest(dists.normalise(pattern).strip("*"), known)
    return "`%s` matches no distribution there; %s" % (
        pattern,
        "nearest: " + ", ".join(near)
        if near
        else "it has %s" % (", ".join(sorted(known)[:MOST_NAMES]) or "none at all"),
    )


def _brings(donor, dist, name):
    return os.path.isdir(os.path.join(donor.site, name)) and any(
        path.startswith(name + "/") for path in donor.recorded(dist)
    )


def _nearest(word, known):
    import difflib

    near = difflib.get_close_matches(word, known, MOST_NAMES, 0.5)
    return near + [name for name in sorted(known) if word and word in name and name not in near][:MOST_NAMES]
