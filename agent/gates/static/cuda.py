"""One CUDA major in one process: torch, the nvidia distributions, the kernels, and the driver."""

import re

from agent.gates.static import driver, families, missing, needed
from agent.gates.static.finding import Finding

SUFFIX = re.compile(r"^nvidia-[a-z0-9-]+-cu(\d\d)$")
# Named without a suffix since CUDA 13: their own version is CUDA's.
UNSUFFIXED = frozenset(
    ["nvidia-cuda-runtime", "nvidia-cuda-nvrtc", "nvidia-cublas", "nvidia-cuda-cupti", "nvidia-nvjitlink"]
)
# Both kinds are installed side by side on purpose, and pick the one that fits.
BOTH = re.compile(r"^nvidia-cutlass-dsl")


def findings(tree, owners, laid, changed, torch):
    """([Finding], note). torch: its version; the driver is asked where torch is built for CUDA."""
    if tree.cuda is None:
        return [], "torch is not built for CUDA" if torch else "no torch here"
    major = tree.cuda.split(".")[0]
    found = _distributions(owners, laid, major, torch, tree.cuda) + _kernels(tree, owners, changed, major, torch)
    wanted = needed.driver_wanted(tree)
    process = tree.process.fork()
    libcuda = process.dlopen("libcuda.so.1").root
    said = driver.ask(libcuda and libcuda.path)
    if "cuda" not in said:
        if libcuda is None and "driver" not in said:
            return found, "no driver here, not checked%s" % (" (%s)" % ", ".join(wanted) if wanted else "")
        why = "the driver's version cannot be asked: %s" % said.get("error", "no answer")
        return found + [Finding(("driver", "", "cuda"), None, why, False)], "driver %s" % said.get("driver", "unknown")
    note = "torch %s for CUDA %s; driver %soffers CUDA %s%s" % (
        torch,
        tree.cuda,
        said["driver"] + " " if "driver" in said else "",
        said["cuda"],
        " (%s)" % libcuda.path if libcuda else "",
    )
    return found + _driver(tree, changed, torch, said, libcuda), note


def _driver(tree, changed, torch, said, libcuda):
    offered, wanted = ([int(part) for part in text.split(".")[:2]] for text in (said["cuda"], tree.cuda))
    if offered >= wanted:
        return []
    version = "driver %s" % said["driver"] if "driver" in said else libcuda.path if libcuda else "the driver"
    text = "%s offers CUDA %s, torch %s is for CUDA %s" % (version, said["cuda"], torch, tree.cuda)
    if offered[0] == wanted[0]:
        # Within one major, CUDA promises that older drivers do, except for PTX that was compiled by a newer one.
        return [
            Finding(
                ("driver", "", "minor"), None, text + ": code that has to be compiled at run time may be refused", False
            )
        ]
    laid = any(tree.shown(tree.path(one)).startswith("torch/") for one in changed)
    return [
        Finding(
            ("driver", "", "major"),
            None,
            text + "; install a newer driver, or lay a torch for CUDA %d" % offered[0],
            laid,
        )
    ]


def _distributions(owners, laid, major, torch, cuda):
    found = []
    for dist in owners.installed:
        match = SUFFIX.match(dist.name)
        its = match.group(1) if match else dist.version.split(".")[0] if dist.name in UNSUFFIXED else None
        if its and its != major and dist.name in laid and not BOTH.match(dist.name):
            text = "%s %s is for CUDA %s, torch %s is for CUDA %s" % (dist.name, dist.version, its, torch, cuda)
            found.append(Finding(("cuda", dist.name, its), None, text, False))
    return found


def _kernels(tree, owners, changed, major, torch):
    """Changed files that found a runtime of another major: two runtimes in one process can work, and that they do is worth a line."""
    found = []
    for relative in sorted(changed):
        opened = tree.is_root(relative) and tree.opened(relative)
        lacking = {name for _library, name, _reason in opened[1].missing} if opened else set()
        for soname in tree.elf(relative).needed if opened else []:
            its = families.cuda_major(soname)
            if its and its != major and soname not in lacking:
                by = tree.shown(tree.path(relative))
                path = opened[0].named(soname).path
                text = "%s uses %s of CUDA %s (%s), torch %s is for CUDA %s: two CUDA runtimes in one process" % (
                    missing.described(owners, by),
                    soname,
                    its,
                    path,
                    torch,
                    tree.cuda,
                )
                found.append(Finding(("cuda", by, soname), None, text, False))
    return found
