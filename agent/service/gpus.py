"""Whether the GPUs that a service is to see are there, and free or its own."""

import time

from agent import nvidia
from agent.fault import Fault
from agent.service import proc
from agent.service.ports import service_of


def gpus(place, spec, ours):
    """Faults `no-gpu` and `gpu-held` about the GPUs of CUDA_VISIBLE_DEVICES; none where that is not set or nothing can be asked.

    `ours`: pids of the process that is to be replaced, which may hold them.
    """
    names = [name.strip() for name in spec["environ"].get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    cards = nvidia.rows("--query-gpu=index,uuid,name") if names else []
    if not cards:
        return []
    found = {name: _card(name, cards, spec["environ"]) for name in names}
    problems = [_absent(name, cards) for name in names if name.isdigit() and int(name) >= len(cards)]
    wanted = {uuid: name for name, uuid in found.items() if uuid is not None}
    if spec.get("shareGpus") or not wanted:
        return problems
    return problems + [_held(place, wanted[uuid], apps) for uuid, apps in _holders(wanted, ours).items()]


def _card(name, cards, environ):
    """The uuid of a GPU by its number or (shortened) uuid; None when that cannot be told."""
    # CUDA numbers the fastest first unless told otherwise, nvidia-smi by the bus: only among equals that is the same.
    alike = len({card[2] for card in cards}) == 1 or environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    for index, uuid, _ in cards:
        if (alike and name == index) or (name.startswith("GPU-") and uuid.startswith(name)):
            return uuid
    return None


def _holders(wanted, ours):
    """{uuid: [(pid, memory)]} of those that others hold. What is just ending gets a second."""
    for last in (False, True):
        found = {}
        for pid, memory, uuid in nvidia.rows("--query-compute-apps=pid,used_memory,gpu_uuid"):
            if uuid in wanted and pid.isdigit() and int(pid) not in ours:
                found.setdefault(uuid, []).append((int(pid), memory))
        if last or all(proc.alive(pid) for apps in found.values() for pid, _ in apps):
            return found
        time.sleep(1)
    return found


def _held(place, name, apps):
    who = ", ".join("%s with %s" % (proc.describe(pid), memory) for pid, memory in apps)
    service = service_of(place, [pid for pid, _ in apps])
    end = "stop service `%s` first" % service if service else "end that process if it may end"
    return Fault(
        "gpu-held",
        "GPU %s is held by %s" % (name, who),
        where="GPU %s" % name,
        found=who,
        expected="a GPU that nobody else uses",
        remedy="%s, choose other `gpus`, or set `shareGpus: true` if both fit in its memory" % end,
    )


def _absent(name, cards):
    return Fault(
        "no-gpu",
        "there is no GPU %s on this host: it has %s" % (name, ", ".join(card[0] for card in cards)),
        where="GPU %s" % name,
        found=", ".join("%s (%s)" % (card[0], card[2]) for card in cards),
        expected="GPU %s" % name,
        remedy="correct `gpus`",
    )
