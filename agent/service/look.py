"""ServiceFacts of provider/host/serviceFacts.ts: how each service stands. Nothing is written; systemd is asked once for all."""

import os

from agent.claims import claims
from agent.counted import counted
from agent.files import content, names_in, read_json
from agent.gates import report
from agent.service import activation, keeping, listening, patched, proc, process, proof, systemd, unitfiles
from agent.service.committed import altered, digest, spec_edited
from agent.service.place import Place
from agent.service.systemctl import Systemctl
from agent.spoilt import Spoilt


def services(layout, machine, spoilt=None, left=()):
    """{name: ServiceFacts} of the services that are claimed, or that run. spoilt: notes those that cannot be read; left: runs without its files."""
    spoilt = spoilt or Spoilt()
    held = claims(layout)
    names = names_in(layout.at("services"))
    # No spec is no fault here: an empty one stands for it.
    specs = spoilt.each("service", names, lambda name: read_json(Place(layout, name).spec) or {})
    units = [Place(layout, name).unit for name, spec in specs.items() if spec.get("supervisor") == "systemd"]
    ctl = Systemctl(user=machine["uid"] != 0)
    shown = ctl.show(units) if units and machine["systemd"] else {}

    def one(name):
        place = Place(layout, name)
        current = read_json(place.current)
        owner = (held.get("service/" + name) or current or {}).get("owner")
        return owner and dict(
            standing(place, specs[name] or None, shown.get(place.unit), ctl),
            owner=owner,
            current=wish_of(current),
            altered=altered(place, current or {}),
        )

    return dict(spoilt.each("service", specs, one), **{name: _left() for name in left})


def _left():
    """Nobody can tell any more whose it is: it is for whoever knows it by its root and name."""
    facts = {name: None for name in ("supervisor", "unit", "process", "activation", "refused", "current")}
    return dict(facts, running="runs, though its files are gone", owner="", altered=[])


def wish_of(current):
    named = ("venv", "release", "env", "spec", "activated")
    return current and dict({name: current[name] for name in named}, passed=current.get("passed"))


def standing(place, spec, shown, ctl):
    facts = {
        "supervisor": None,
        "unit": None,
        "process": None,
        "running": "never activated",
        "activation": activation.facts(place),
        "refused": report.refused(place.gates),
    }
    if spec is None:
        return facts
    facts["supervisor"] = spec["supervisor"]
    if spec["supervisor"] == "systemd":
        if shown is None:
            return dict(facts, running="systemd cannot be asked")
        facts["unit"] = unit(place, shown, ctl)
        state = systemd.state_of(shown)
    else:
        state = process.state_of(keeping.said(place))
    facts["running"] = sentence(state)
    if state.pid is not None:
        facts["process"] = running(place, spec, state)
    elif os.path.exists(place.current):
        # The next start goes by it, whoever makes that.
        facts["linkedTo"] = proof.led_astray(place, spec)
    return facts


def unit(place, shown, ctl):
    """UnitFacts: of the disk, which the next boot believes, and of what systemd has loaded."""
    path = os.path.join(ctl.units, place.unit)
    linked = os.readlink(path) if os.path.islink(path) else None
    loaded = systemd.drop_ins(shown, place.unit)
    unread = unitfiles.drop_ins(place.unit, ctl.user, loaded)
    return {
        "name": place.unit,
        "path": path,
        "exists": os.path.lexists(path),
        "asWritten": content(path) is not None and content(path) == content(place.unit_text),
        "needsReload": shown["NeedDaemonReload"] == "yes" or bool(unread),
        "linked": None if linked == os.devnull else linked,
        "masked": shown["LoadState"] == "masked" or unitfiles.is_masked(path),
        "dropIns": loaded + unread,
        "enabled": unitfiles.is_wanted(ctl.units, place.unit),
        "activeState": shown["ActiveState"],
        "restarts": int(shown["NRestarts"] or 0),
    }


def sentence(state):
    """`running`, or how it stands."""
    if state.phase == "running":
        return "running"
    if state.phase == "unkept":
        return "runs, but its keeper is gone: nothing starts it again when it fails"
    if state.phase == "restarting":
        return "%s, and is started again (%s so far)" % (state.exit or "ended", counted(state.restarts, "time"))
    if state.phase == "starting":
        return "is being started"
    return "stopped" if state.phase == "stopped" else state.exit or "failed"


def started_otherwise(pid, current):
    """Names of variables that a process does not have as the last activation set them; [] also when it cannot be read any more."""
    found, wanted = proc.environ(pid), current["launched"]["environ"]
    if found is None:
        return []
    live = {os.fsdecode(name): digest(os.fsdecode(value)) for name, value in found.items()}
    return sorted(name for name in set(live) | set(wanted) if live.get(name) != wanted.get(name))


def running(place, spec, state):
    """ProcessFacts of the main process. Our own --config is not among the arguments that are shown."""
    release = proof.release_of(place, state.pid, state.ticks)
    words = proc.cmdline(state.pid)
    own = 2 if spec["config"] is not None else 0
    current = read_json(place.current) or {}
    proven = current.get("proven")
    edited = spec_edited(place, current)
    argv = current["launched"]["argv"] if edited else spec["argv"]
    older = patched.newer(place, proven, state.ticks)
    return {
        "pid": state.pid,
        "started": proc.started(state.ticks),
        "listens": bool(listening.rows(spec["port"])),
        "user": proc.user(state.pid),
        "exe": proc.exe(state.pid) or "",
        "release": release[1] if release and release[0] == spec["venv"] else None,
        "linkedTo": proof.led_astray(place, spec),
        "argsMatch": words == argv,
        "args": words[3 : len(words) - own] if words == argv else words[3:],
        "envDiffers": started_otherwise(state.pid, current) if edited else proof.environ_differs(state.pid, spec),
        "limitsDiffer": [] if edited else proof.limits_differ(state.pid, spec),
        "newerFiles": older,
        "patched": patched.shown(place, proven, older),
    }
