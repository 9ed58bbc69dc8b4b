"""What is known of one host: `host.json` in a folder of its own, with its key, log and socket beside it."""

import dataclasses
import json
import os
import re
from pathlib import Path
from typing import Optional

from settings import HOSTS

# Network devices are named after the host, and have 15 characters.
NAME = re.compile(r"[a-z][a-z0-9-]{0,9}")


@dataclasses.dataclass(frozen=True)
class Record:
    name: str
    address: str
    # `systemd`, or `container`: no systemd, sshd is all that runs.
    kind: str
    venv: Optional[str]
    wheels: Optional[str]
    # The host ends when this process does; None: when it is told to.
    owner: Optional[int]
    machine_id: str

    @property
    def folder(self):
        return HOSTS / self.name

    @property
    def root(self):
        """Where the host's tree is mounted; only its keeper and what the keeper starts see it there."""
        return self.folder / "mnt"

    def save(self):
        self.folder.mkdir(parents=True)
        beside = self.folder / f"host.json.{os.getpid()}"
        beside.write_text(json.dumps(dataclasses.asdict(self), indent=1) + "\n")
        beside.rename(self.folder / "host.json")

    def keeper(self):
        """Pid of the process that keeps the host, or None when nobody does."""
        try:
            pid = int((self.folder / "pid").read_text())
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError):
            return None
        # The process may have been replaced by another of the same pid.
        ours = any(word.endswith(b"/keeper.py") for word in words) and self.name.encode() in words
        return pid if ours else None


def load(name):
    """The record of one host, or None when there is none of that name."""
    try:
        return Record(**json.loads((HOSTS / name / "host.json").read_text()))
    except FileNotFoundError:
        return None


def all_records():
    names = sorted(path.parent.name for path in HOSTS.glob("*/host.json"))
    return [record for record in map(load, names) if record]
