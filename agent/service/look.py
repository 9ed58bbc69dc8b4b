"""ServiceFacts of provider/host/facts.ts: how each service stands. Nothing is written; systemd is asked once for all."""

import os

from agent.claims import claims
from agent.counted import counted
from agent.files import read_json
from agent.gates import report
from agent.service import activation, keeping, proc, process, proof, systemd
from agent.service.place import Place
from agent.service.systemctl import Systemctl
from agent.spoilt import Spoilt


def services(layout, machine, spoilt=None):
    """{name: ServiceFacts} of the services that are claimed, or that run. spoilt: notes those that cannot be read."""
    spoilt = spoilt or Spoilt()
    held = claims(layout)
    folder = layout.at("services")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
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
            standing(place, specs[name] or None, shown.get(place.unit), ctl), owner=owner, current=committed(current)
        )

    return spoilt.each("service", specs, one)


def committed(current):
    return current and {name: current[name] for name in ("venv", "release", "env", "spec", "activated")}


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
        facts["unit"] = unit(place, shown, os.path.join(ctl.units, place.unit))
        state = systemd.state_of(shown)
    else:
        state = process.state_of(keeping.said(place))
    facts["running"] = sentence(state)
    if state.pid is not None:
        facts["process"] = running(place, spec, state)
    return facts


def unit(place, shown, path):
    """UnitFacts. A link to nothing is how systemd masks."""
    linked = os.readlink(path) if os.path.islink(path) else None
    return {
        "name": place.unit,
        "path": path,
        "exists": os.path.lexists(path),
        "asWritten": systemd.content(path) is not None and systemd.content(path) == systemd.content(place.unit_text),
        "needsReload": shown["NeedDaemonReload"] == "yes",
        "linked": None if linked == os.devnull else linked,
        "masked": shown["LoadState"] == "masked",
        "dropIns": systemd.drop_ins(shown, place.unit),
        "enabled": shown["UnitFileState"] == "enabled",
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


def running(place, spec, state):
    """ProcessFacts of the main process. Our own --config is not among the arguments that are shown."""
    release = proof.release_of(place, state.pid, state.ticks)
    words = proc.cmdline(state.pid)
    own = 2 if spec["config"] is not None else 0
    current = read_json(place.current) or {}
    return {
        "pid": state.pid,
        "started": proc.started(state.ticks),
        "user": proc.user(state.pid),
        "exe": proc.exe(state.pid) or "",
        "release": release[1] if release and release[0] == spec["venv"] else None,
        "linkedTo": proof.led_astray(place, spec),
        "argsMatch": words == spec["argv"],
        "args": words[3 : len(words) - own] if words == spec["argv"] else words[3:],
        "envDiffers": proof.environ_differs(state.pid, spec),
        "limitsDiffer": proof.limits_differ(state.pid, spec),
        "newerFiles": proof.changed_files(place, current.get("proven"), state.ticks),
    }
