"""Stands in for python3 on a host: swallows the answer to the operation that DROP names, as a connection that is lost just then."""

import json
import os
import struct
import subprocess
import sys
import threading

DROP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "drop")
awaited = set()


def frame(source):
    """(header, bytes) of the next frame; bytes are empty at the end."""
    sizes = source.read(8)
    if len(sizes) < 8:
        return {}, b""
    text, body = struct.unpack(">II", sizes)
    header = source.read(text)
    return json.loads(header.decode()), sizes + header + source.read(body)


def dropped():
    """The operation whose answer is to be lost; None when none is."""
    try:
        with open(DROP) as file:
            return file.read()
    except FileNotFoundError:
        return None


def hear(source, target, bundle):
    target.write(source.read(bundle))
    target.flush()
    while True:
        header, data = frame(source)
        if not data:
            target.close()
            return
        if header.get("op") is not None and header["op"] == dropped():
            awaited.add(header["id"])
        target.write(data)
        target.flush()


def say(source, target):
    line = b""
    while not line.startswith(b"@sglang-ready"):
        line = source.readline()
        target.write(line)
        target.flush()
    while True:
        header, data = frame(source)
        if not data:
            return
        if header.get("id") in awaited and "result" in header:
            os.unlink(DROP)
            os._exit(255)
        target.write(data)
        target.flush()


if sys.argv[1] != "-B":
    os.execvp("python3", ["python3", *sys.argv[1:]])
agent = subprocess.Popen(["python3", *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
threading.Thread(target=hear, args=(sys.stdin.buffer, agent.stdin, int(sys.argv[-1])), daemon=True).start()
say(agent.stdout, sys.stdout.buffer)
os._exit(agent.wait())
