"""What a loading server says of itself, as a short text. Pure."""

import re

#: In the order in which SGLang logs them; the newest that matches counts.
_SIGNS = [
    (re.compile(r"server_args="), "reads its arguments"),
    (re.compile(r"Init (torch distributed|parallel) begin"), "sets up its ranks"),
    (re.compile(r"Load weight begin"), "loads weights"),
    (
        re.compile(r"(?:Loading safetensors|Multi-thread loading|Loading pt)[^\r\n]*?(\d+)%[^\r\n]*?(\d+/\d+)"),
        "loads weights, {0} % ({1})",
    ),
    (re.compile(r"Load weight end"), "has its weights"),
    (re.compile(r"KV Cache is allocated"), "allocated its cache"),
    (re.compile(r"Capture .*graph begin"), "captures graphs"),
    (re.compile(r"Capturing batches[^\r\n]*?(\d+)%"), "captures graphs, {0} %"),
    (re.compile(r"Capture .*graph end"), "captured graphs"),
    (re.compile(r"Uvicorn running on"), "listens, and warms up"),
    (re.compile(r"fired up and ready to roll"), "says that it is ready"),
]


def stage_of(text):
    """The newest loading stage in a piece of log, or None."""
    for line in reversed(re.split(r"[\r\n]+", text)):
        for sign, name in _SIGNS:
            match = sign.search(line)
            if match:
                return name.format(*match.groups())
    return None
