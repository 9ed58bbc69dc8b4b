"""What was there before an activation: kept until it has ended, and put back if it fails."""

import os
import shutil

from agent.files import atomic_write, read_json, remove_file, write_json
from agent.service import proc
from agent.service.supervisors import supervisor
from agent.service.systemctl import Systemctl, present
from agent.tidy import remove_tree

#: Bytes for the files of before, a journal and the first lines of a log.
ROOM = 4 << 20


class Previous:
    """The files of `activation/previous/`."""

    def __init__(self, place):
        self.place = place

    def facts(self):
        """What `save` found; `supervisor` is None when there was no service before."""
        return read_json(self.place.previous("saved.json"))

    def spec(self):
        """The spec that ran before, or None."""
        return read_json(self.place.previous("spec.json"))

    def current(self):
        """The wish that was committed before, or None."""
        return read_json(self.place.previous("current.json"))

    def save(self):
        """Copies everything that `switch` will replace. What an earlier, cut save left goes first."""
        remove_tree(self.place.previous())
        os.makedirs(self.place.previous(), 0o700)
        spec = read_json(self.place.spec)
        keep_room(self.place.reserve)
        files = {os.path.basename(path): keep(path, self.place.previous()) for path in self.files()}
        state = supervisor(self.place, spec["supervisor"]).state() if spec else None
        write_json(
            self.place.previous("saved.json"),
            {
                "supervisor": spec["supervisor"] if spec else None,
                "running": bool(state and state.pid and proc.alive(state.pid, state.ticks)),
                "link": os.readlink(self.place.link) if os.path.islink(self.place.link) else None,
                "files": files,
                "unit": self.save_unit() if present() else None,
            },
            0o600,
        )

    def files(self):
        place = self.place
        return [place.spec, place.current, place.launcher, place.keeper, place.unit_text]

    def save_unit(self):
        ctl = Systemctl(user=os.geteuid() != 0)
        path = os.path.join(ctl.units, self.place.unit)
        drop_ins = os.path.isdir(path + ".d")
        if drop_ins:
            shutil.copytree(path + ".d", self.place.previous("drop-ins"))
        enabled = ctl.ask("is-enabled", self.place.unit)[1].strip() == "enabled"
        return {
            "path": path,
            "kept": keep(path, self.place.previous(), "unit"),
            "dropIns": drop_ins,
            "enabled": enabled,
        }

    def restore(self):
        """Puts everything back as `save` found it. It can be done again."""
        remove_file(self.place.reserve)
        saved = self.facts()
        for path in self.files():
            put_back(path, self.place.previous(os.path.basename(path)), saved["files"][os.path.basename(path)])
        if saved["link"] is None:
            remove_file(self.place.link)
        else:
            point(self.place.link, saved["link"])
        if saved["unit"] is not None:
            self.restore_unit(saved["unit"])

    def restore_unit(self, unit):
        ctl = Systemctl(user=os.geteuid() != 0)
        if unit["kept"] is None and not os.path.lexists(unit["path"]):
            return
        if not unit["enabled"]:
            ctl.ask("disable", self.place.unit)
        put_back(unit["path"], self.place.previous("unit"), unit["kept"])
        shutil.rmtree(unit["path"] + ".d", ignore_errors=True)
        if unit["dropIns"]:
            shutil.copytree(self.place.previous("drop-ins"), unit["path"] + ".d")
        ctl.tell("daemon-reload")
        if unit["enabled"]:
            ctl.tell("reenable", self.place.unit)


def keep_room(path):
    """Takes room on the disk that the way back will have, even if the new server fills what is left."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.posix_fallocate(handle, 0, ROOM)
    finally:
        os.close(handle)


def point(link, target):
    """Makes a symbolic link by rename: there is no moment without one."""
    beside = link + ".new"
    remove_file(beside)
    os.symlink(target, beside)
    os.replace(beside, link)


def keep(path, folder, name=None):
    """Copies a file, or notes a link; None when there is nothing."""
    if os.path.islink(path):
        return {"target": os.readlink(path)}
    if not os.path.exists(path):
        return None
    seen = os.stat(path)
    with open(path, "rb") as file:
        atomic_write(os.path.join(folder, name or os.path.basename(path)), file.read(), 0o600)
    return {"mode": seen.st_mode & 0o7777, "uid": seen.st_uid, "gid": seen.st_gid}


def put_back(path, copy, kept):
    if kept is None:
        remove_file(path)
    elif "target" in kept:
        point(path, kept["target"])
    else:
        with open(copy, "rb") as file:
            atomic_write(path, file.read(), kept["mode"], kept["uid"], kept["gid"])
