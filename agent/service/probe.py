"""Asks a server over HTTP, as its clients do."""

import http.client
import json
import socket

from agent.fault import Fault

#: Long enough for a /health that generates a token by itself, each second anew.
PATIENCE = 30


def reached_at(address):
    """The address at which the host itself reaches a server that listens on `address`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(address, address)


class Probe:
    """One server: `address` and `port` as it listens; `key` is its API key or None; `path` its ready route or None."""

    def __init__(self, address, port, key=None, path=None):
        self.address = reached_at(address)
        self.port = port
        self.key = key
        self.path = path

    def ready(self, timeout):
        """(yes, why): whether the ready route says 200. Without a path that is /ready, else /health."""
        paths = [self.path] if self.path else ["/ready", "/health"]
        for path in paths:
            try:
                status, _ = self.ask("GET", path, timeout)
            except (OSError, http.client.HTTPException) as error:
                return False, "does not listen yet" if isinstance(error, ConnectionRefusedError) else "%s: %s" % (
                    path,
                    error or type(error).__name__,
                )
            if status == 404 and path != paths[-1]:
                continue
            return status == 200, "%s says %d" % (path, status)

    def token(self, timeout):
        """Has one token generated; returns when it is there. Faults: no-token; OSError while it does not answer."""
        body = {"input_ids": [1], "sampling_params": {"max_new_tokens": 1, "temperature": 0}}
        status, answer = self.ask("POST", "/generate", timeout, body)
        if status == 503:
            raise ConnectionError("/generate says 503")
        if status != 200 or not has_token(answer):
            raise Fault(
                "no-token",
                "the server is up but generates no token: /generate says %d" % status,
                where="http://%s:%d/generate" % (self.address, self.port),
                found="%d %s" % (status, answer[:300].decode("utf-8", "replace")),
                expected="200 and one token",
                remedy="set `ready: {token: false}` if this server does not generate (embeddings, a follower node)",
            )

    def ask(self, method, path, timeout, body=None):
        """(status, body); at most 64 kB of it."""
        connection = http.client.HTTPConnection(self.address, self.port, timeout=timeout)
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self.key is not None:
            headers["Authorization"] = "Bearer " + self.key
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(65536)
        except socket.timeout:
            raise TimeoutError("no answer within %g s" % timeout)
        finally:
            connection.close()


def has_token(answer):
    """Whether a reply of /generate holds at least one token."""
    try:
        value = json.loads(answer.decode("utf-8"))
    except ValueError:
        return False
    value = value[0] if isinstance(value, list) and value else value
    if not isinstance(value, dict):
        return False
    meta = value.get("meta_info") or {}
    return bool(value.get("output_ids") or meta.get("completion_tokens") or value.get("text"))
