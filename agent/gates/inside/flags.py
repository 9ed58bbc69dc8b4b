"""Gate 7: the launch flags, asked of the candidate's own parser; each flag for itself, so that all that is wrong comes at once."""

import argparse
import difflib
import importlib
import re
import sys

from . import flagsource
from .places import home


class Refused(Exception):
    """What argparse would have exited with."""


class Parser(argparse.ArgumentParser):
    """argparse's parser, which raises instead of leaving the process."""

    def error(self, message):
        raise Refused(message)

    def exit(self, status=0, message=None):
        raise Refused(message or "exits")


def server_args(module):
    """The class that declares the flags of a launch module, or None where there is none."""
    found = getattr(sys.modules.get(module), "ServerArgs", None)
    if found is None and module.split(".")[0] == "sglang":
        found = getattr(importlib.import_module("sglang.srt.server_args"), "ServerArgs", None)
    return found if hasattr(found, "add_cli_args") else None


def run(job):
    """(problems, warnings, note). `note` says how it was checked, or why not."""
    args = without_config(job["args"])
    try:
        owner = server_args(job["module"])
        if owner is None:
            return [], [], "skipped: %s declares no ServerArgs" % job["module"]
        parser = Parser(prog=job["module"], add_help=False)
        owner.add_cli_args(parser)
    except BaseException as error:
        return by_source(job, args, error)
    problems, warnings = check(parser, args, required="--config" not in job["args"])
    count = len(groups(args)[1])
    return problems, warnings, "%d flag%s against the candidate's parser" % (count, "" if count == 1 else "s")


def by_source(job, args, error):
    """Names only, read from the source, when the parser does not come up."""
    known = flagsource.flags(home("sglang", job["site"])) if job["module"].split(".")[0] == "sglang" else set()
    if not known:
        return [], [], "skipped: the candidate's parser does not come up (%s: %s)" % (type(error).__name__, error)
    problems = []
    for group in groups(args)[1]:
        name = group[0].split("=")[0]
        if name not in known and not any(other.startswith(name) for other in known):
            problems.append(unknown(name, known))
    return problems, [], "names only, from the source: the candidate's parser does not come up"


def without_config(args):
    """The arguments without `--config FILE`: the file is ours, holds keys only, and is not for the gate to read."""
    kept, skip = [], False
    for arg in args:
        if not skip and arg != "--config" and not arg.startswith("--config="):
            kept.append(arg)
        skip = not skip and arg == "--config"
    return kept


def groups(args):
    """(what stands before the first flag, [[flag, value, …], …])."""
    before, found = [], []
    for arg in args:
        flag = arg.startswith("-") and len(arg) > 1 and not re.match(r"-\d|-\.\d", arg) and " " not in arg.split("=")[0]
        if flag:
            found.append([arg])
        else:
            (found[-1] if found else before).append(arg)
    return before, found


def check(parser, args, required=True):
    """(problems, warnings) of the arguments."""
    known = parser._option_string_actions
    needed = [action for action in parser._actions if action.required and action.option_strings]
    for action in parser._actions:
        action.required = False
    before, found = groups(args)
    problems = ["%r stands before the first flag" % word for word in before]
    warnings, seen = [], set()
    for group in found:
        action = known.get(group[0].split("=")[0])
        if action is None:
            action, told = abbreviated(parser, group[0].split("=")[0], known)
            if action is None:
                problems.append(told)
                continue
            warnings.append(told)
        seen.add(action.dest)
        told = parsed(parser, group, action)
        if told:
            problems.append(told)
        elif deprecated(action):
            warnings.append("%s is deprecated: %s" % (group[0].split("=")[0], deprecated(action)))
    if required:
        problems += ["%s is required" % action.option_strings[0] for action in needed if action.dest not in seen]
    return problems, warnings


def abbreviated(parser, name, known):
    """(action, warning) of a unique prefix, as argparse accepts it; (None, problem) otherwise."""
    matches = sorted({option for option in known if name.startswith("--") and option.startswith(name)})
    actions = {id(known[option]) for option in matches}
    if not matches:
        return None, unknown(name, known)
    if len(matches) > 1 and (len(actions) > 1 or sys.version_info < (3, 12)):
        return None, "%s is ambiguous: it begins %s" % (name, ", ".join(matches))
    return known[matches[0]], "%s is only the beginning of %s: another version may know two that begin so" % (
        name,
        matches[0],
    )


def unknown(name, known):
    near = difflib.get_close_matches(name, list(known), 3, 0.6)
    best = difflib.SequenceMatcher(None, near[0], name).ratio() if near else 0
    near = [other for other in near if difflib.SequenceMatcher(None, other, name).ratio() > best - 0.1]
    return "%s is not a flag of this version%s" % (name, "; nearest: " + ", ".join(near) if near else "")


def parsed(parser, group, action):
    """What argparse has against one flag with its values, or None."""
    name, _, inline = group[0].partition("=")
    values = ([inline] if inline or "=" in group[0] else []) + group[1:]
    try:
        _, extra = parser.parse_known_args(group)
    except Refused as error:
        text = re.sub(r"^argument \S+: ", "", str(error))
        wrong = [
            value
            for value in values
            if action.choices is not None and value not in [str(choice) for choice in action.choices]
        ]
        if wrong and "invalid choice" in text:
            choices = sorted(str(choice) for choice in action.choices)
            near = difflib.get_close_matches(wrong[0], choices, 1)
            return "%s has no choice %r%s; choices: %s" % (
                name,
                wrong[0],
                "; nearest: " + near[0] if near else "",
                ", ".join(choices),
            )
        return "%s %s: %s" % (name, " ".join(values), text) if values else "%s: %s" % (name, text)
    except BaseException as error:  # an action of the candidate's own that does not like the value
        return "%s %s: %s: %s" % (name, " ".join(values), type(error).__name__, error)
    return "%s does not take %s" % (name, " ".join(extra)) if extra else None


def deprecated(action):
    """What the help of a deprecated flag says to do instead, or None for one that is not deprecated."""
    text = " ".join((action.help or "").split()) if action.help != argparse.SUPPRESS else ""
    lead = re.match(r"[\[(]?deprecated\b[\s.:,;)\]-]*", text, re.I)
    if not lead and "Deprecated" not in type(action).__name__ and not getattr(action, "deprecated", False):
        return None
    return (text[lead.end() :] if lead else text).split(". ")[0].rstrip(".)") or "it will go"
