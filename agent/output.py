"""What a short command of this host prints."""

import subprocess


def output(argv, seconds, environment=None):
    """Its standard output; "" where there is no such command, or it hangs. `environment`: exactly these variables; None = our own."""
    try:
        ran = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            env=environment,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return ran.stdout.decode("utf-8", "replace")
