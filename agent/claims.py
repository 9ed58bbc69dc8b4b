"""Who owns what below a root: a random id of the owner, kept in the state of a stack, and its URN as a label for people."""

import os
import time

from agent.fault import Fault
from agent.files import read_json, write_json
from agent.root import leave_root, prepare_root


def claims(layout):
    """All claims, as {"<kind>/<name>": {"owner", "urn", "since"}}."""
    return (read_json(layout.claims) or {}).get("claims", {})


def claim(layout, wanted):
    """Takes `wanted` ({kind, name, owner, urn, takeOver?}), or keeps it. Call it under the lock.

    Free or ours: taken. Another owner with our URN: taken over, for the state of that create was lost. Another URN: Fault
    `claimed`, unless `takeOver` says that it is meant.
    """
    held = claims(layout)
    key = _key(wanted)
    other = held.get(key)
    if other and other["owner"] == wanted["owner"] and other["urn"] == wanted["urn"]:
        return
    mine = other and other["owner"] == wanted["owner"]
    if other and not mine and other["urn"] != wanted["urn"] and not wanted.get("takeOver"):
        raise Fault(
            "claimed",
            "%s %s below %s belongs to %s" % (wanted["kind"], wanted["name"], layout.root, other["urn"]),
            where=layout.claims,
            found=other["urn"],
            expected=wanted["urn"],
            remedy="choose another name or root, or set `takeOver: true` if that stack is to lose it",
        )
    since = other["since"] if mine else time.time()
    held[key] = {"owner": wanted["owner"], "urn": wanted["urn"], "since": since}
    _write(layout, held)


def owns(layout, wanted, noted=None):
    """Whether `wanted` is claimed by its owner. What another one has, or nobody, is not ours to remove.

    noted: what the thing's own file says of it; its `owner` counts when the claims were lost.
    """
    other = claims(layout).get(_key(wanted)) or noted
    return other is not None and other.get("owner") == wanted["owner"]


def release_claim(layout, wanted):
    """Gives the claim back after its things were removed; with the last one goes what is left below the root. Call it under the lock."""
    held = claims(layout)
    other = held.pop(_key(wanted), None)
    if other and other["owner"] != wanted["owner"]:
        return
    if held:
        _write(layout, held)
    elif other or not _in_use(layout):
        leave_root(layout)


def _in_use(layout):
    """Whether something is below the root that had a claim before the claims were lost."""
    return any(os.path.isdir(layout.at(name)) and os.listdir(layout.at(name)) for name in ("venvs", "services"))


def _write(layout, held):
    prepare_root(layout)
    write_json(layout.claims, {"claims": held})


def _key(wanted):
    return "%s/%s" % (wanted["kind"], wanted["name"])
