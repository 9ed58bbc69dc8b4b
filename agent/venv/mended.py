"""Which files of a release were given back, and when: a process that is older may have loaded what they were before."""

import re
import time

#: A whole package that was exchanged need not be named file by file.
MOST = 200
SOURCE = re.compile(r"^src/\d+/")
#: What Python does not load as a program: metadata, and what an installer left.
NOT_LOADED = re.compile(r"(^|/)([^/]+\.(dist|egg)-info|~[^/]*)(/|$)")
#: What a server may have read: code, kernels that are compiled while it runs, programs, and SGLang's own tables of kernels.
LOADED = re.compile(
    r"\.(py|pyc|pth|so(\.\d+)*|cuh?|c|cc|cpp|h|hpp|ptx|cubin)$|(^|/)bin/|^pyvenv\.cfg$|^\(manifest\)$|(^|/)sglang/.*\.json$"
)


def shown(path, site):
    """A path as patches name it: below site-packages, or below the source tree of an editable install; others below the venv."""
    if path.startswith(site + "/"):
        return path[len(site) + 1 :]
    return SOURCE.sub("", path)


def is_loaded(path):
    """Whether a process may have loaded the file of this shown path; data and texts restart nobody. The provider's `loaded.ts` knows the same."""
    return bool(LOADED.search(path)) and not NOT_LOADED.search(path)


def note(earlier, drift, site):
    """The notes of a release, with what is given back now: `shown path -> {boot, at}`, `at` in seconds since that boot."""
    now = {"boot": boot(), "at": time.clock_gettime(time.CLOCK_BOOTTIME)}
    kept = {path: one for path, one in earlier.items() if one["boot"] == now["boot"]}
    given = [path for path in (shown(one["path"], site) for one in drift) if is_loaded(path)]
    return dict(kept, **{path: now for path in given[:MOST]})


def since(notes, started):
    """Paths that were given back after `started`, in seconds since this boot."""
    this = boot()
    return sorted(path for path, one in (notes or {}).items() if one["boot"] == this and one["at"] > started)


def boot():
    """The id of this boot; "" where the kernel does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""
