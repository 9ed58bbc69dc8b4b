"""Gate 2: the distributions that the layers brought, and those that wanted what was there before, fit together.

What was inconsistent in the base already is not ours: it runs like that today. It is told as a note where it concerns the package
that is launched.
"""

from agent.counted import counted
from agent.fault import Fault
from agent.gates import pep440, pep508
from agent.venv import dists

LAUNCHED = "sglang"


def snapshot(site):
    """What is installed and what it requires, before anything is laid: {name: (version, [requirement text])}."""
    return {
        dist.name: (dist.version, dists.metadata(site, dist).get_all("Requires-Dist") or [])
        for dist in dists.installed(site)
    }


def check(site, before, laid, environment, accept=()):
    """Faults with all that the layers broke; returns notes. laid: {name: version} that overlays brought.

    environment: markers of the interpreter. accept: names of distributions whose unmet requirements the user takes upon himself,
    `*` = all.
    """
    after = snapshot(site)
    touched = set(laid) | {name for name in before if name not in after or before[name][0] != after[name][0]}
    accepted = {dists.normalise(name) for name in accept if name != "*"}
    problems = _doubles(site, touched) + _python(site, set(laid), environment)
    notes = []
    old = {problem["text"] for problem in unmet(before, set(before), environment)} if touched else set()
    for problem in unmet(after, set(after), environment):
        ours = problem["by"] in laid or problem["name"] in touched
        if "*" in accept or problem["name"] in accepted:
            continue
        if ours and not (problem["text"] in old and problem["by"] not in laid):
            problems.append(problem["text"])
        elif problem["by"] == LAUNCHED:
            notes.append(problem["text"])
    if problems:
        raise Fault(
            "inconsistent",
            "the distributions of the candidate do not fit together: %s" % "; ".join(problems[:5]),
            gate="consistency",
            where=site,
            found=counted(len(problems), "problem"),
            detail="\n".join(problems),
            remedy="add an overlay that brings what is missing, or name it under `checks.accept` if it is not needed",
        )
    return notes


def unmet(installed, names, environment):
    """Requirements of `names` that are not met by what is installed, as [{by, name, text}], each once."""
    found = []
    for name in sorted(names):
        version, requirements = installed[name]
        for problem in _of(name, requirements, "", installed, environment, set()):
            text = "%s %s wants %s, %s" % (name, version, problem[1], problem[2])
            found.append({"by": name, "name": problem[0], "text": text})
    return found


def _of(name, requirements, extra, installed, environment, seen):
    """(wanted name, requirement, what was found) of each requirement that holds with `extra` and is not met."""
    if (name, extra) in seen:
        return
    seen.add((name, extra))
    for text in requirements:
        try:
            requirement = pep508.Requirement(text)
            # With an extra asked for, only what it adds: the rest is asked for anyway.
            if not requirement.holds(environment, extra) or (extra and requirement.holds(environment, "")):
                continue
            wanted = dists.normalise(requirement.name)
            have = installed.get(wanted)
            if have is None:
                yield wanted, _short(requirement), "which is not installed"
            elif not pep440.satisfies(have[0], requirement.specifier):
                yield wanted, _short(requirement), "found %s" % have[0]
            else:
                for one in requirement.extras:
                    yield from _of(wanted, have[1], one, installed, environment, seen)
        except ValueError:
            # Old metadata holds forms that no installer reads any more.
            continue


def _short(requirement):
    return (
        requirement.name
        + ("[%s]" % ",".join(requirement.extras) if requirement.extras else "")
        + requirement.specifier.replace(" ", "")
    )


def _doubles(site, touched):
    found = {}
    for dist in dists.installed(site):
        found.setdefault(dist.name, []).append(dist.info)
    return [
        "%s has %d metadata folders: %s" % (name, len(infos), ", ".join(infos))
        for name, infos in sorted(found.items())
        if len(infos) > 1 and name in touched
    ]


def _python(site, laid, environment):
    problems = []
    for dist in dists.installed(site):
        wanted = dists.metadata(site, dist).get("Requires-Python") if dist.name in laid else None
        try:
            if wanted and not pep440.satisfies(environment["python_full_version"], wanted):
                problems.append(
                    "%s %s wants Python %s, found %s"
                    % (dist.name, dist.version, wanted, environment["python_full_version"])
                )
        except ValueError:
            continue
    return problems
