"""Where an exception came from: the frames of the candidate's own code, without those of the import machinery or ours."""

import linecache
import os
import sys
import traceback

OURS = "<gates>"
# Frames in these say nothing about the candidate: the import machinery, and `os` for a variable that is not set.
MACHINERY = (os.path.join("importlib", "__init__.py"), os.path.join(os.path.dirname(os.__file__), "os.py"))


def noise(file):
    return file.startswith((OURS, "<frozen ")) or file.endswith(MACHINERY)


def frames(error):
    """[(file, line, text)] from the outermost to the innermost frame; a SyntaxError's own place counts as the innermost."""
    found = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if noise(file):
            continue
        found.append((file, line, linecache.getline(file, line).strip()))
    if isinstance(error, SyntaxError) and error.filename:
        found.append((error.filename, error.lineno or 0, (error.text or "").strip()))
    return found


def short(file):
    """A path as it is told: below a directory of sys.path relative to it, else in full."""
    for entry in sorted((entry for entry in sys.path if entry), key=len, reverse=True):
        if file.startswith(entry + os.sep):
            return file[len(entry) + 1 :]
    return file


def last_lines(error, count=6):
    """The last lines of the traceback as Python prints it, of the candidate's own frames."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if not noise(frame.filename)]
    text = "".join(traceback.format_list(own) + traceback.format_exception_only(type(error), error))
    return text.splitlines()[-count:]


def line_of(error):
    """`TypeError: …` as one line."""
    return "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()[-1].strip()
