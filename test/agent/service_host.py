"""A root of its own with releases of the stand-in SGLang, for the tests of services: everything real, all of it here."""

import http.client
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time

from agent.fault import Fault
from agent.files import write_json
from agent.layout import Layout
from agent.request import Request
from agent.service import activate, look, proc, recover, remove, supervisors, systemctl
from agent.service.place import Place
from test.agent.cut import cut

STANDIN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "standin", "src")
#: The interpreter of the releases (the stand-in needs 3.9 or newer), which need not be the agent's.
PYTHON = os.path.realpath(
    os.environ.get("SGLANG_TEST_RELEASE_PYTHON")
    or os.path.join(sys.base_prefix, "bin", "python%d.%d" % sys.version_info[:2])
)
SITE = os.path.join("lib", os.path.basename(PYTHON), "site-packages")

#: The supervisor that the tests are run with; `systemd` on a test host.
KIND = os.environ.get("SGLANG_TEST_SUPERVISOR", "process")


class ServiceHost:
    """One root below a directory of its own, with releases r1 and r2 of venv `v` and service `s`."""

    def __init__(self, top=None):
        self.top = top or os.path.realpath(tempfile.mkdtemp(prefix="service-"))
        os.chmod(self.top, 0o755)
        self.layout = Layout(os.path.join(self.top, "root"))
        self.place = Place(self.layout, "s")
        self.port = free_port()
        self.model = os.path.join(self.top, "model")
        os.mkdir(self.model)
        self.owner = "owner-1"
        self.progress = []
        for release in ("r1", "r2"):
            self.release(release)
        self.variables("e1", {})

    @classmethod
    def there(cls, top, port):
        """One that was made before, by another process."""
        host = cls.__new__(cls)
        host.top, host.port, host.owner, host.progress = top, port, "owner-1", []
        host.layout = Layout(os.path.join(top, "root"))
        host.place = Place(host.layout, "s")
        host.model = os.path.join(top, "model")
        return host

    def release(self, name, patch=None, start=""):
        """Makes a release; `patch`: text of `sglang/srt/answer.py`; `start`: statements of one line that are run before it serves."""
        path = self.layout.release("v", name)
        site = os.path.join(path, SITE)
        os.makedirs(os.path.join(path, "bin"))
        os.symlink(PYTHON, os.path.join(path, "bin", "python"))
        with open(os.path.join(path, "pyvenv.cfg"), "w") as file:
            file.write("home = %s\n" % os.path.dirname(PYTHON))
        shutil.copytree(STANDIN, site, ignore=shutil.ignore_patterns("__pycache__"))
        if patch is not None:
            self.write(os.path.join(site, "sglang/srt/answer.py"), patch)
        if start:
            launch = os.path.join(site, "sglang/launch_server.py")
            with open(launch) as file:
                text = file.read()
            main = 'if __name__ == "__main__":\n'
            self.write(launch, text.replace(main, main + "    " + start + "\n"))
        return site

    @staticmethod
    def write(path, text):
        with open(path, "w") as file:
            file.write(text)

    def variables(self, env, values):
        write_json(self.place.variables(env), {"variables": values}, 0o600)
        write_json(self.place.at("env.json"), {"owner": "owner-e", "id": env})

    def args(self, release="r1", env="e1", **more):
        spec = {
            "module": "sglang.launch_server",
            "args": ["--model-path", self.model, "--port", str(self.port)],
            "address": "127.0.0.1",
            "port": self.port,
            "modelPath": self.model,
            "user": None,
            "group": None,
            "workingDirectory": None,
            "limits": {},
            "supervisor": KIND,
            "log": None,
            "stopTimeout": 10,
        }
        spec.update(more.pop("spec", {}))
        args = {
            "root": self.layout.root,
            "service": "s",
            "venv": "v",
            "release": release,
            "env": env,
            "spec": spec,
            "secrets": {},
            "gates": {"imports": [], "patched": [], "asserts": [], "flags": True, "timeout": 60},
            "drain": None,
            "ready": {"timeout": 30, "stable": 0.3, "token": True, "path": None},
            "claim": {"kind": "service", "name": "s", "owner": self.owner, "urn": "urn:test"},
        }
        for name, value in more.items():
            args[name] = (
                dict(args[name], **value) if isinstance(args[name], dict) and isinstance(value, dict) else value
            )
        return args

    def activate(self, release="r1", cancelled=None, **more):
        request = Request(self.args(release, **more), progress=self.progress.append, cancelled=cancelled)
        return activate.activate(request)

    def fails(self, *args, **more):
        """The Fault of an activation that must fail."""
        try:
            self.activate(*args, **more)
        except Fault as fault:
            return fault
        raise AssertionError("the activation did not fail")

    def cut(self, stage, event="begin", **how):
        """Within it, a started activation kills itself once at that line of its journal: see `cut.cut`."""
        unit = self.place.activation_unit if KIND == "systemd" else None
        return cut(self.top, unit, stage, event, **how)

    def look(self):
        return look.services(self.layout, {"uid": os.geteuid(), "systemd": KIND == "systemd"})["s"]

    def remove(self):
        args = {
            "root": self.layout.root,
            "claim": {"kind": "service", "name": "s", "owner": self.owner, "urn": "urn:test"},
        }
        return remove.remove(Request(args, progress=self.progress.append))

    def pid(self):
        return self.supervisor().state().pid

    def supervisor(self):
        return supervisors.supervisor(self.place, KIND)

    def text(self):
        """What the server that runs answers, or None."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request(
                "POST", "/generate", json.dumps({"input_ids": [1], "sampling_params": {"max_new_tokens": 1}})
            )
            return json.loads(connection.getresponse().read().decode()).get("text")
        except OSError:
            return None
        finally:
            connection.close()

    def processes(self):
        """Pids of everything that runs from below this root."""
        found = []
        for pid in proc.table():
            words = " ".join(proc.cmdline(pid))
            environ = proc.environ(pid) or {}
            if self.top in words or any(self.top.encode() in value for value in environ.values()):
                found.append(pid)
        return [pid for pid in found if pid != os.getpid() and proc.alive(pid)]

    def end(self):
        """As `close`, where what keeps the service may be beyond being asked: all is killed first."""
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        self.close()

    def close(self):
        """Ends what still runs and removes the root."""
        if KIND == "systemd":
            recover.disable(self.place)
            systemctl.Systemctl().ask("stop", self.place.activation_unit)
        try:
            self.supervisor().stop(1)
            self.supervisor().uninstall()
        except Fault:
            pass
        for pid in self.processes():
            os.kill(pid, 9)
        shutil.rmtree(self.top, ignore_errors=True)


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def eventually(check, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return True
        time.sleep(0.05)
    return False


def in_background(act):
    """Runs act in a thread; its outcome is in the list that is returned once it has ended."""
    outcome = []

    def work():
        try:
            outcome.append(act())
        except Fault as fault:
            outcome.append(fault)

    thread = threading.Thread(target=work)
    thread.start()
    return thread, outcome
