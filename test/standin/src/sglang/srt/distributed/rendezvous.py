"""How the nodes of one server find each other: all but the first connect to `--dist-init-addr`, where the first listens."""

import os
import socket
import time

NEVER = 10**9


def interface_missing():
    """Whether an interface is named that this host does not have; the real server then waits without a word."""
    named = os.environ.get("GLOO_SOCKET_IFNAME") or os.environ.get("NCCL_SOCKET_IFNAME")
    return named is not None and not os.path.exists(f"/sys/class/net/{named}")


def meet(server_args):
    """The open connections to the other nodes: of the first node to each, of another to the first. Waits for ever."""
    if server_args.nnodes == 1:
        return []
    if interface_missing():
        time.sleep(NEVER)
    host, port = server_args.dist_init_addr.rsplit(":", 1)
    if server_args.node_rank == 0:
        with socket.create_server(("", int(port))) as listener:
            return [listener.accept()[0] for _ in range(server_args.nnodes - 1)]
    while True:
        try:
            return [socket.create_connection((host, int(port)), timeout=5)]
        except OSError:
            time.sleep(0.1)
