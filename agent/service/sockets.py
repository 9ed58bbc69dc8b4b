"""Who listens on a TCP port."""

import contextlib
import ipaddress
import os
import socket

from agent.service import proc, v6only
from agent.service.listening import rows


def listeners(port):
    """[(address, inode)] of the sockets that listen on `port`, as ipaddress objects."""
    return [(_address(table, address), inode) for table, address, inode in rows(port)]


def _address(table, text):
    """The kernel prints addresses as 32-bit words in the machine's byte order."""
    raw = b"".join(bytes.fromhex(text[at : at + 8])[::-1] for at in range(0, len(text), 8))
    return _plain(ipaddress.ip_address(raw if table else raw[:4]))


def _plain(address):
    """An IPv4 address is the same one through a socket of IPv6 (`::ffff:127.0.0.1`): Java servers have all theirs so."""
    return getattr(address, "ipv4_mapped", None) or address


def _resolved(wanted):
    """The addresses that a text or a name stands for; None when nobody knows."""
    try:
        found = {info[4][0].partition("%")[0] for info in socket.getaddrinfo(wanted, None)}
        return {_plain(ipaddress.ip_address(address)) for address in found}
    except (OSError, ValueError):
        return None


def _meet(one, other, alone):
    """Whether a listener on `other` keeps another from `one`. On `::` it has all of IPv4 as well, unless it is of IPv6 alone."""
    if one.version == other.version:
        return one == other or one.is_unspecified or other.is_unspecified
    return not alone and any(each.is_unspecified and each.version == 6 for each in (one, other))


def _in_the_way(port, address):
    """Inodes of the listeners that keep another one from `address:port`."""
    found, wanted = listeners(port), _resolved(address)
    if wanted is None:
        return {inode for _, inode in found}
    alone = v6only.inodes() if any(listening.version == 6 for listening, _ in found) else set()
    return {inode for listening, inode in found if any(_meet(one, listening, inode in alone) for one in wanted)}


def holders(address, port):
    """Pids whose sockets keep `address:port`; (pids, unknown): how many sockets belong to nobody that we may see."""
    inodes = _in_the_way(port, address)
    if not inodes:
        return [], 0
    wanted = {"socket:[%d]" % inode for inode in inodes}
    pids, seen = [], set()
    for pid in sorted(proc.table()):
        held = wanted & _sockets(pid)
        if held:
            pids.append(pid)
            seen |= held
    return pids, len(wanted - seen)


def _sockets(pid):
    found = set()
    with contextlib.suppress(OSError):
        for fd in os.listdir("/proc/%d/fd" % pid):
            with contextlib.suppress(OSError):
                found.add(os.readlink("/proc/%d/fd/%s" % (pid, fd)))
    return found


def ephemeral():
    """First and last port of those that the kernel gives to outgoing connections."""
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
            low, high = file.read().split()
            return int(low), int(high)
    except (OSError, ValueError):
        return 32768, 60999
