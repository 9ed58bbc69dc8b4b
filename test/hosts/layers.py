"""Read-only layers that all hosts share: the Debian tree, what makes hosts of it, and what makes a venv run on them."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from settings import BASE_SEED, KEY, PACKAGES, PASSWORD, STATE, SUITE

PROVISION = Path(__file__).resolve().parent / "provision.sh"


def client_key():
    """Makes the key that logs in on every host, once; returns the public half."""
    if not KEY.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test-hosts", "-f", str(KEY)], check=True)
    return KEY.with_suffix(".pub").read_text().strip()


def base_tree():
    """The bare Debian tree: SGLANG_TEST_BASE if it is set, else made by debootstrap, once."""
    if BASE_SEED:
        if not os.path.exists(f"{BASE_SEED}/etc/os-release"):
            raise SystemExit(f"hosts: SGLANG_TEST_BASE={BASE_SEED} is no Debian tree: it has no etc/os-release.")
        return Path(BASE_SEED)
    base = STATE / "base"
    if not base.exists():
        print(
            f"making a Debian {SUITE} tree in {base} by debootstrap, once (2 min, 400 MB)", file=sys.stderr, flush=True
        )
        new = STATE / f"base.new-{os.getpid()}"
        log = STATE / "debootstrap.log"
        with open(log, "wb") as out:
            command = ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(new)]
            done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT)
        if done.returncode:
            shutil.rmtree(new, ignore_errors=True)
            last = "\n".join(log.read_text(errors="replace").splitlines()[-5:])
            raise SystemExit(f"hosts: debootstrap failed ({done.returncode}); its log is {log} and ends with:\n{last}")
        new.rename(base)
    return base


def host_layer():
    """Base tree with users, sshd and units; a layer of its own by the digest of what made it. Lowest layer last."""
    base, key = base_tree(), client_key()
    made_of = f"{base}\n{key}\n{PASSWORD}\n".encode() + PROVISION.read_bytes()
    layer = STATE / f"layer-{hashlib.sha256(made_of).hexdigest()[:12]}"
    if not layer.exists():
        print("preparing users and sshd of the test hosts, once", file=sys.stderr, flush=True)
        new = STATE / f"layer.new-{os.getpid()}"
        for part in ("up", "work", "mnt"):
            (new / part).mkdir(parents=True)
        # In a mount namespace of its own, so that nothing stays mounted whatever happens in it.
        steps = (
            'set -e; mount -t overlay layer -o "lowerdir=$1,upperdir=$2/up,workdir=$2/work" "$2/mnt"; '
            'mount --bind /dev "$2/mnt/dev"; exec chroot "$2/mnt" /bin/sh -s < "$3"'
        )
        command = [
            "unshare",
            "-m",
            "--propagation",
            "private",
            "/bin/sh",
            "-c",
            steps,
            "sh",
            str(base),
            str(new),
            str(PROVISION),
        ]
        environment = {"PATH": os.environ["PATH"], "KEY": key, "PASSWORD": PASSWORD}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(new, ignore_errors=True)
            raise SystemExit(f"hosts: preparing {base} failed ({done.returncode}):\n{done.stderr.strip()}")
        (new / "up").rename(layer)
        shutil.rmtree(new, ignore_errors=True)
    return [layer, base]


def venv_layers(venv):
    """The venv itself, below a layer that lets the host's own python3 run it. Lowest layer last."""
    venv, base = Path(venv).resolve(), base_tree()
    ours = sorted(path.name for path in (base / "usr/lib").glob("python3.*"))
    theirs = sorted(path.name for path in (venv / "lib").glob("python3.*"))
    if not theirs or theirs[0] not in ours:
        raise SystemExit(
            f"hosts: {venv} is for {theirs or 'no python at all'}, the hosts have {ours}: its packages would not import there."
        )
    fix = STATE / f"venv-{theirs[0]}"
    if not fix.exists():
        new = STATE / f"venv.new-{os.getpid()}"
        (new / "bin").mkdir(parents=True)
        (new / "bin/python").symlink_to("/usr/bin/python3")
        for name in ("python3", theirs[0]):
            (new / "bin" / name).symlink_to("python")
        version = theirs[0][len("python") :]
        (new / "pyvenv.cfg").write_text(
            f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {version}.0\n"
        )
        new.rename(fix)
    return [fix, venv]
