"""From the declared process to the file that the launcher runs."""

import json
import os

from agent.fault import Fault
from agent.service.environment import environment, site_packages

FORMAT = 1

#: What RDMA, NCCL and many connections need; as far as the host allows, and for what is not declared otherwise.
LIMITS = {"nofile": "1048576", "memlock": "infinity", "stack": "67108864"}


def build(place, wish, account, variables, venv, config=None):
    """The launcher's spec, complete: argv, environ, cwd, ids, limits, and what is needed to stop and to ask it.

    `wish`: {venv, release, spec: the process as declared}. `venv`: path that argv and environment name (the stable link; a
    gate gives its candidate). `config`: path of the file with the keys, or None.
    """
    declared = wish["spec"]
    limits = dict(declared.get("limits") or {})
    release = place.layout.release(wish["venv"], wish["release"])
    site = os.path.join(venv, os.path.relpath(site_packages(release), release))
    args = list(declared["args"])
    if config is not None:
        if any(arg == "--config" or arg.startswith("--config=") for arg in args):
            raise Fault(
                "config-twice",
                "service %s has an API key and a `--config` of its own" % place.name,
                where="--config",
                found="--config among the arguments",
                expected="one configuration file: SGLang reads only one",
                remedy="move what that file sets into `flags`, or the key into that file",
            )
        args += ["--config", config]
    return {
        "format": FORMAT,
        "service": place.name,
        "venv": wish["venv"],
        "release": wish["release"],
        "argv": [os.path.join(venv, "bin", "python"), "-m", declared["module"]] + args,
        "environ": environment(account, variables, venv, site),
        "cwd": declared.get("workingDirectory") or place.work,
        "account": account.name,
        "user": declared.get("user"),
        "group": declared.get("group"),
        "uid": account.uid,
        "gid": account.gid,
        "groups": list(account.groups),
        "limits": limits,
        "wishes": {name: value for name, value in LIMITS.items() if name not in limits},
        "supervisor": declared["supervisor"],
        "log": log_of(place, declared),
        "stopTimeout": declared["stopTimeout"],
        "address": declared["address"],
        "port": declared["port"],
        "modelPath": declared.get("modelPath"),
        "shareGpus": bool(declared.get("shareGpus")),
        "takeOverPort": bool(declared.get("takeOverPort")),
        "config": config,
    }


def log_of(place, declared):
    """The log file; None = the journal of systemd."""
    return declared.get("log") or (place.log if declared["supervisor"] == "process" else None)


#: What a running process cannot be given afterwards; a difference in the rest needs no restart.
_BORN_WITH = ("venv", "release", "argv", "environ", "cwd", "uid", "gid", "groups", "limits", "supervisor", "log")


def needs_restart(old, new):
    """Names of the fields in which a process that runs by `old` is not what `new` says."""
    return [field for field in _BORN_WITH if old.get(field) != new.get(field)]


def config_text(secrets):
    """SGLang's `--config` YAML with the keys; a JSON string is a YAML string. None when there is no key."""
    lines = [
        "%s: %s\n" % (flag, json.dumps(secrets[name], ensure_ascii=False))
        for name, flag in (("apiKey", "api-key"), ("adminApiKey", "admin-api-key"))
        if (secrets or {}).get(name)
    ]
    return "".join(lines) or None


def api_key(config):
    """The key that clients need, from a file that `config_text` wrote; None when there is none."""
    if config is None:
        return None
    with open(config, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("api-key: "):
                return json.loads(line[len("api-key: ") :])
    return None
