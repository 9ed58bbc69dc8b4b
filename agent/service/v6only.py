"""Which listeners are on IPv6 alone (IPV6_V6ONLY): only the kernel's sock_diag tells, to whoever asks; /proc/net/tcp6 does not."""

import contextlib
import socket
import struct

_NETLINK_SOCK_DIAG = 4
_BY_FAMILY, _ERROR, _DONE = 20, 2, 3
_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_DUMP
_LISTEN = 1 << 10
_HEAD = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
# struct inet_diag_msg: 72 bytes, the inode last.
_MESSAGE, _INODE = 72, struct.Struct("=I")
_SKV6ONLY = 11
_PATIENCE = 2


def inodes():
    """Inodes of the sockets that listen on IPv6 and on nothing of IPv4; empty where the kernel does not say (gVisor, a seccomp filter)."""
    found = set()
    with contextlib.suppress(OSError, struct.error), _asked() as link:
        while True:
            for kind, body in _messages(link.recv(1 << 16)):
                if kind in (_DONE, _ERROR):
                    return found
                if kind == _BY_FAMILY and _is_v6only(body):
                    found.add(_INODE.unpack_from(body, _MESSAGE - _INODE.size)[0])
    return found


@contextlib.contextmanager
def _asked():
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as link:
        link.settimeout(_PATIENCE)
        # struct inet_diag_req_v2, with an id that fits every socket.
        request = struct.pack("=BBBBI48x", socket.AF_INET6, socket.IPPROTO_TCP, 0, 0, _LISTEN)
        link.send(_HEAD.pack(_HEAD.size + len(request), _BY_FAMILY, _DUMP, 1, 0) + request)
        yield link


def _messages(data):
    at = 0
    while at + _HEAD.size <= len(data):
        length, kind = _HEAD.unpack_from(data, at)[:2]
        if length < _HEAD.size:
            return
        yield kind, data[at + _HEAD.size : at + length]
        at += _aligned(length)


def _is_v6only(body):
    at = _MESSAGE
    while at + _ATTRIBUTE.size <= len(body):
        length, kind = _ATTRIBUTE.unpack_from(body, at)
        if length < _ATTRIBUTE.size:
            return False
        if kind == _SKV6ONLY:
            return body[at + _ATTRIBUTE.size : at + length] == b"\1"
        at += _aligned(length)
    return False


def _aligned(length):
    return (length + 3) & ~3
