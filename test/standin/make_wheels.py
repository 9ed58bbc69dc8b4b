"""Writes the stand-in distributions as wheels, the same bytes each time.

make_wheels.py OUT      prints one path per line
"""

import base64
import hashlib
import os
import sys
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "src"

# Distribution, its version, its top-level package, what it requires, and its console scripts.
DISTRIBUTIONS = [
    ("sglang", "0.5.23+standin", "sglang", ["pybase64"], {"sglang": "sglang.cli.main:main"}),
    ("sgl-kernel", "0.4.0+standin", "sgl_kernel", [], {}),
    ("pybase64", "1.4.2+standin", "pybase64", [], {}),
]


def package_files(package):
    """Path in the wheel => bytes, for each Python file of a package below `src`."""
    found = sorted((SOURCE / package).rglob("*.py"))
    return {path.relative_to(SOURCE).as_posix(): path.read_bytes() for path in found}


def write_wheel(out, name, version, files, requires=(), scripts=None):
    """Writes one pure wheel of `files` (path => bytes) below `out` and returns its path."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", "Requires-Python: >=3.9"]
    metadata += [f"Requires-Dist: {requirement}" for requirement in requires]
    entries = dict(files)
    entries[f"{info}/METADATA"] = "\n".join([*metadata, ""]).encode()
    entries[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: standin\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    if scripts:
        lines = ["[console_scripts]", *(f"{script} = {target}" for script, target in scripts.items()), ""]
        entries[f"{info}/entry_points.txt"] = "\n".join(lines).encode()
    record = [f"{path},sha256={digest(data)},{len(data)}" for path, data in entries.items()]
    entries[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    wheel = Path(out) / f"{stem}-py3-none-any.whl"
    beside = wheel.with_suffix(f".{os.getpid()}")
    with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in entries.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    beside.rename(wheel)
    return wheel


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def make_wheels(out):
    """Writes all stand-ins into the directory `out`, made if needed; returns their paths."""
    Path(out).mkdir(parents=True, exist_ok=True)
    return [
        write_wheel(out, name, version, package_files(package), requires, scripts)
        for name, version, package, requires, scripts in DISTRIBUTIONS
    ]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for path in make_wheels(sys.argv[1]):
        print(path)
