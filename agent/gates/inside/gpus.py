"""The GPUs that torch sees in the service's environment, against those that are declared and those that its flags need.

Counting asks the driver only: no memory of a GPU is taken, so that a server that runs there does not notice.
"""

import os
import sys

from . import standin

# Each rank of these has a GPU of its own.
RANKS = (("--tp-size", "--tensor-parallel-size", "--tp"), ("--pp-size", "--pipeline-parallel-size", "--pp"))


def run(args):
    """(problems, note)."""
    device = value(args, ("--device",))
    if device not in (None, "auto", "cuda"):
        return [], "not counted: --device %s" % device
    torch = sys.modules.get("torch")
    count = getattr(getattr(torch, "cuda", None), "device_count", None)
    if isinstance(torch, standin.StandIn) or not callable(count):
        return [], "not counted: nothing imported torch"
    try:
        seen = int(count())
    except BaseException as error:  # a driver that does not answer is for the other gates to say
        return [], "not counted: %s: %s" % (type(error).__name__, error)
    return problems(seen, os.environ.get("CUDA_VISIBLE_DEVICES"), args), "torch sees %s" % gpus(seen)


def problems(seen, visible, args):
    """visible: CUDA_VISIBLE_DEVICES, None where it is not set."""
    found = []
    declared = None if visible is None else [name for name in visible.split(",") if name.strip()]
    if declared is not None and len(declared) != seen:
        found.append("torch sees %s, declared: %d (CUDA_VISIBLE_DEVICES=%s)" % (gpus(seen), len(declared), visible))
    told, need = ranks(args)
    have = seen if declared is None else len(declared)
    if have and need > have:
        found.append("%s takes %s, and the service sees %d" % (" ".join(told), gpus(need), have))
    return found


def ranks(args):
    """(the flags that say it, how many GPUs of this host they need)."""
    told, need = [], 1
    for names in RANKS:
        number = whole(value(args, names))
        if number is not None:
            told.append("%s %d" % (names[0], number))
            need *= number
    nodes = whole(value(args, ("--nnodes",))) or 1
    return told, need // nodes


def value(args, names):
    """The value of a flag that goes by any of these names; the last one counts. None where it is not given."""
    found = None
    for at, arg in enumerate(args):
        name, equals, inline = arg.partition("=")
        if name in names:
            found = inline if equals else args[at + 1] if at + 1 < len(args) else None
    return found


def whole(text):
    return int(text) if text is not None and text.isdigit() else None


def gpus(count):
    return "%d GPU%s" % (count, "" if count == 1 else "s")
