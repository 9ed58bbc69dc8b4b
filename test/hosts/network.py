"""The bridge that the hosts hang on, their links, and their addresses."""

import socket
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


def claim_address(taken):
    """The lowest address that no host has, and what keeps it for as long as it is open, also from hosts of another state folder."""
    for address in (f"{NETWORK}.{number}" for number in ADDRESSES):
        holder = socket.socket(socket.AF_UNIX)
        try:
            if address not in taken:
                holder.bind(f"\0{BRIDGE} {address}")
                return address, holder
        except OSError:
            pass
        holder.close()
    raise SystemExit(
        f"hosts: all {len(ADDRESSES)} addresses of {NETWORK}.0/24 are taken; `hosts down` ends every host."
    )
