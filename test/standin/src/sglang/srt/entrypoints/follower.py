"""A node that is not the first: answers health checks and ends with the first node, whatever signal it gets."""

import logging
import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

logger = logging.getLogger(__name__)


class Health(BaseHTTPRequestHandler):
    def do_GET(self):
        known = self.path in ("/health", "/health_generate", "/ping")
        self.send_response(200 if known else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, form, *values):
        logger.info("%s - %s", self.address_string(), form % values)


def follow(server_args, first, children):
    server = ThreadingHTTPServer((server_args.host, server_args.port), Health)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    logger.info("Dummy health check server started in background thread at %s:%d", server_args.host, server_args.port)
    signal.signal(signal.SIGTERM, lambda *_: logger.info("SIGTERM received, waiting for the rank-0 ShutdownReq broadcast"))
    first.settimeout(None)
    first.recv(1)
    children.end()
    os._exit(0)
