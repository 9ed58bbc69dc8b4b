"""What `service.activate` is asked for, and the spec that follows from it on this host."""

import glob
import os
import secrets as randomness

from agent.fault import Fault
from agent.files import read_json
from agent.service import spec as specs
from agent.service.account import account
from agent.service.patched import locate
from agent.service.redact import secret_values
from agent.service.switch import write_private

FIELDS = ("service", "venv", "release", "env", "spec", "secrets", "gates", "drain", "ready")
READY = {"timeout": 1200, "stable": 10, "token": True, "path": None}


class Wish:
    """One wished activation, looked up on the host: the release and the variables must be there."""

    def __init__(self, place, args):
        self.place = place
        self.asked = {name: args.get(name) for name in FIELDS}
        self.ready = dict(
            READY, **{name: value for name, value in (args.get("ready") or {}).items() if value is not None}
        )
        self.patched = (args.get("gates") or {}).get("patched") or []
        self.account = account(self.declared.get("user"), self.declared.get("group"))
        self.variables = self.staged()
        self.config = None

    @property
    def declared(self):
        return self.asked["spec"]

    @property
    def release(self):
        return self.place.layout.release(self.asked["venv"], self.asked["release"])

    def staged(self):
        """The staged variables. Faults: no-release, no-env."""
        if not os.path.exists(os.path.join(self.release, "bin", "python")):
            raise Fault(
                "no-release",
                "there is no release %s of venv %s on this host" % (self.asked["release"], self.asked["venv"]),
                where=self.release,
                found="nothing",
                expected="a whole release",
                remedy="run `up` without --target, so that the venv is made first",
            )
        if self.asked["env"] is None:
            return {}
        path = self.place.variables(self.asked["env"])
        kept = read_json(path)
        if kept is None:
            raise Fault(
                "no-env",
                "the environment %s of service %s is not on this host" % (self.asked["env"], self.place.name),
                where=path,
                found="nothing",
                expected="staged variables",
                remedy="run `up` without --target, so that it is staged first",
            )
        return kept["variables"]

    def spec(self, venv=None):
        """The launcher's spec, with paths through the stable link, or through `venv`."""
        return specs.build(self.place, self.asked, self.account, self.variables, venv or self.place.link, self.config)

    def write_config(self):
        """Puts the keys into a file of the service's user, and keeps the old file when it says the same.

        Its name is random: a digest of the keys would show in `ps`.
        """
        text = specs.config_text(self.asked["secrets"])
        if text is None:
            self.config = None
            return
        data = text.encode("utf-8")
        for path in glob.glob(glob.escape(self.place.dir) + "/config-*.yaml"):
            with open(path, "rb") as file:
                if file.read() == data and os.fstat(file.fileno()).st_uid == self.account.uid:
                    self.config = path
                    return
        self.config = self.place.config(randomness.token_hex(4))
        write_private(self.config, data, {"uid": self.account.uid, "gid": self.account.gid})

    def hidden(self):
        """What must not be shown of this service, old or new."""
        old = read_json(self.place.spec) or {"environ": {}}
        return sorted(
            secret_values(self.asked["secrets"], self.variables) | secret_values({}, old["environ"]) | old_keys(old)
        )

    def located(self):
        """The patched files that the gates look at, each with where this release has it."""
        return [
            dict(item, file=locate(self.release, item["path"])) if item.get("path") else item for item in self.patched
        ]

    def candidate(self):
        """What the gates try: the same process, from the release's own path."""
        spec = self.spec(self.release)
        return {
            "python": spec["argv"][0],
            "site": specs.site_packages(self.release),
            "env": spec["environ"],
            "cwd": spec["cwd"],
            "user": self.declared.get("user"),
            "group": self.declared.get("group"),
            "limits": spec["limits"],
            "module": self.declared["module"],
            "args": spec["argv"][3:],
            "release": self.release,
            "gates": dict(self.asked["gates"] or {}, patched=self.located()),
            "hide": self.hidden(),
            "first": not os.path.exists(self.place.current),
            "report": self.place.gates,
        }


def old_keys(spec):
    try:
        return {key for key in [specs.api_key(spec.get("config"))] if key}
    except OSError:
        return set()
