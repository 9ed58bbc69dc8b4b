"""The journal of one activation: a line per event, on the disk before the event's consequences."""

import json
import os
import time


def boot_id():
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


class Journal:
    """Appends to and reads `journal.jsonl`.

    Events: begin, end, failed of a stage; says (a text for who follows); resume (the activation goes on after it was cut).
    """

    def __init__(self, path):
        self.path = path
        self.boot = boot_id()

    def write(self, stage, event, **more):
        """One line, synced. A line that a crash has torn does not swallow the next."""
        line = json.dumps(dict(more, at=round(time.time(), 3), boot=self.boot, stage=stage, event=event))
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            size = os.fstat(file).st_size
            torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
            os.write(file, (("\n" if torn else "") + line + "\n").encode())
            if event != "says":
                os.fsync(file)
        finally:
            os.close(file)

    def lines(self):
        return read_lines(self.path)


def read_lines(path):
    """The lines of a journal as dicts; torn ones are left out. [] when there is none."""
    try:
        with open(path, "rb") as file:
            raw = file.read().split(b"\n")
    except OSError:
        return []
    found = []
    for line in raw:
        try:
            found.append(json.loads(line.decode("utf-8")))
        except ValueError:
            continue
    return [line for line in found if isinstance(line, dict)]
