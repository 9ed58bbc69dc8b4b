"""What this machine's kernel gives to all hosts together, raised for as long as there are hosts."""

import contextlib
from pathlib import Path

from settings import STATE

# A systemd takes seven of them, and some more for each user; machines have 128. Without one it waits for ever, and says nothing.
INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")
WANTED = 4096
BEFORE = STATE / "inotify-instances"


def raise_limits():
    """Does nothing where the limit is high enough, or cannot be raised."""
    before = INSTANCES.read_text().strip()
    if int(before) < WANTED:
        with contextlib.suppress(OSError):
            BEFORE.write_text(before)
            INSTANCES.write_text(str(WANTED))


def restore_limits():
    """As it was, unless somebody has changed it since."""
    if BEFORE.exists() and INSTANCES.read_text().strip() == str(WANTED):
        with contextlib.suppress(OSError):
            INSTANCES.write_text(BEFORE.read_text())
    BEFORE.unlink(missing_ok=True)
