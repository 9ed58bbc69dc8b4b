"""`venv.foresee`: what is not in order in a venv that is to be adopted, before anything of it is copied. Reads only."""

import os

from agent.files import names_in
from agent.venv import interpreter, pristine, record, relocate

#: More of a script than its head is never needed.
HEAD = 4096


def foresee(request):
    """{shared, leftovers, scripts} of the venv `args["adopt"]`; all empty when it is not there.

    shared: as `record.shared`; leftovers: sentences; scripts: [{path, python}] whose interpreter is another venv's, or gone.
    """
    prefix = request.args["adopt"]
    if not interpreter.is_venv(prefix):
        return {"shared": [], "leftovers": [], "scripts": []}
    site = interpreter.site_packages(prefix)
    request.check()
    return {
        "shared": record.shared(site),
        "leftovers": pristine.leftovers(site),
        "scripts": stale_scripts(prefix),
    }


def stale_scripts(prefix):
    """[{path below the venv, python}] of the scripts that a copied venv has from its origin: they run that one's interpreter, or none."""
    found = []
    for name in names_in(os.path.join(prefix, "bin")):
        path = os.path.join(prefix, "bin", name)
        if os.path.islink(path) or not os.path.isfile(path):
            continue
        python = _interpreter(path)
        if python and _is_anothers(python, prefix):
            found.append({"path": "bin/" + name, "python": python})
    return found


def _interpreter(path):
    try:
        with open(path, "rb") as file:
            text = file.read(HEAD)
    except OSError:
        return None
    match = relocate.LONG.match(text) or relocate.SHORT.match(text)
    return os.fsdecode(match.group("python")) if match else None


def _is_anothers(python, prefix):
    home = os.path.dirname(os.path.dirname(python))
    if os.path.realpath(home) == os.path.realpath(prefix):
        return False
    return os.path.exists(os.path.join(home, "pyvenv.cfg")) or not os.path.exists(python)
