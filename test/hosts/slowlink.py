"""Delay and loss on the link to one host, in user space, because not every kernel has sch_netem.

    slowlink.py HOST ADDRESS LEADER MS LOSS    each way; LEADER: a process in the host's network, LOSS in percent

Two tun devices, one here (slow-HOST) and one in the host (slow0), with /32 routes over them, so that the addresses stay
the same. Devices and routes end with the process. Prints `up` when the packets go this way.
"""

import ctypes
import fcntl
import heapq
import itertools
import os
import random
import select
import struct
import subprocess
import sys
import time

from settings import GATEWAY

TUNSETIFF, TUN_NO_PI, CLONE_NEWNET = 0x400454CA, 0x1001, 0x40000000


def tun(name, peer, own):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), TUN_NO_PI))
    for args in (["link", "set", name, "up"], ["route", "replace", f"{peer}/32", "dev", name, "src", own]):
        subprocess.run(["ip", *args], check=True)
    return device


def enter_network(process):
    with open(f"/proc/{process}/ns/net") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns", namespace.name)


def read_all(device):
    try:
        while True:
            yield os.read(device, 65536)
    except BlockingIOError:
        return


def forward(here, there, delay, loss):
    other, queue, order = {here: there, there: here}, [], itertools.count()
    while True:
        wait = max(0, queue[0][0] - time.monotonic()) if queue else None
        for device in select.select([here, there], [], [], wait)[0]:
            for packet in read_all(device):
                if random.random() >= loss:
                    heapq.heappush(queue, (time.monotonic() + delay, next(order), other[device], packet))
        while queue and queue[0][0] <= time.monotonic():
            _, _, device, packet = heapq.heappop(queue)
            try:
                os.write(device, packet)
            except OSError:
                # A device that is full drops the packet, as a router does.
                continue


def main():
    host, address, leader, milliseconds, percent = sys.argv[1:]
    here = tun(f"slow-{host}", address, GATEWAY)
    enter_network(leader)
    there = tun("slow0", GATEWAY, address)
    print("up", flush=True)
    forward(here, there, float(milliseconds) / 1000, float(percent) / 100)


if __name__ == "__main__":
    main()
