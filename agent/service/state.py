"""How a service stands, in the words that both supervisors share."""

import collections

#: phase: running | unkept (it runs, its keeper is gone) | starting | restarting | stopped | failed; pid and ticks of the main process, or None;
#: exit: how the last main process ended, as a sentence ("exited 1"), or None.
State = collections.namedtuple("State", "phase pid ticks restarts exit")


def ended(code, status):
    """A sentence for an exit: `code` exited | killed | dumped, `status` a number or a signal."""
    return "exited %s" % status if code == "exited" else "was ended by signal %s" % status
