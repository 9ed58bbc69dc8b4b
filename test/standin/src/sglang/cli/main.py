"""The console script: `sglang serve …` and `sglang version`."""

import sys

from sglang.version import __version__


def main():
    command, rest = (sys.argv[1:2] or [None])[0], sys.argv[2:]
    if command == "version":
        print(f"sglang version: {__version__}")
    elif command == "serve":
        from sglang.launch_server import run_server
        from sglang.srt.server_args import prepare_server_args

        run_server(prepare_server_args(rest))
    else:
        sys.exit("usage: sglang {serve,version} ...")
