"""The server's life: load, listen, warm up, serve, end; with SGLang's log lines and exit codes."""

import dataclasses
import logging
import os
import signal
import sys
import threading
import time
from http.server import ThreadingHTTPServer
from socketserver import TCPServer

from sglang.srt.distributed.rendezvous import meet
from sglang.srt.entrypoints.follower import follow
from sglang.srt.entrypoints.routes import Routes
from sglang.srt.environ import envs
from sglang.srt.managers.children import Children

logger = logging.getLogger(__name__)
NEVER = 10**9


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, server_args, early):
        self.server_args, self.early = server_args, early
        self.up, self.paused, self.stopping = False, False, False
        self.started, self.load_seconds, self.running = time.time(), 0.0, 0
        self.children, self.loaded = None, threading.Event()
        self._one, self._count = threading.Lock(), threading.Lock()
        super().__init__((server_args.host, server_args.port), Routes)

    def server_bind(self):
        # Without the reverse look-up of http.server, which can take seconds where no resolver answers.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def accepts(self):
        return (self.up or self.early) and not self.stopping and not self.paused

    def generate(self):
        with self._count:
            self.running += 1
        try:
            self.loaded.wait()
            with self._one:
                self.children.generate()
        finally:
            with self._count:
                self.running -= 1


def load(server_args, children):
    """Takes STANDIN_READY_AFTER seconds, and says what SGLang says meanwhile."""
    started = time.monotonic()
    logger.info("Init parallel begin.")
    peers = meet(server_args)
    logger.info("Init parallel ends. elapsed=%.2f s", time.monotonic() - started)
    logger.info("Load weight begin. avail mem=16.00 GB")
    if server_args.model_path.startswith("/") and not os.path.exists(server_args.model_path):
        raise OSError(f"{server_args.model_path} is not a local folder and is not a valid model identifier")
    print("\rMulti-thread loading shards:   0% Completed | 0/1", end="", file=sys.stderr, flush=True)
    time.sleep(NEVER if envs.STANDIN_NEVER_READY.get() else envs.STANDIN_READY_AFTER.get())
    print("\rMulti-thread loading shards: 100% Completed | 1/1\n", end="", file=sys.stderr, flush=True)
    elapsed = time.monotonic() - started
    logger.info("Load weight end. elapsed=%.2f s, type=StandinForCausalLM, avail mem=15.00 GB", elapsed)
    logger.info("KV Cache is allocated. dtype: torch.bfloat16, #tokens: 4096, K size: 0.00 GB, V size: 0.00 GB")
    logger.info("Memory pool end. avail mem=15.00 GB")
    logger.info("max_total_num_tokens=%d, context_len=512", server_args.max_total_tokens or 4096)
    logger.info("Engine startup timings (s): load_weight=%.2f", elapsed)
    children.loaded()
    return elapsed, peers


def listen(server_args, early):
    try:
        server = Server(server_args, early)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server
    except OSError as error:
        address = (server_args.host, server_args.port)
        logger.error("[Errno %s] error while attempting to bind on address %r: %s", error.errno, address, error.strerror.lower())
        if envs.STANDIN_HANG_ON_PORT_TAKEN.get():
            time.sleep(NEVER)
        sys.exit(1)


def watch(children):
    """SGLang ends itself by SIGKILL when its scheduler is gone."""
    pid = children.pids["sglang::scheduler"]
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:
        return
    if children.ended:
        return
    logger.error("Subprocess scheduler_0 (pid=%d) crashed. Triggering SIGQUIT for cleanup...", pid)
    children.end()
    os.kill(os.getpid(), signal.SIGKILL)


def die(children, seconds):
    time.sleep(seconds)
    logger.error("Scheduler hit an exception: RuntimeError: STANDIN_DIE_AFTER=%s", seconds)
    children.end()
    os._exit(1)


def stop(server, slow):
    """Ends when no request runs; SGLang has no limit either."""
    logger.info("Gracefully exiting... Remaining number of requests %d.", server.running)
    while server.running:
        time.sleep(0.02)
    time.sleep(slow)
    server.shutdown()


def launch_server(server_args):
    logger.info("server_args=%r", dataclasses.asdict(server_args))
    code = envs.STANDIN_EXIT_AT_START.get()
    if code is not None:
        logger.error("Scheduler hit an exception: RuntimeError: STANDIN_EXIT_AT_START=%d", code)
        sys.exit(code)
    children = Children()
    early = envs.STANDIN_EARLY_GREEN.get()
    try:
        server = listen(server_args, early) if early else None
        seconds, peers = load(server_args, children)
        if server_args.node_rank > 0:
            follow(server_args, peers[0], children)
        server = server or listen(server_args, early)
    except BaseException:
        children.end()
        raise
    server.children, server.load_seconds = children, seconds
    logger.info("Uvicorn running on %s (Press CTRL+C to quit)", server_args.url())
    ended = threading.Event()

    def on_term(number, frame):
        if not server.stopping:
            server.stopping = True
            slow = 0.0 if number == signal.SIGINT else envs.STANDIN_SLOW_STOP.get()
            threading.Thread(target=lambda: (stop(server, slow), ended.set()), daemon=True).start()

    signal.signal(signal.SIGTERM, signal.SIG_IGN if envs.STANDIN_IGNORE_TERM.get() else on_term)
    signal.signal(signal.SIGINT, on_term)
    server.loaded.set()
    if not server_args.skip_server_warmup:
        server.generate()
        logger.info('127.0.0.1:0 - "POST /generate HTTP/1.1" 200 OK')
    server.up, server.early = True, False
    logger.info("The server is fired up and ready to roll!")
    watcher = threading.Thread(target=watch, args=(children,), daemon=True)
    watcher.start()
    if envs.STANDIN_DIE_AFTER.get() is not None:
        threading.Thread(target=die, args=(children, envs.STANDIN_DIE_AFTER.get()), daemon=True).start()
    while not ended.wait(3600):
        pass
    children.end()
    for peer in peers:
        peer.close()
    os._exit(0)
