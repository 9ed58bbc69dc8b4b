"""Makes a venv with distributions of chosen bytes, as a package manager would have left them. Standard library only: it also runs on test hosts.

A distribution is described, or `{"wheel": PATH}` is unpacked.

donor.py VENV '{"torch": {"version": "2.11.0+cu130", "files": {"torch/__init__.py": "…", "torch/lib/x.so": [SIZE, SEED]}, "scripts": {"torchrun": "…"}, "data": {"share/x": "…"}}}'
"""

import base64
import hashlib
import json
import os
import random
import subprocess
import sys
import zipfile


def make(venv, distributions):
    """Makes the venv if it is not there, and installs the distributions into it; one of the same name is replaced."""
    if not os.path.exists(os.path.join(venv, "pyvenv.cfg")):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    site = os.path.join(venv, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")
    for name, dist in distributions.items():
        remove(site, name)
        if "wheel" in dist:
            with zipfile.ZipFile(dist["wheel"]) as wheel:
                wheel.extractall(site)
        else:
            install(venv, site, name, **dist)


def install(venv, site, name, version, files=None, scripts=None, data=None, tag="py3-none-any", requires=()):
    stem = "%s-%s" % (name.replace("-", "_"), version)
    info = stem + ".dist-info"
    metadata = "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version)
    entries = {path: content(wanted) for path, wanted in (files or {}).items()}
    entries[info + "/METADATA"] = (metadata + "".join("Requires-Dist: %s\n" % one for one in requires)).encode()
    entries[info + "/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: test\nTag: %s\n" % tag).encode()
    entries[info + "/INSTALLER"] = b"pip\n"
    for path, text in (scripts or {}).items():
        entries["../../../bin/" + path] = ("#!%s/bin/python\n%s" % (venv, text)).encode()
    for path, text in (data or {}).items():
        entries["../../../" + path] = text.encode()
    rows = []
    for path, bytes_ in entries.items():
        full = os.path.normpath(os.path.join(site, path))
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(bytes_)
        if path.startswith("../../../bin/"):
            os.chmod(full, 0o755)
        digest = base64.urlsafe_b64encode(hashlib.sha256(bytes_).digest()).rstrip(b"=").decode()
        rows.append("%s,sha256=%s,%d\n" % (path, digest, len(bytes_)))
    with open(os.path.join(site, info, "RECORD"), "w") as file:
        file.write("".join(rows) + info + "/RECORD,,\n")


def remove(site, name):
    """Removes what RECORD lists, as an uninstall does."""
    for entry in os.listdir(site):
        record = os.path.join(site, entry, "RECORD")
        if entry.split("-")[0] != name.replace("-", "_") or not os.path.exists(record):
            continue
        with open(record) as file:
            paths = [os.path.normpath(os.path.join(site, line.split(",")[0])) for line in file]
        for path in [path for path in paths if os.path.exists(path)]:
            os.unlink(path)
        os.rmdir(os.path.join(site, entry))


def content(wanted):
    """A text as it is; [size, seed] as so many bytes that no other seed gives."""
    if isinstance(wanted, str):
        return wanted.encode()
    size, seed = wanted
    return random.Random(seed).getrandbits(8 * size).to_bytes(size, "little") if size else b""


if __name__ == "__main__":
    make(sys.argv[1], json.loads(sys.argv[2]))
