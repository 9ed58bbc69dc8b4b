"""Prints what is declared to be on this host as JSON: path => mode, and digest or target. Contents, so that a repair shows as the same again.

Arguments: the root, then files or folders besides. Bytecode, caches, journals and times (also those in manifests) are left out.
"""

import glob
import hashlib
import json
import os
import stat
import sys

root, besides = sys.argv[1], sys.argv[2:]
PARTS = [
    "venvs/*/base-*/",
    "venvs/*/releases/*/",
    "venvs/*/patches.json",
    "venvs/*/overlays.json",
    "trees/*",
    "store/??/*",
    "services/*/venv",
    "services/*/spec.json",
    "services/*/env*.json",
    "services/*/unit.service",
    "services/*/launcher.py",
]


def add(path, found):
    seen = os.lstat(path)
    if stat.S_ISLNK(seen.st_mode):
        found[path] = "-> " + os.readlink(path)
    elif stat.S_ISDIR(seen.st_mode):
        found[path] = stat.filemode(seen.st_mode)
        for name in sorted(os.listdir(path)):
            if name not in ("__pycache__", "stamps", "manifest"):
                add(os.path.join(path, name), found)
    elif not path.endswith(".pyc"):
        with open(path, "rb") as file:
            found[path] = stat.filemode(seen.st_mode) + " " + hashlib.sha256(file.read()).hexdigest()


everything = {}
for pattern in [os.path.join(root, part) for part in PARTS] + besides:
    for path in sorted(glob.glob(pattern)):
        add(path.rstrip("/"), everything)
print(json.dumps(everything))
