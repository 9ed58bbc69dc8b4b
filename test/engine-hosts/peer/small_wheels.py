"""Writes so many small distributions as wheels, and prints a requirement for each: small_wheels.py FOLDER COUNT"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "standin"))

from make_wheels import write_wheel

for number in range(int(sys.argv[2])):
    name = f"small{number}"
    files = {f"{name}/{module}.py": b"VALUE = 1\n" for module in ("__init__", "one", "two")}
    write_wheel(sys.argv[1], name, "1.0", files)
    print(f"{name}==1.0")
