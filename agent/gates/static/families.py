"""Which libraries belong to the driver, to CUDA and to torch, and which distributions bring them."""

import glob
import os
import re

# Put there by the driver's installation (or a container's runtime), never by a distribution.
DRIVER = re.compile(r"lib(cuda|nvcuvid|nvidia-[\w-]+|nvoptix|cudadebugger)\.so(\.\d+)?$")
TORCH = re.compile(r"lib((torch|c10|caffe2)(_\w+)?|shm)\.so$")
# Stem: (distribution without its CUDA suffix, {major of the soname: major of CUDA}; none: the same number).
SAME = None
CUDA = {
    "libcudart": ("nvidia-cuda-runtime", SAME),
    "libnvrtc": ("nvidia-cuda-nvrtc", SAME),
    "libnvrtc-builtins": ("nvidia-cuda-nvrtc", SAME),
    "libnvJitLink": ("nvidia-nvjitlink", SAME),
    "libcupti": ("nvidia-cuda-cupti", SAME),
    "libcublas": ("nvidia-cublas", SAME),
    "libcublasLt": ("nvidia-cublas", SAME),
    "libcufft": ("nvidia-cufft", {"10": "11", "11": "12", "12": "13"}),
    "libcusolver": ("nvidia-cusolver", {"11": "12", "12": "13"}),
    "libcurand": ("nvidia-curand", {}),
    "libcusparse": ("nvidia-cusparse", {}),
    "libcufile": ("nvidia-cufile", {}),
    "libcudnn": ("nvidia-cudnn", {}),
    "libnccl": ("nvidia-nccl", {}),
    "libcusparseLt": ("nvidia-cusparselt", {}),
    "libnvshmem_host": ("nvidia-nvshmem", {}),
    "libnvToolsExt": ("nvidia-nvtx", {"1": "12"}),
}
# These have the CUDA major in their names to this day; the others dropped it with CUDA 13.
ALWAYS_SUFFIXED = frozenset(["nvidia-cudnn", "nvidia-nccl", "nvidia-cusparselt", "nvidia-nvshmem"])
SONAME = re.compile(r"(lib[\w-]+)\.so(?:\.(\d+))?")
TOOLKITS = (
    "/usr/local/cuda*/lib64",
    "/usr/local/cuda*/targets/*/lib",
    "/opt/cuda*/lib64",
    "/usr/lib/*-linux-gnu/nvidia*",
)


def of_driver(soname):
    return bool(DRIVER.match(soname))


def of_torch(soname):
    return bool(TORCH.match(soname))


def of_cuda(soname):
    match = SONAME.match(soname)
    return bool(match and match.group(1) in CUDA)


def cuda_major(soname):
    """The CUDA major that a soname is of (`13`), or None where the soname does not tell."""
    match = SONAME.match(soname)
    known = CUDA.get(match.group(1)) if match else None
    if known is None or match.group(2) is None:
        return None
    return match.group(2) if known[1] is SAME else known[1].get(match.group(2))


def distribution(soname, cuda=None):
    """The distribution that brings a soname, for a CUDA major where the soname does not tell; None when that is not known."""
    if of_torch(soname):
        return "torch"
    match = SONAME.match(soname)
    known = CUDA.get(match.group(1)) if match else None
    if known is None:
        return None
    major = cuda_major(soname) or cuda
    if major and (known[0] in ALWAYS_SUFFIXED or int(major) < 13):
        return "%s-cu%s" % (known[0], major)
    return known[0]


def host_libraries():
    """{file name: path} of the usual places of a CUDA toolkit on this host, the first of each name."""
    found = {}
    for place in TOOLKITS:
        for folder in sorted(glob.glob(place)):
            for name in os.listdir(folder):
                if ".so" in name:
                    found.setdefault(name, os.path.join(folder, name))
    return found
