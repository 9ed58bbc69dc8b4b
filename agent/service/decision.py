"""What to do with an activation, given its journal. Pure: this table is what makes a cut end old or new."""

import collections

FORWARD = ("preflight", "save", "drain", "stop", "switch", "start", "wait", "stable", "prove", "commit")
BACK = ("back-stop", "back-restore", "back-start", "back-wait", "back-prove", "back-found", "back-undo")

#: Until the first of these has begun, the old process is untouched.
POINT_OF_NO_RETURN = "stop"
#: How often a cut activation may go on forward; one that keeps dying is taken back.
RESUMES = 3

#: action: run | abort | wait | finish | roll-back | nothing; stage: where it was; drained: whether `drain` had begun;
#: restored: whether the files of before are back already.
Decision = collections.namedtuple("Decision", "action stage drained restored")


def decide(lines, boot):
    """The decision for a journal, on a machine whose boot id is `boot`."""
    begun = [line for line in lines if line["event"] == "begin"]
    if not begun:
        return Decision("run", None, False, False)
    stage = begun[-1]["stage"]
    ended = {line["stage"] for line in lines if line["event"] == "end"}
    failed = any(line["event"] == "failed" and line["stage"] in FORWARD for line in lines)
    drained = any(line["stage"] == "drain" for line in begun)
    restored = "back-restore" in ended

    def decision(action):
        return Decision(action, stage, drained, restored)

    if "result" in ended:
        return decision("nothing")
    if not any(line["stage"] == POINT_OF_NO_RETURN for line in begun):
        return decision("abort")
    if stage in BACK or failed:
        return decision("roll-back")
    if stage == "commit":
        return decision("finish")
    resumes = sum(line["event"] == "resume" for line in lines)
    if "start" in ended and begun[-1]["boot"] == boot and resumes < RESUMES:
        return decision("wait")
    return decision("roll-back")


def cause_of(lines):
    """Fields of the failure that led to a roll-back, as the journal has them; None when it was cut from outside."""
    for line in lines:
        if line["event"] == "failed" and line["stage"] in FORWARD:
            return line["fault"]
    return None
