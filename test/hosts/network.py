"""The bridge that the hosts hang on, their links, and their addresses."""

import subprocess
from pathlib import Path

from settings import ADDRESSES, BRIDGE, GATEWAY, NETWORK


def _ip(*args, check=True):
    return subprocess.run(["ip", *args], check=check, capture_output=True, text=True)


def link_name(host):
    """The device on this machine that leads to the host."""
    return f"vb-{host}"


def bridge_up():
    """Makes the bridge if it is not there."""
    if not Path(f"/sys/class/net/{BRIDGE}").exists():
        _ip("link", "add", BRIDGE, "type", "bridge")
        _ip("addr", "add", f"{GATEWAY}/24", "dev", BRIDGE)
    _ip("link", "set", BRIDGE, "up")


def bridge_down():
    """Takes the bridge away, unless a host hangs on it that somebody else keeps."""
    ports = Path(f"/sys/class/net/{BRIDGE}/brif")
    if ports.exists() and not any(ports.iterdir()):
        _ip("link", "del", BRIDGE, check=False)


def set_link(host, up):
    """Cuts the link (packets vanish, nobody is told) or restores it."""
    _ip("link", "set", link_name(host), "up" if up else "down")


def free_address(taken):
    """The lowest address of the network that no host has."""
    for number in ADDRESSES:
        if f"{NETWORK}.{number}" not in taken:
            return f"{NETWORK}.{number}"
    raise SystemExit(
        f"hosts: all {len(ADDRESSES)} addresses of {NETWORK}.0/24 are taken; `hosts down` ends every host."
    )
