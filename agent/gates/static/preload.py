"""What is loaded before an extension is: the program's libraries, then what torch and SGLang's kernel package open by themselves.

A library that was loaded once answers for its soname from then on, so kernels without a search path find torch's CUDA in this way.
The order of imports other than torch's is not known here: torch is taken to come first, as SGLang has it.
"""

import glob
import os
import re
import shutil

GLOBAL_DEPS = "torch/lib/libtorch_global_deps.so"
# `"cublas": "libcublas.so.*[0-9]"` of older versions, `("cublas", "libcublas.so.*[0-9]")` of newer ones.
TABLE = re.compile(r"""["'](\w+)["']\s*[:,]\s*["'](lib\w+(?:-\w+)?\.so\.\*\[0-9\])["']""")
BEST_EFFORT = re.compile(r"_preload_cuda_deps\(\s*required=False\s*\)")
ALONE = re.compile(r"""^ +_preload_cuda_(?:deps|lib)\(\s*["'](\w+)["'],\s*["'](lib[^"']+)["']""", re.M)


def python_core(process):
    """The library that opens extensions: libpython where the program is only a shell around it."""
    return next((one for one in process.loaded if os.path.basename(one.path).startswith("libpython")), process.main)


def import_torch(process, site, cuda):
    """Does to a process what `import torch` does; [Opened], those of failed steps with what is missing. cuda: `13.0` or None."""
    path = os.path.join(site, GLOBAL_DEPS)
    modules = sorted(glob.glob(os.path.join(glob.escape(site), "torch", "_C*.so")))
    if not os.path.exists(path) or not modules:
        return []
    core, text = python_core(process), _source(site)
    wanted = [(folder, name) for folder, name in TABLE.findall(text)]
    attempt = process.fork().dlopen(path, core, wide=True)
    if attempt.failed:
        _each(process, site, wanted, cuda, core)
    done = [process.dlopen(path, core, wide=True)]
    if not attempt.failed and process.named_like("libcudart.so"):
        _each(process, site, wanted if BEST_EFFORT.search(text) else ALONE.findall(text), cuda, core)
    return done + [process.dlopen(modules[0], core)]


def import_kernels(process, environment, cuda):
    """What `sgl_kernel` opens before its own libraries: a CUDA runtime of the host, by its path."""
    home = environment.get("CUDA_HOME") or environment.get("CUDA_PATH")
    if home is None:
        nvcc = shutil.which("nvcc", path=environment.get("PATH", os.defpath))
        home = os.path.dirname(os.path.dirname(nvcc)) if nvcc else "/usr/local/cuda"
    folders = [
        home + "/lib",
        home + "/lib64",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
    ]
    for folder in folders:
        for major in dict.fromkeys([(cuda or "12").split(".")[0], "13", "12"]):
            path = "%s/libcudart.so.%s" % (folder, major)
            if os.path.exists(path) and not process.fork().dlopen(os.path.realpath(path), python_core(process)).failed:
                process.dlopen(os.path.realpath(path), python_core(process), wide=True)
                return


def _each(process, site, wanted, cuda, core):
    for folder, name in wanted:
        found = _places(site, folder, name, cuda)
        if found and not process.fork().dlopen(found[0], core).failed:
            process.dlopen(found[0], core)


def _places(site, folder, name, cuda):
    parts = (
        [("nvidia", folder, "lib")]
        + ([("nvidia", "cu" + cuda.split(".")[0], "lib")] if cuda else [])
        + [(folder, "lib")]
    )
    return [path for part in parts for path in glob.glob(os.path.join(glob.escape(os.path.join(site, *part)), name))]


def _source(site):
    try:
        with open(os.path.join(site, "torch", "__init__.py"), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
