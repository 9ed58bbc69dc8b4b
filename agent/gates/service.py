"""The gates of a service, run in the service's own user, environment and directory, on the candidate, before the switch."""

import os
from concurrent.futures import ThreadPoolExecutor

from agent.fault import Fault
from agent.gates import asked, report
from agent.gates.beat import Beat
from agent.gates.static import gate as static
from agent.service.redact import redact, secret_values

ORDER = static.NAMES + ("interpreter", "imports", "origin", "asserts", "gpus", "flags", "environment", "laid")
LONGEST = 2000
REMEDIES = {
    "interpreter": "let the service run the release's own python",
    "imports": "lay what is missing over the base, or add it to its requirements; correct the patch that does not import",
    "origin": "take away what hides the release's files, or give the service another working directory or environment",
    "asserts": "correct the release, or the assertion",
    "gpus": "correct `gpus`, or the flags that say over how many it is spread; give the driver back the GPU that it lost",
    "flags": "declare the flag that this version knows",
    "laid": "lay what is missing, or the build that fits; name the distribution in `checks.acceptLibraries` if nothing uses it",
    "environment": "start the release's python by hand as the service's user",
}
REMEDIES.update(static.REMEDIES)


def check(request, candidate):
    """Runs the gates on a candidate.

    Returns {"gates": [{gate, ok, seconds, note, problems, warnings}], "modules": {module: file}, "warnings": [sentence],
    "table": [line]}.

    candidate: python, site, release (paths), env (exact), cwd, user, group, limits, module, args, and gates = {imports,
    patched: [{module, path, file, sha256}] (file: where the release has it), asserts, flags (default true), timeout (seconds, default 600)}. `hide`: the texts that
    must not be shown; default: the values of variables whose names say that they are secret. `first`: nothing was activated before. `report`: where the result is written as
    well (a path to which `.json` and `.txt` are added); default: nowhere.
    Raises Fault("gate") with the name of the first gate that failed and all problems of all gates.
    """
    refuse_missing(candidate)
    with Beat(lambda text: request.progress(text, stage="gates")) as beat:
        # Side by side: the imports take most of the time, and keep one core busy.
        with ThreadPoolExecutor(1) as aside:
            answered = aside.submit(asked.ask, candidate, request.cancelled, lambda at, what: beat.at(step(at, what)))
            gates = static.check(candidate, lambda gate: beat.at("gate " + gate))
        request.check()
        try:
            outcome, answer = answered.result()
        except Fault as fault:
            raise interpreter(candidate, fault.message, **fault.more)
    if outcome.ended == "cancelled":
        request.check()
    gates += answer.gates.values()
    gates = presentable(gates, candidate.get("hide") or secret_values(None, candidate["env"]))
    if candidate.get("report"):
        report.write(candidate["report"], candidate["release"], candidate["args"], gates)
    failed = [gate for gate in gates if not gate["ok"]]
    if failed:
        raise fault_of(failed, candidate, gates)
    warnings = ["gate %s: %s" % (gate["gate"], warning) for gate in gates for warning in gate["warnings"]]
    return {"gates": gates, "modules": answer.modules, "warnings": warnings, "table": report.table(gates)}


def presentable(thing, hide):
    """The results without secrets, which an expression's value or a traceback can show, and without endless texts."""
    if isinstance(thing, dict):
        return {key: presentable(value, hide) for key, value in thing.items()}
    if isinstance(thing, list):
        return [presentable(value, hide) for value in thing]
    if not isinstance(thing, str):
        return thing
    text = redact(thing, hide)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def step(at, what):
    return "gate %s%s" % (at or "interpreter", ": " + what if what else "")


def refuse_missing(candidate):
    """A python that is not there, or whose link leads nowhere, is said as such and not as a failed start."""
    python = candidate["python"]
    if not os.path.exists(python):
        found = "a link to %s, which is not there" % os.path.realpath(python) if os.path.lexists(python) else "nothing"
        remedy = "install that Python again at the same path, or make the venv anew"
        raise interpreter(
            candidate, "%s is %s" % (python, found), found=found, expected="the release's interpreter", remedy=remedy
        )


def interpreter(candidate, text, **more):
    """The fault of an interpreter that cannot even be started as the unit would start it."""
    gate = {
        "gate": "interpreter",
        "ok": False,
        "seconds": 0.0,
        "note": "",
        "problems": [{"text": text}],
        "warnings": [],
    }
    return fault_of([gate], candidate, [gate], **more)


def remedies(told):
    """Each once, in order, of [(gate, problem)]: the problem's own, else that of its gate."""
    return list(dict.fromkeys(problem.get("remedy") or REMEDIES[gate] for gate, problem in told))


def fault_of(failed, candidate, gates, **more):
    """One fault for all problems of all gates, in the gates' order; `more` says what is known better."""
    failed = sorted(failed, key=lambda gate: ORDER.index(gate["gate"]))
    told = [(gate["gate"], problem) for gate in failed for problem in gate["problems"]]
    names = list(dict.fromkeys(gate["gate"] for gate in failed))
    lines = ["gate %s: %s" % (gate, problem["text"]) for gate, problem in told]
    detail = [
        "%s\n%s" % (line, "\n".join("  " + more for more in problem["detail"]))
        for line, (_, problem) in zip(lines, told)
        if problem.get("detail")
    ]
    left = "nothing was started" if candidate.get("first") else "what runs was left alone"
    count = "" if len(lines) == 1 else "%d problems: " % len(lines)
    return Fault(
        "gate",
        "the candidate does not pass (%s%s); %s\n%s" % (count, ", ".join(names), left, "\n".join(lines)),
        **dict(
            {
                "gate": names[0],
                "where": candidate["release"],
                "detail": "\n".join(detail + report.table(gates)),
                "remedy": "; ".join(remedies(told)),
                "problems": [dict(problem, gate=gate) for gate, problem in told],
                "gates": gates,
            },
            **more,
        ),
    )
