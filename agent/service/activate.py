"""`service.activate`: checks the candidate, starts the activation on the host, and follows it."""

import os
import sys
import time
import uuid

from agent.claims import claim, release_claim
from agent.fault import Fault
from agent.files import read_json, remove_file, write_json
from agent.lock import locked
from agent.service import activation, detach, systemctl, unchanged
from agent.service.follow import follow
from agent.service.found import found
from agent.service.found import members as family
from agent.service.place import Place
from agent.service.preflight import preflight
from agent.service.remove import clear
from agent.service.resident import write_resident
from agent.service.supervisors import standing
from agent.service.switch import make_work
from agent.service.wish import Wish


def activate(request):
    """{release, pid, readyAfter, proof, restarted}, and the gates' `warnings` where they ran. The Fault of a failed one carries stage, detail and what was restored."""
    place = Place(request.layout, request.args["service"])
    joined = join(request, place)
    if joined is not None:
        return answer(request, place, joined)
    with locked(request, "activating service %s" % place.name):
        claim(request.layout, request.args["claim"])
        wish = Wish(place, request.args)
        prepare(place, wish)
        spec = wish.spec()
    try:
        proven = unchanged.proven(place, wish, spec)
        if proven is not None:
            warnings = [] if unchanged.has_passed(place, wish) else gates(request, wish)
            request.progress("runs as declared: nothing to restart")
            return dict(unchanged.keep(place, wish, spec, request.args["claim"]["owner"], proven), warnings=warnings)
        ours = members(place)
        preflight(place, spec, ours + family(found(spec, ours)))
        warnings = gates(request, wish)
        request.check()
        with locked(request, "activating service %s" % place.name):
            job = set_up(place, wish, spec, request.args["claim"]["owner"], request.args.get("by"))
    except BaseException:
        drop_unused(request, place, wish)
        raise
    try:
        return dict(answer(request, place, follow(request, place, job)), warnings=warnings)
    except Fault as fault:
        # What a gate only warned of may be the cause.
        raise Fault(fault.code, fault.message, **dict(fault.more, warnings=warnings or None))


def join(request, place):
    """The result of the activation at work when it is the same one. One that nobody works on any more is ended first."""
    state, job = activation.status(place)
    if state == "running" and "wish" in job:
        if job["wish"] != Wish(place, request.args).asked:
            raise Fault(
                "busy",
                "service %s is being activated with another wish by %s since %s"
                % (place.name, person(job.get("by")), clock(job["started"])),
                where=place.activation(),
                found="release %s" % job["wish"]["release"],
                expected="no activation at work",
                remedy="wait until that one has ended, and run this again",
            )
        request.progress("follows the activation that is at work already")
        return follow(request, place, job)
    if state == "interrupted":
        request.progress("ends the activation of %s, which was cut" % clock(job["started"]))
        detach.revive(place, job)
        follow(request, place, job)
    return None


def prepare(place, wish):
    """What gates and preflight look at: the working directory and the file with the keys."""
    os.makedirs(place.dir, exist_ok=True)
    os.chmod(place.dir, 0o755)
    make_work(place, {"uid": wish.account.uid, "gid": wish.account.gid})
    wish.write_config()


def gates(request, wish):
    """What they warn of; their Fault when the candidate does not pass."""
    from agent.gates.service import check

    request.progress("checks the candidate", stage="gates")
    return check(request, wish.candidate())["warnings"]


def members(place):
    keeper, _ = standing(place)
    return keeper.members() if keeper else []


def set_up(place, wish, spec, owner, by):
    """Writes the job and starts it. Fault `busy` when another one has begun meanwhile."""
    state, _ = activation.status(place)
    if state in ("running", "interrupted"):
        raise Fault(
            "busy", "another activation of service %s has begun meanwhile" % place.name, where=place.activation()
        )
    os.makedirs(place.activation(), 0o700, exist_ok=True)
    old = read_json(place.spec)
    before = old["supervisor"] if old else None
    # The old result stays until the new one: it belongs to the old job, which is over as long as its id is there.
    for name in ("journal.jsonl", "facts.json", "cancel"):
        remove_file(place.activation(name))
    write_resident(place.activation("agent.pyz"))
    job = {
        "id": uuid.uuid4().hex[:12],
        "started": time.time(),
        "by": by,
        "owner": owner,
        "python": sys.executable,
        "wish": wish.asked,
        "spec": spec,
        "ready": wish.ready,
        "drain": wish.asked["drain"],
        "patched": wish.patched,
        "hide": wish.hidden(),
        "before": before,
        "detached": manner(spec, before, found(spec, members(place))),
    }
    write_json(place.activation("job.json"), job, 0o600)
    try:
        detach.detach(place, job)
    except Fault:
        # Nothing has begun: without the job there is nothing to end either.
        remove_file(place.activation("job.json"))
        raise
    return job


def manner(spec, before, taken):
    """How the activation is kept alive. A keeper must not be born in a unit of systemd's: it would end with that; so would what is brought back."""
    if not systemctl.present() or "process" in (spec["supervisor"], before) or taken is not None:
        return "process"
    return "systemd" if systemctl.runs_transient() else "process"


def answer(request, place, result):
    """The result for the caller, or its Fault. A first activation that failed leaves nothing."""
    if result["state"] == "committed":
        return dict({name: result[name] for name in ("release", "pid", "readyAfter", "proof")}, restarted=True)
    drop_first(request, place)
    fields = {name: value for name, value in result.items() if name not in ("id", "state", "ended", "code", "message")}
    raise Fault(result["code"], result["message"], **fields)


def drop_unused(request, place, wish):
    """Takes away the keys of a candidate that did not come to run."""
    with locked(request, "clearing up after %s" % place.name):
        spec = read_json(place.spec) or {}
        if wish.config not in (None, spec.get("config")):
            remove_file(wish.config)
    drop_first(request, place)


def drop_first(request, place):
    with locked(request, "clearing up after %s" % place.name):
        if not os.path.exists(place.current) and activation.status(place)[0] not in ("running", "interrupted"):
            clear(place)
            release_claim(request.layout, request.args["claim"])


def person(by):
    """Who asked for an activation; jobs of older versions do not say."""
    return "%(user)s@%(host)s (pid %(pid)s there)" % by if by else "somebody"


def clock(seconds):
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
