"""Who listens on a TCP port."""

import contextlib
import ipaddress
import os
import socket

from agent.service import proc
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


def collides(listening, wanted):
    """Whether a listener on one address keeps another from the same port. `wanted`: text, or a name that resolves."""
    try:
        found = {info[4][0].partition("%")[0] for info in socket.getaddrinfo(wanted, None)}
        return any(_meet(_plain(ipaddress.ip_address(address)), listening) for address in found)
    except (OSError, ValueError):
        return True


def _meet(one, other):
    """Whether two listeners get into each other's way. `::` may be all of IPv4 as well: the kernel does not list whether it is."""
    alike = one.version == other.version
    return one == other or any(each.is_unspecified and (alike or each.version == 6) for each in (one, other))


def holders(address, port):
    """Pids whose sockets keep `address:port`; (pids, unknown): how many sockets belong to nobody that we may see."""
    inodes = {inode for listening, inode in listeners(port) if collides(listening, address)}
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
