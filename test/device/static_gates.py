"""Runs the gates on a release made of this machine's own torch. See static_gates.sh."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from agent.fault import Fault
from agent.files import write_json
from agent.gates import report, service
from agent.gates.static import gate, owners
from agent.gates.static.changes import Changes
from agent.gates.static.elf import Elf
from agent.gates.static.tree import tree_of
from agent.request import Request
from agent.venv import interpreter, manifest, tree
from test.agent.libraries import made_facts, named
from test.agent.maps import predicted, replay, traced

KERNEL = "probe_kernel/common_ops.abi3.so"
# Opened as kernels are: by its path, after torch. What it computes is how many GPUs the runtime counts.
PACKAGE = """
import ctypes, os
import torch
ops = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "common_ops.abi3.so"))
count = ctypes.c_int(-1)
assert ops.devices(ctypes.byref(count)) == 0, "the CUDA runtime cannot count the devices"
"""
SERVE = """
import torch
import probe_kernel

if __name__ == "__main__":
    raise SystemExit("served")
"""
RIGHT, WRONG = "as expected", "NOT AS EXPECTED"
ASSERTS = [
    "torch.cuda.is_available()",
    "__import__('probe_kernel').count.value == torch.cuda.device_count() >= 1",
    "float((torch.ones(64, 64, device='cuda') @ torch.ones(64, 64, device='cuda')).sum()) == 64.0 ** 3",
]


class Machine:
    """A base and a release whose files are links to those of the venv that runs this; layers replace links by files."""

    def __init__(self):
        self.venv = sys.prefix
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="static-gates-"))
        self.base = os.path.join(self.top, "venvs", "v", "base-b")
        self.release = os.path.join(self.top, "venvs", "v", "releases", "r")
        for prefix in (self.base, self.release):
            os.makedirs(os.path.dirname(prefix), exist_ok=True)
            subprocess.check_call(["cp", "-as", os.path.realpath(self.venv), prefix])
            os.unlink(os.path.join(prefix, "pyvenv.cfg"))
            shutil.copy(os.path.join(self.venv, "pyvenv.cfg"), prefix)
            manifest.write(manifest.beside(prefix), tree.lines(prefix))
        self.site = interpreter.site_packages(self.release)
        self.work = os.path.join(self.top, "work")
        os.makedirs(self.work)
        self.env = {"PATH": os.environ["PATH"], "HOME": self.top}
        self.env.update({name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"})

    def write(self, prefix, path, text):
        place = os.path.join(prefix, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.lexists(place):
            os.unlink(place)
        with open(place, "w") as file:
            file.write(text)

    def kernel(self, cudart, symbol, call="cudaGetDeviceCount"):
        """The layer: a package whose kernel is linked with a CUDA runtime and with this torch, and wants one symbol of c10."""
        source = os.path.join(self.top, "kernel.c")
        with open(source, "w") as file:
            file.write(
                "extern int %s(int *); extern char %s;\nvoid *wanted(void) { return &%s; }\nint devices(int *n) { return %s(n); }\n"
                % (call, symbol, symbol, call)
            )
        path = os.path.join(self.site, KERNEL)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        torch = os.path.join(self.site, "torch", "lib")
        libraries = [cudart, torch + "/libc10.so", torch + "/libtorch_cpu.so"]
        flags = ["-Wl,--no-as-needed,--allow-shlib-undefined"]
        subprocess.check_call(["gcc", "-w", "-shared", "-fPIC", "-o", path, source] + flags + libraries)
        self.write(self.site, "probe_kernel/__init__.py", PACKAGE)
        self.write(self.site, "probe_serve.py", SERVE)
        files = [KERNEL, "probe_kernel/__init__.py", "probe_serve.py"]
        self.write(
            self.site,
            "probe_kernel-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: probe-kernel\nVersion: 1.0\n",
        )
        self.write(self.site, "probe_kernel-1.0.dist-info/RECORD", "".join("%s,,\n" % one for one in files))

    def candidate(self):
        site = os.path.relpath(self.site, self.release)
        facts = dict(made_facts(site), base="base-b", laid={"probe-kernel": "1.0"})
        write_json(self.release + ".json", facts)
        manifest.write(manifest.beside(self.release), tree.lines(self.release))
        gates = {"imports": ["torch", "probe_kernel"], "asserts": ASSERTS, "flags": False, "timeout": 240}
        python = os.path.join(self.release, "bin", "python")
        where = {"release": self.release, "site": self.site, "python": python, "cwd": self.work}
        process = {"env": self.env, "module": "probe_serve", "args": [], "user": None, "group": None, "limits": {}}
        return dict(process, gates=gates, **where)


def check(machine):
    """(gates, problems) of the candidate as it is now."""
    try:
        return service.check(Request({"root": machine.top}), machine.candidate())["gates"], []
    except Fault as fault:
        return fault.more["gates"], ["%s: %s" % (one["gate"], one["text"]) for one in fault.more["problems"]]


def maps(machine, code):
    """The model against /proc/self/maps of a real process."""
    candidate = machine.candidate()
    python, libraries = candidate["python"], Changes(machine.release).libraries
    ours = tree_of(machine.release, machine.site, python, candidate, libraries)
    bare = tree_of(machine.release, "/nowhere", python, candidate, [], ours.system)
    mapped, opened = traced(python, code, candidate["env"])
    process, refused = replay(bare.process, opened)
    difference = sorted(predicted(process) ^ mapped)
    early = sorted(predicted(ours.process) - mapped)
    print("`%s`" % code)
    print(
        "%d dlopens, %d objects mapped; the loader says where it looks: %s"
        % (len(opened), len(mapped), ours.system.exact)
    )
    print("refused as predicted: %s" % (", ".join(sorted(set(refused))) or "none"))
    for path in difference:
        print("   %s %s" % ("only mapped:" if path in mapped else "only predicted:", path))
    for path in early:
        print("   torch was predicted to load, and did not: %s" % path)
    return WRONG if difference + early else RIGHT


def everything(machine):
    """All files of this machine's venv taken as changed: what the gates would say of a foreign environment. For reading, not judged."""

    class All(Changes):
        def __init__(self, release):
            Changes.__init__(self, release)
            self.changed, self.base = set(self.libraries), None
            self.laid = {dist.name: dist.version for dist in owners.Owners(machine.site).installed}

    kept, gate.Changes = gate.Changes, All
    started = time.monotonic()
    results = gate.check(machine.candidate())
    gate.Changes = kept
    print("\n".join(report.table(results) + ["%.1f s" % (time.monotonic() - started)]))
    return "read it"


def run(machine):
    """The rows of the last table. A scenario that breaks is a row too, and the next one follows."""
    c10 = os.path.join(machine.site, "torch", "lib", "libc10.so")
    symbol = min(one for one in Elf(c10).symbols()[0] if one.startswith(b"_ZN3c10") and b"." not in one).decode()
    runtime = _runtime(machine, "libcudart.so." + owners.torch(machine.site)[1].split(".")[0])
    fake = named(os.path.join(machine.top, "fake"), "libcudart.so.12", ["cudaGetDeviceCount"])
    more = [
        one
        for one in ("torchvision", "torchaudio", "triton", "numpy")
        if os.path.isdir(os.path.join(machine.site, one))
    ]
    gone = "wants libcudart.so.12, which the loader finds nowhere; built for CUDA 12"
    done = []
    for name, act in (
        ("maps after importing torch", lambda: maps(machine, "import torch")),
        ("maps after importing more", lambda: maps(machine, "import " + ", ".join(["torch"] + more))),
        ("all of it as if it were new", lambda: everything(machine)),
        ("a kernel for this torch and its CUDA", lambda: kernel(machine, runtime, symbol, [])),
        ("the same, linked with libcudart.so.12", lambda: kernel(machine, fake, symbol, [gone])),
        (
            "a kernel for another torch",
            lambda: kernel(machine, runtime, "_ZN3c104cuda11NoSuchThingEa", ["c10::cuda::NoSuchThing"]),
        ),
        ("a torch that wants a newer driver", lambda: newer(machine, runtime, symbol)),
    ):
        started = time.monotonic()
        print("\n== %s" % name)
        try:
            result = act()
        except Exception:
            traceback.print_exc(file=sys.stdout)
            result = "BROKEN"
        done.append((name, result, "%.1f s" % (time.monotonic() - started)))
    return done


def kernel(machine, runtime, symbol, expected):
    """The gates with one kernel laid; each expected text is in one problem of the static gates, and they have no other."""
    machine.kernel(runtime, symbol)
    gates, problems = check(machine)
    static = [one for one in problems if one.split(":")[0] in gate.NAMES]
    print("\n".join(report.table(gates)))
    right = len(static) == len(expected) and all(any(text in one for one in static) for text in expected)
    return RIGHT if right and bool(problems) == bool(expected) else WRONG


def newer(machine, runtime, symbol):
    """torch/version.py of a CUDA that no driver offers yet: only said, for no layer brought that torch's libraries."""
    machine.kernel(runtime, symbol)
    place = os.path.join(machine.site, "torch", "version.py")
    with open(place) as file:
        text = file.read()
    asked = owners.torch(machine.site)[1]
    machine.write(machine.site, "torch/version.py", text.replace("'%s'" % asked, "'99.0'"))
    results = gate.check(machine.candidate())
    machine.write(machine.site, "torch/version.py", text)
    print("\n".join(report.table(results)))
    told = any("offers CUDA" in one and "is for CUDA 99.0" in one for result in results for one in result["warnings"])
    return RIGHT if told else WRONG


def _runtime(machine, name):
    for folder, _folders, names in os.walk(machine.site):
        if name in names and "/torch" not in folder[len(machine.site) :]:
            return os.path.join(folder, name)
    raise SystemExit("no %s in %s" % (name, machine.site))


def main():
    if shutil.which("gcc") is None or not os.path.exists(os.path.join(sys.prefix, "pyvenv.cfg")):
        print("this machine lacks gcc, or %s is no venv" % sys.prefix)
        return 3
    started, machine = time.monotonic(), Machine()
    torch = "torch %s for CUDA %s" % owners.torch(machine.site)
    print(
        "python %s in %s, %s; links made in %.1f s"
        % (sys.version.split()[0], sys.prefix, torch, time.monotonic() - started)
    )
    try:
        done = run(machine)
    finally:
        shutil.rmtree(machine.top)
    print("\n%-42s  %-16s  %s" % ("scenario", "result", "time"))
    for row in done:
        print("%-42s  %-16s  %s" % row)
    return 1 if any(row[1] in (WRONG, "BROKEN") for row in done) else 0


if __name__ == "__main__":
    sys.exit(main())
