"""Which TCP ports are listened on, as the kernel lists them. Asked by each look, so that it imports nothing."""

_LISTEN = "0A"
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


def rows(port):
    """[(table, address in the kernel's hex, inode)] of the sockets that listen on `port`; table: 0 = IPv4, 1 = IPv6."""
    found = []
    for table, path in enumerate(_TABLES):
        try:
            with open(path) as lines:
                fields = [line.split() for line in lines][1:]
        except OSError:
            continue
        for row in fields:
            address, _, number = row[1].partition(":")
            if row[3] == _LISTEN and int(number, 16) == port:
                found.append((table, address, int(row[9])))
    return found
