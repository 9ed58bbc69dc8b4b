"""`venv.diff`: what patches would change in the files of a venv, and what was changed in its release by hand. Reads only."""

import difflib

from agent.fault import Fault
from agent.venv import patch
from agent.venv.texts import Texts


def diff(request):
    """{patches: [Difference or None], files: [Difference or None], drift, exchanged}, in the order asked for; None = it cannot be told.

    Of `args["release"]`, by default the wanted one, whose drift is known from the look: then `drift` and `exchanged` are None.

    Difference: {path, added, removed, lines, more}; `lines` are the hunks of a unified diff, at most `lines` of them, and
    `more` is the number of those left out. A patch that does not fit has {path, problem} instead.
    """
    args = request.args
    release = args.get("release")
    texts = Texts(request.layout, args["venv"], release)
    drift = None if release is None else texts.drift()
    told = {"drift": drift and drift.files, "exchanged": drift and drift.exchanged}
    if not texts.there:
        return dict(told, patches=[None] * len(args["patches"]), files=[None] * len(args["files"]))
    return dict(
        told,
        patches=[_patch(texts, one, args["lines"]) for one in args["patches"]],
        files=[_file(texts, path, args["lines"]) for path in args["files"]],
    )


def _patch(texts, one, most):
    """What the file becomes by a patch, against what the release was made with."""
    name = patch.label(one["target"])
    try:
        path, name = texts.locate(one["target"])
        before = texts.before(path)
        if before is None and (one["kind"] == "diff" or texts.now(path) is not None):
            return None
        after = patch.wanted(one, before, one["text"].encode("utf-8"))
    except Fault as fault:
        shown = [fault.message] + [
            "%s: %s" % (key, fault.more[key]) for key in ("found", "expected") if key in fault.more
        ]
        return {"path": name, "problem": "; ".join(shown)}
    made = texts.made(path, name)
    return _difference(name, before if made is None else made, before if after is None else after, most)


def _file(texts, shown, most):
    """What a file of the release was made as, against what it is now."""
    try:
        path, key = texts.locate({"path": shown})
    except Fault:
        path, key = shown, shown
    made, now = texts.made(path, key), texts.now(path)
    return None if made is None or now is None or made == now else _difference(shown, made, now, most)


def _difference(name, before, after, most):
    old, new = _lines(before), _lines(after)
    if old is None or new is None:
        return {"path": name, "added": 0, "removed": 0, "lines": ["(no text)"], "more": 0}
    lines = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    return {
        "path": name,
        "added": sum(line.startswith("+") for line in lines),
        "removed": sum(line.startswith("-") for line in lines),
        "lines": lines[:most],
        "more": max(0, len(lines) - most),
    }


def _lines(text):
    try:
        return [] if text is None else text.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        return None
