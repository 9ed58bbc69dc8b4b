"""Frames on the wire: two lengths (uint32, big endian), a JSON text, a body. See docs/protocol.md."""

import json
import struct
import threading

HEAD = struct.Struct(">II")
CHUNK = 1 << 20


class FrameError(Exception):
    """The stream does not hold a frame where one should begin."""


def read_frame(stream):
    """The next (header, body) of a binary stream, or None at its end."""
    head = _exactly(stream, HEAD.size)
    if head is None:
        return None
    length, size = HEAD.unpack(head)
    # Larger than any frame of ours: the two ends have lost step, and memory must not pay for it.
    if size > CHUNK or length > 64 * CHUNK:
        raise FrameError("frame of %d + %d bytes" % (length, size))
    text = _exactly(stream, length)
    body = _exactly(stream, size) if size else b""
    if text is None or body is None:
        raise FrameError("the stream ends inside a frame")
    return json.loads(text.decode("utf-8")), body


def _exactly(stream, size):
    """`size` bytes; None when the stream ends before the first of them."""
    parts, left = [], size
    while left:
        part = stream.read(left)
        if not part:
            if left == size:
                return None
            raise FrameError("the stream ends inside a frame")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


class FrameWriter:
    """Writes whole frames to one stream, whichever thread they come from."""

    def __init__(self, stream):
        self._stream = stream
        self._turn = threading.Lock()

    def write(self, header, body=b""):
        text = json.dumps(header, separators=(",", ":")).encode("utf-8")
        with self._turn:
            self._stream.write(HEAD.pack(len(text), len(body)) + text)
            if body:
                self._stream.write(body)
            self._stream.flush()
