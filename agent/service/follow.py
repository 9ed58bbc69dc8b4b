"""Follows an activation by its journal until it has ended. The activation does not know of it."""

import os
import time

from agent.fault import Fault
from agent.service.activation import at_work
from agent.service.decision import POINT_OF_NO_RETURN
from agent.service.detach import detach
from agent.service.journal import read_lines
from agent.service.working import held, result_of

POLL = 0.1
REVIVALS = 3
_NAMES = {
    "preflight": "looks whether the host is ready",
    "save": "saves what is there",
    "switch": "switches",
    "wait": "waits until it is ready",
    "stable": "watches whether it stays",
    "prove": "proves what runs",
    "commit": "commits",
    "back-restore": "puts the old files back",
    "back-wait": "waits for the old server",
    "back-prove": "proves the old server",
    "back-found": "brings back the server that was found there",
}


def follow(request, place, job):
    """Its result. Says where it stands; starts it again when nobody works on it any more. A cancel is carried over to it, or, when
    it is too late for that, ends the following only: Fault `goes-on`."""
    seen, revivals = 0, 0
    while True:
        lines = read_lines(place.activation("journal.jsonl"))
        for line in lines[seen:]:
            tell(request, line)
        seen = len(lines)
        result = result_of(place, job)
        if result is not None:
            settle(place, job)
            return result
        if request.cancelled():
            cancel(place, lines)
        if not at_work(place, job):
            if revivals == REVIVALS:
                raise Fault(
                    "interrupted",
                    "the activation of %s ends again and again without a result" % place.name,
                    where=place.activation("journal.jsonl"),
                    remedy="run the same command again; read the journal if that does not help",
                )
            revivals += 1
            detach(place, job)
        time.sleep(POLL)


def settle(place, job):
    """Waits until the activation has cleared away what only it needed, and lets go."""
    end = time.monotonic() + 15
    while held(place) and time.monotonic() < end:
        time.sleep(0.05)


def tell(request, line):
    if line["event"] == "says":
        request.progress(line["text"], stage=line["stage"])
    elif line["event"] == "begin" and line["stage"] in _NAMES:
        request.progress(_NAMES[line["stage"]], stage=line["stage"])


def cancel(place, lines):
    """Asks for an end; it is heeded as long as nothing was stopped."""
    begun = [line["stage"] for line in lines if line["event"] == "begin"]
    if POINT_OF_NO_RETURN in begun:
        raise Fault(
            "goes-on",
            "service %s goes on by itself until the new or the old server serves: the old one was stopped already"
            % place.name,
            stage=begun[-1],
            where=place.activation("journal.jsonl"),
            remedy="run `pulumi up` again: it follows to the end, and then says what is there",
        )
    os.close(os.open(place.activation("cancel"), os.O_WRONLY | os.O_CREAT, 0o600))
