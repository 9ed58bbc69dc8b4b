"""The scheduler and the detokenizer: processes of their own, as SGLang has them, that each request passes through."""

import ctypes
import fcntl
import logging
import os
import signal
import socket
import time

from sglang.srt.environ import envs

logger = logging.getLogger(__name__)
libc = ctypes.CDLL(None)
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
# A child that left the group outlives its server; not for ever, so that a test leaves nothing for good.
ORPHAN_SECONDS = 120


def set_title(title):
    """What `ps` shows: SGLang's children wipe their command line in the same way."""
    libc.prctl(PR_SET_NAME, title.encode(), 0, 0, 0)
    with open("/proc/self/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    if end > start:
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, title.encode(), min(len(title), end - start - 1))


def take_gpu_memory():
    """An exclusive lock that lives as long as this process stands for the memory of the GPU."""
    path = envs.STANDIN_GPU_LOCK.get()
    if path is None:
        return None
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        logger.error("Scheduler hit an exception: torch.OutOfMemoryError: CUDA out of memory.")
        os._exit(1)
    return lock


def _serve(title, parent, upstream, downstream):
    set_title(title)
    lock = take_gpu_memory() if title.startswith("sglang::scheduler") else None
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    left = envs.STANDIN_SETSID_CHILDREN.get()
    if left:
        os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN if left else signal.SIG_DFL)
    downstream.sendall(b"up")
    while True:
        message = upstream.recv(4096)
        if not message:
            break
        if message == b"loaded" and not left:
            # Not before: SGLang's children that are still loading outlive a killed parent.
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:
                break
        downstream.sendall(message)
    if left:
        time.sleep(ORPHAN_SECONDS)
    del lock
    os._exit(0)


class Children:
    """Both processes and the ring of sockets: server -> scheduler -> detokenizer -> server."""

    def __init__(self):
        to_scheduler, scheduler_in = socket.socketpair()
        scheduler_out, detokenizer_in = socket.socketpair()
        detokenizer_out, from_detokenizer = socket.socketpair()
        ends = {
            "sglang::scheduler": (scheduler_in, scheduler_out),
            "sglang::detokenizer": (detokenizer_in, detokenizer_out),
        }
        everything = [to_scheduler, scheduler_in, scheduler_out, detokenizer_in, detokenizer_out, from_detokenizer]
        self._send, self._receive, self.pids = to_scheduler, from_detokenizer, {}
        self.ended = False
        parent = os.getpid()
        for title, own in ends.items():
            pid = os.fork()
            if pid == 0:
                for end in everything:
                    if end not in own:
                        end.close()
                _serve(title, parent, *own)
            self.pids[title] = pid
        for end in everything:
            if end not in (to_scheduler, from_detokenizer):
                end.close()
        self._expect(b"upup")

    def _expect(self, answer):
        got = b""
        while len(got) < len(answer):
            part = self._receive.recv(len(answer) - len(got))
            if not part:
                raise RuntimeError("Rank 0 scheduler is dead. Please check if there are relevant logs.")
            got += part

    def loaded(self):
        """The model is there: from now on the children die with the server."""
        self._send.sendall(b"loaded")
        self._expect(b"loaded")

    def generate(self):
        """One token through both processes; one caller at a time."""
        self._send.sendall(b"token")
        self._expect(b"token")

    def end(self):
        """As SGLang: kills what still is its child. A child that left the group is left alone."""
        self.ended = True
        if not envs.STANDIN_SETSID_CHILDREN.get():
            for pid in self.pids.values():
                try:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                except (ProcessLookupError, ChildProcessError):
                    pass
