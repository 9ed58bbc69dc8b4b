"""systemctl, asked and told; the only place that runs it."""

import os
import pwd
import subprocess

from agent.fault import Fault

#: What one look at a unit asks for.
PROPERTIES = [
    "Id",
    "LoadState",
    "ActiveState",
    "SubState",
    "MainPID",
    "NRestarts",
    "NeedDaemonReload",
    "UnitFileState",
    "FragmentPath",
    "DropInPaths",
    "ControlGroup",
    "ExecMainStatus",
    "ExecMainCode",
    "ExecMainExitTimestamp",
    "Result",
]


class Systemctl:
    """The system manager, or with `user` the agent's own user manager."""

    def __init__(self, user=False):
        self.user = user

    @property
    def units(self):
        """Directory of the unit files that are ours to write."""
        return os.path.expanduser("~/.config/systemd/user") if self.user else "/etc/systemd/system"

    def environ(self):
        env = dict(os.environ, LC_ALL="C", SYSTEMD_COLORS="0", SYSTEMD_PAGER="")
        if self.user:
            runtime = "/run/user/%d" % os.geteuid()
            env.setdefault("XDG_RUNTIME_DIR", runtime)
            env.setdefault("DBUS_SESSION_BUS_ADDRESS", "unix:path=%s/bus" % runtime)
        return env

    def ask(self, *words, timeout=90):
        """(exit, stdout, stderr) of `systemctl WORDS`."""
        argv = ["systemctl"] + (["--user"] if self.user else []) + ["--no-ask-password"] + list(words)
        return run(argv, self.environ(), timeout)

    def tell(self, *words, timeout=90):
        """`systemctl WORDS`; its stdout. Fault: systemctl."""
        exit, out, err = self.ask(*words, timeout=timeout)
        if exit != 0:
            raise Fault(
                "systemctl",
                "systemctl %s failed: %s" % (" ".join(words), (err or out).strip() or "exit %d" % exit),
                where=words[-1],
                found="exit %d" % exit,
                expected="exit 0",
            )
        return out

    def show(self, units):
        """Unit => its properties, by one call. Units that nobody knows have LoadState not-found."""
        if not units:
            return {}
        out = self.tell("show", "--property=" + ",".join(PROPERTIES), *units)
        return dict(zip(units, parse_show(out)))


def parse_show(text):
    """The blocks of `systemctl show` for several units, in order."""
    blocks = []
    for block in text.rstrip("\n").split("\n\n"):
        blocks.append({name: value for name, _, value in (line.partition("=") for line in block.split("\n"))})
    return blocks


def run(argv, env, timeout):
    """(exit, stdout, stderr) of a command that reads nothing. Fault: no-command, timeout."""
    try:
        done = subprocess.run(
            argv,
            env=env,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
    except FileNotFoundError:
        raise Fault("no-command", "%s is not installed on this host" % argv[0], found="not on PATH", expected=argv[0])
    except subprocess.TimeoutExpired:
        raise Fault(
            "timeout", "%s did not end within %d s" % (" ".join(argv), timeout), expected="an end within %d s" % timeout
        )
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def present():
    """Whether systemd is PID 1 and may be asked (sd_booted)."""
    return os.path.isdir("/run/systemd/system")


def version():
    """Number of the systemd that is installed; 0 when that cannot be told."""
    exit, out, _ = run(["systemctl", "--version"], dict(os.environ, LC_ALL="C"), 20)
    words = out.split()
    return int(words[1]) if exit == 0 and len(words) > 1 and words[1].isdigit() else 0


def lingers():
    """Whether the agent's user has a manager that outlives its logins; asks for one when not."""
    name = os.path.join("/var/lib/systemd/linger", _user())
    if not os.path.exists(name):
        run(["loginctl", "--no-ask-password", "enable-linger"], dict(os.environ, LC_ALL="C"), 20)
    return os.path.exists(name)


def runs_transient():
    """Whether systemd-run reaches the manager: a user's is reached by a bus, which minimal hosts lack."""
    return os.geteuid() == 0 or os.path.exists("/run/user/%d/bus" % os.geteuid())


def _user():
    return pwd.getpwuid(os.geteuid()).pw_name
