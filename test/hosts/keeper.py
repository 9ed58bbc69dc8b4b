"""Keeps one host: its mounts, its machine and its slow link, and answers `hosts` on a socket. When it ends, nothing stays.

    keeper.py NAME

It runs in a mount namespace of its own, so that even a SIGKILL leaves no mount behind.
"""

import json
import os
import selectors
import signal
import socket
import subprocess
import sys

import limits
import network
import tree
from lock import lock
from machine import REBOOTED, Machine
from record import all_records, load


class Keeper:
    def __init__(self, record):
        self.record, self.machine = record, Machine(record)
        self.selector = selectors.DefaultSelector()
        self.leaving = False

    def run(self):
        tree.compose(self.record)
        self._listen()
        if self.record.owner is not None:
            self.selector.register(os.pidfd_open(self.record.owner), selectors.EVENT_READ, self._owner_ended)
        self._power_on()
        while not self.leaving:
            for key, _ in self.selector.select():
                key.data(key.fileobj)

    def _listen(self):
        # By a relative name: a socket's path has at most 107 bytes.
        os.chdir(self.record.folder)
        server = socket.socket(socket.AF_UNIX)
        server.bind("socket")
        server.listen()
        self.selector.register(server, selectors.EVENT_READ, self._answer)

    def _answer(self, server):
        client, _ = server.accept()
        with client:
            request = json.loads(client.makefile("r").readline())
            verb = {
                "status": self._status,
                "slow": self._slow,
                "power-off": self._power_off,
                "power-on": self._power_on,
            }
            verb.update({"reboot": self._reboot, "new-keys": self._new_keys, "down": self._down})
            try:
                reply = verb[request.pop("do")](**request) or {}
            except Exception as error:
                reply = {"error": str(error)}
            client.sendall(json.dumps(reply).encode() + b"\n")

    def _status(self):
        return {"running": self.machine.running(), "leader": self.machine.leader()}

    def _slow(self, milliseconds, percent):
        self.machine.make_slow(milliseconds, percent)

    def _power_on(self):
        if not self.machine.running():
            self.machine.start()
            self.selector.register(os.pidfd_open(self.machine.nspawn.pid), selectors.EVENT_READ, self._machine_ended)

    def _power_off(self):
        self.machine.power_off()

    def _reboot(self):
        self.machine.power_off()
        self._power_on()

    def _new_keys(self):
        tree.new_host_keys(self.record)

    def _down(self):
        self.leaving = True

    def _machine_ended(self, pidfd):
        self.selector.unregister(pidfd)
        os.close(pidfd)
        # Asked for by whoever runs on the host; a machine that was started again meanwhile has a pidfd of its own.
        if not self.machine.running():
            code = self.machine.nspawn.returncode
            self.machine.power_off()
            if code == REBOOTED:
                self._power_on()

    def _owner_ended(self, pidfd):
        self.selector.unregister(pidfd)
        self.leaving = True

    def clean_up(self):
        self.machine.power_off()
        os.chdir("/")
        for at in ("opt/wheels", "opt/venv", ""):
            if os.path.ismount(self.record.root / at):
                subprocess.run(["umount", "--lazy", str(self.record.root / at)], check=False)
        # Not across a mount that would not go: what lies below it is shared.
        subprocess.run(["rm", "-rf", "--one-file-system", str(self.record.folder)], check=False)
        with lock():
            if not all_records():
                network.bridge_down()
                limits.restore_limits()


def main():
    keeper = Keeper(load(sys.argv[1]))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        keeper.run()
    finally:
        keeper.clean_up()


if __name__ == "__main__":
    main()
