"""A reboot in the middle of an activation: a unit that at boot puts the old files back before the service starts."""

import os

from agent.files import atomic_write, remove_file
from agent.service.decision import decide
from agent.service.detach import argv_of, detach
from agent.service.previous import Previous
from agent.service.rollback import restore
from agent.service.systemctl import Systemctl, present
from agent.service.unit import recover_text


def enable(place, job):
    """Puts the unit there; from here on a reboot ends old, not between. Nothing where there is no systemd."""
    if not manages(job):
        return
    ctl = Systemctl(user=os.geteuid() != 0)
    text = recover_text(place, argv_of(place, job, "recover"), not ctl.user)
    atomic_write(os.path.join(ctl.units, place.recover_unit), text.encode(), 0o644)
    ctl.tell("daemon-reload")
    ctl.tell("enable", place.recover_unit)


def disable(place):
    if not present():
        return
    ctl = Systemctl(user=os.geteuid() != 0)
    path = os.path.join(ctl.units, place.recover_unit)
    if os.path.exists(path):
        ctl.ask("disable", place.recover_unit)
        remove_file(path)
        ctl.ask("daemon-reload")


def manages(job):
    return present() and "systemd" in (job["spec"]["supervisor"], job["before"])


def at_boot(place, job, journal):
    """Puts the old files back when the journal says so, then lets the ordinary run do the rest beside the boot."""
    lines = journal.lines()
    what = decide(lines, journal.boot)
    if what.action == "roll-back" and not what.restored:
        journal.write("back-restore", "begin")
        restore(place, Previous(place), job["spec"])
        journal.write("back-restore", "end")
    if what.action != "nothing":
        detach(place, job)
