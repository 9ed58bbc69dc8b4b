"""Which distribution would bring a module, and who wants it: from the metadata of what is installed."""

import re
from importlib import metadata

# Modules whose distribution has another name. Only those that SGLang or its dependencies import.
ALIASES = {
    "attr": ["attrs"],
    "cuda": ["cuda-python", "cuda-bindings"],
    "cv2": ["opencv-python", "opencv-python-headless"],
    "cutlass": ["nvidia-cutlass-dsl"],
    "dateutil": ["python-dateutil"],
    "decord": ["decord2", "decord"],
    "deep_ep": ["sgl-deep-ep", "deep-ep"],
    "deep_gemm": ["sgl-deep-gemm", "deep-gemm"],
    "flash_mla": ["sgl-flash-mla"],
    "flashinfer": ["flashinfer-python"],
    "google": ["protobuf"],
    "grpc": ["grpcio"],
    "multipart": ["python-multipart"],
    "PIL": ["pillow"],
    "pynvml": ["nvidia-ml-py"],
    "sgl_kernel": ["sglang-kernel", "sgl-kernel"],
    "sklearn": ["scikit-learn"],
    "tvm_ffi": ["apache-tvm-ffi"],
    "yaml": ["pyyaml"],
    "zmq": ["pyzmq"],
}


def normal(name):
    """A distribution name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def candidates(module):
    """The names under which a distribution could bring this top-level module, best first."""
    return [normal(module)] + [normal(name) for name in ALIASES.get(module, [])]


def split(requirement):
    """`flashinfer_python[cu13]==0.7.2; extra == "x"` -> (name, requirement without its marker, whether only an extra wants it)."""
    text, _, marker = requirement.partition(";")
    match = re.match(r"\s*([A-Za-z0-9._-]+)", text)
    return normal(match.group(1)) if match else "", text.strip(), "extra" in marker


def bound(requirement):
    """How closely a requirement says which version it means: 0 = pinned, 1 = bounded, 2 = any."""
    return 0 if "==" in requirement else 1 if re.search(r"[<>~!]=?", requirement) else 2


def distributions():
    """(name, version, requirements) of every distribution that this interpreter sees, the first of a name only."""
    seen = {}
    for found in metadata.distributions():
        name = found.metadata["Name"]
        if name and normal(name) not in seen:
            seen[normal(name)] = (name, found.version, list(found.requires or []))
    return seen


def wanted(module, installed=None):
    """Who wants the distribution that would bring `module` (a top-level name).

    Returns {"distribution": name, "present": version or None, "wants": [(requirement, "sglang 0.5.23")]}; what only an
    extra wants comes last; the pinned comes before the bounded, and that before the bare name.
    """
    installed = distributions() if installed is None else installed
    names = candidates(module)
    wants = []
    for name, version, requirements in installed.values():
        for requirement in requirements:
            target, text, extra = split(requirement)
            if target in names:
                wants.append((extra, names.index(target), bound(text), text, "%s %s" % (name, version), target))
    wants.sort()
    present = next((name for name in names if name in installed), None)
    best = present or (wants[0][5] if wants else names[1] if len(names) > 1 else names[0])
    return {
        "distribution": best,
        "present": installed[present][1] if present else None,
        "wants": [(text, who) for _, _, _, text, who, _ in wants],
    }


def owner(module, installed=None):
    """(name, version, requirements) of the installed distribution that a top-level module belongs to, by name, or None."""
    installed = distributions() if installed is None else installed
    return next((installed[name] for name in candidates(module) if name in installed), None)
