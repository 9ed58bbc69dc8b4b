"""What the NVIDIA driver of this host offers: asked of its own libraries, in a process of its own that may hang or die."""

import json
import re
import sys

from agent import nvidia
from agent.gates.static.system import trusted
from agent.output import output

# cuDriverGetVersion needs no device and initialises nothing.
ASK = """
import ctypes, json, os, sys
said = {}
number = ctypes.c_int()
try:
    if ctypes.CDLL(sys.argv[1]).cuDriverGetVersion(ctypes.byref(number)) == 0 and number.value:
        said["cuda"] = "%d.%d" % (number.value // 1000, number.value % 1000 // 10)
except (OSError, AttributeError) as error:
    said["error"] = str(error)
try:
    beside = sys.argv[1].rpartition("/")[0] + "/libnvidia-ml.so.1"
    nvml, text = ctypes.CDLL(beside if os.path.exists(beside) else "libnvidia-ml.so.1"), ctypes.create_string_buffer(96)
    if nvml.nvmlInit_v2() == 0:
        if nvml.nvmlSystemGetDriverVersion(text, 96) == 0: said["driver"] = text.value.decode()
        if "cuda" not in said and nvml.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(number)) == 0:
            said["cuda"] = "%d.%d" % (number.value // 1000, number.value % 1000 // 10)
        nvml.nvmlShutdown()
except (OSError, AttributeError): pass
print(json.dumps(said))
"""
SMI = re.compile(r"Driver Version: ([\d.]+).*CUDA Version: ([\d.]+)")


def ask(libcuda):
    """{cuda, driver, error}, what is known of them: the CUDA that the driver offers, its own version, why it could not be asked.

    libcuda: the file that the service would load, or None. The service's environment is not taken over: its LD_LIBRARY_PATH would reach our
    own interpreter.
    """
    if libcuda is None:
        return _smi()
    if not trusted(libcuda):
        return dict(
            {"error": "%s can be written by others than root, so it was not loaded to be asked" % libcuda}, **_smi()
        )
    said = output([sys.executable, "-I", "-S", "-c", ASK, libcuda], nvidia.SECONDS, {})
    try:
        found = json.loads(said)
    except ValueError:
        found = {"error": "%s did not answer within %d s" % (libcuda, nvidia.SECONDS)}
    return found if "cuda" in found else dict(_smi(), **found)


def _smi():
    match = SMI.search(nvidia.smi())
    return {"driver": match.group(1), "cuda": match.group(2)} if match else {}
