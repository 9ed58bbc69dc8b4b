"""Scripts in a venv's bin/ name their interpreter by an absolute path: in a copy they would run the original's, or nothing."""

import os
import re
import stat

from agent.venv.clone import rewrite

# The form that uv's relocatable venvs have: sh runs the python beside the script; Python reads the second line as a string.
HEAD = "#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'%s'%s \"$0\" \"$@\"\n' '''\n"
LONG = re.compile(rb"\A#!/bin/sh\n'''exec' \"?(?P<python>/[^\"\n]*?)\"? \"\$0\" \"\$@\"\n' '''\n")
SHORT = re.compile(rb"\A#![ \t]*(?P<python>/[^\n]*?/python[0-9.]*t?)(?P<options>[ \t][^\n]*)?\r?\n")
LARGEST = 1 << 20


def relocatable(text, is_ours):
    """A script's bytes with a head that finds the interpreter beside it; unchanged when `is_ours(interpreter)` says no."""
    match = LONG.match(text) or SHORT.match(text)
    if not match or not is_ours(os.fsdecode(match.group("python"))):
        return text
    options = (match.groupdict().get("options") or b"").decode("utf-8", "surrogateescape").rstrip()
    name = os.path.basename(os.fsdecode(match.group("python")))
    return (HEAD % (name, options)).encode("utf-8", "surrogateescape") + text[match.end() :]


def scripts(prefix, originals):
    """Makes the scripts of a copy run the copy's interpreter; returns the changed files, below `prefix`.

    originals: spellings of the path the venv had. An interpreter of another venv, or one that is gone, is a copied venv's
    origin and is replaced too; one of the system is what the script's author meant.
    """
    spellings = {os.path.normpath(path) for path in originals} | {os.path.realpath(path) for path in originals}

    def is_ours(path):
        home = os.path.dirname(os.path.dirname(path))
        if home in spellings or os.path.realpath(home) in spellings:
            return True
        return os.path.exists(os.path.join(home, "pyvenv.cfg")) or not os.path.exists(path)

    changed = []
    for path in _texts(prefix):
        with open(path, "rb") as file:
            text = file.read()
        fixed = relocatable(text, is_ours)
        if fixed != text:
            _available(prefix, fixed)
            rewrite(path, fixed)
            changed.append(os.path.relpath(path, prefix))
    return changed


def replace_path(prefix, old, new):
    """Replaces the path `old` by `new` in the texts of bin/ (activate and its like), as new files; returns them, below `prefix`."""
    # Not followed by what would make it another name: /opt/a is not in /opt/ab.
    pattern = re.compile(rb"(?<![\w.-])" + re.escape(os.fsencode(os.path.normpath(old))) + rb"(?![\w.-])")
    changed = []
    for path in _texts(prefix):
        with open(path, "rb") as file:
            text = file.read()
        fixed = pattern.sub(lambda _match: os.fsencode(new), text)
        if fixed != text:
            rewrite(path, fixed)
            changed.append(os.path.relpath(path, prefix))
    return changed


def links(prefix, original):
    """Makes links that lead into the original by an absolute path relative, so that they lead into the copy."""
    spellings = {os.path.normpath(original), os.path.realpath(original)}
    for folder, folders, files in os.walk(prefix):
        for name in folders + files:
            path = os.path.join(folder, name)
            target = os.readlink(path) if os.path.islink(path) else ""
            start = next(
                (one for one in spellings if (os.path.normpath(target) + os.sep).startswith(one + os.sep)), None
            )
            if start and os.path.isabs(target):
                inside = os.path.join(prefix, os.path.relpath(os.path.normpath(target), start))
                os.unlink(path)
                os.symlink(os.path.relpath(inside, folder), path)


def _texts(prefix):
    """Files in bin/ that are texts; links and programs are not."""
    folder = os.path.join(prefix, "bin")
    found = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        facts = os.lstat(path)
        if stat.S_ISREG(facts.st_mode) and facts.st_size <= LARGEST:
            with open(path, "rb") as file:
                if b"\0" not in file.read(4096):
                    found.append(path)
    return found


def _available(prefix, text):
    """A venv that was copied from another minor version may lack the name that a script asks for; `python` is always there."""
    name = re.search(rb"/'([^']+)'", text).group(1)
    path = os.path.join(prefix, "bin", os.fsdecode(name))
    if not os.path.lexists(path):
        os.symlink("python", path)
