"""Symbols that nothing in a process defines: with them an import ends in `undefined symbol`."""

import re

from agent.gates.static.elf import NotElf

DRIVER = re.compile(rb"(cu|nvml|nvcuvid|NvEncode)[A-Z]")
TORCH = (b"3c10", b"2at", b"5torch", b"6caffe2")


def defined(system, path):
    """What a file defines; empty when it cannot be read."""
    try:
        key, elf = system.elf(path)
    except (NotElf, OSError):
        return set()
    return system.symbols(key, elf)[0]


def undefined(system, path):
    """What a file wants from elsewhere; empty when it cannot be read."""
    try:
        key, elf = system.elf(path)
    except (NotElf, OSError):
        return set()
    return system.symbols(key, elf)[1]


def unresolved(process, opened):
    """[(library, names)] of what was newly loaded: names that neither the process's global scope nor its own has.

    Python and ctypes bind everything at once (RTLD_NOW), so each of these names is fatal, wherever it is first called.
    """
    system, found = process.system, []
    for library in opened.added:
        names = system.symbols(library.key, library.elf)[1]
        for other in process.wide + opened.closure:
            if not names:
                break
            names = names - system.symbols(other.key, other.elf)[0]
        if names:
            found.append((library, sorted(names)))
    return found


def of_torch(name):
    """Whether a mangled name is of torch's namespaces, or of its C interface."""
    if name.startswith((b"aoti_torch_", b"torch_", b"THP")):
        return True
    return name.startswith(b"_Z") and any(part in name for part in TORCH)


def of_python(name):
    return name.startswith((b"Py", b"_Py"))


def of_driver(name):
    """Whether a name may be of the driver's interface (`cuMemAlloc`)."""
    return bool(DRIVER.match(name))
