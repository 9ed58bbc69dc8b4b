"""What the sources alone say of flags and variables: names that the candidate does not know. Nothing of it is run; for previews."""

import time

from agent.gates.inside import environment, flags, flagsource


def unknown(candidate):
    """Results of the gates `flags` and `environment`, each only where it has something to warn of; what the parser itself says counts more, and comes with `up`."""
    found = []
    for gate, ask in (("flags", _flags), ("environment", _variables)):
        started = time.monotonic()
        warnings = ask(candidate)
        if warnings:
            seconds = round(time.monotonic() - started, 3)
            note = "names only, from the source"
            told = {"gate": gate, "ok": True, "seconds": seconds, "note": note, "problems": [], "warnings": warnings}
            found.append(told)
    return found


def _flags(candidate):
    if candidate["module"].split(".")[0] != "sglang" or not candidate["gates"].get("flags", True):
        return []
    known = flagsource.flags(candidate["site"])
    given = [group[0].split("=")[0] for group in flags.groups(flags.without_config(list(candidate["args"])))[1]]
    missing = [name for name in given if not any(other.startswith(name) for other in known)]
    return [flags.unknown(name, known) for name in missing] if known else []


def _variables(candidate):
    return environment.warnings([name for name in candidate["env"] if name.startswith("SGL")], candidate["site"])
