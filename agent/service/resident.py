"""The agent as a file that Python runs: what stays on the host for as long as one activation takes."""

import importlib.util
import os

from agent.bundle import sources

_MAIN = "import sys\nfrom agent.service.runner import main\nsys.exit(main(sys.argv[1:]))\n"


def write_resident(path):
    """Writes the sources of this agent as a zip with a `__main__`: it needs neither us nor our connection."""
    import zipfile  # With what it imports itself it takes a look's time, and a look imports this module.

    modules = sources()
    packages = {name.rpartition(".")[0] for name in modules} - {""}
    temporary = path + ".new"
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, source in sorted(modules.items()):
            file = name.replace(".", "/") + ("/__init__.py" if name in packages or name == "agent" else ".py")
            archive.writestr(file, source)
        for name in sorted(packages - set(modules)):
            archive.writestr(name.replace(".", "/") + "/__init__.py", "")
        archive.writestr("__main__.py", _MAIN)
    os.replace(temporary, path)


def source(name):
    """The source text of one module, from wherever this agent was loaded: memory, its own copy here, or files."""
    return importlib.util.find_spec(name).loader.get_source(name)
