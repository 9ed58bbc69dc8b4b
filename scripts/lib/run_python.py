"""Runs unittest files side by side, each in a process of its own, and ends with one line of counts.

    run_python.py JOBS FILE...

A file that passes is one line; one that does not is shown in full. Every ten seconds it is said what is at work.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import threading
import time

# A file that hangs is ended after so many seconds, and counts as failed.
LONGEST = 1500
SECONDS_BETWEEN_LINES = 10


class Result:
    """One file's counts, read from unittest's own summary; a run that ends without one counts as one failure."""

    def __init__(self, file, output, status, seconds):
        self.file, self.output, self.seconds = file, output, seconds
        ran = number(r"^Ran (\d+) test", output)
        self.skipped = number(r"skipped=(\d+)", output)
        self.failed = number(r"failures=(\d+)", output) + number(r"errors=(\d+)", output)
        # 5: every test of the file was skipped, or there is none.
        if status not in (0, 5) and not self.failed:
            self.failed = 1
        self.passed = max(0, ran - self.failed - self.skipped)
        self.reasons = re.findall(r"skipped ['\"](.+)['\"]$", output, re.MULTILINE)


def number(pattern, text):
    found = re.findall(pattern, text, re.MULTILINE)
    return int(found[-1]) if found else 0


def run(file, at_work):
    began = time.monotonic()
    at_work[file] = began
    try:
        command = [sys.executable, "-m", "unittest", "-v", file]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LONGEST)
        output, status = done.stdout.decode("utf-8", "replace"), done.returncode
    except subprocess.TimeoutExpired as error:
        output, status = (error.stdout or b"").decode("utf-8", "replace") + "\nended after %d s" % LONGEST, 1
    finally:
        del at_work[file]
    return Result(file, output, status, time.monotonic() - began)


def tell_what_is_at_work(at_work, over):
    while not over.wait(SECONDS_BETWEEN_LINES):
        files = ["%s (%d s)" % (file, time.monotonic() - began) for file, began in sorted(at_work.items())]
        print("  … %s" % ", ".join(files), flush=True)


def show(result):
    if result.failed:
        print(result.output, flush=True)
    counts = (result.passed, result.failed, result.skipped, result.seconds)
    print("%s %s: %d passed, %d failed, %d skipped (%.1f s)" % (("✖" if result.failed else "✔", result.file) + counts))
    for reason in sorted(set(result.reasons)):
        print("  skipped: %s" % reason)
    sys.stdout.flush()


def main(jobs, files):
    at_work, over, results = {}, threading.Event(), []
    threading.Thread(target=tell_what_is_at_work, args=(at_work, over), daemon=True).start()
    # The longest first, those on hosts and then the largest: one that is begun last would be waited for alone.
    files = sorted(files, key=lambda file: ("/hosts/" not in file, -os.path.getsize(file)))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(run, file, at_work) for file in files]):
            results.append(future.result())
            show(results[-1])
    over.set()
    counts = [sum(getattr(result, name) for result in results) for name in ("passed", "failed", "skipped")]
    print("python: %d passed, %d failed, %d skipped" % tuple(counts))
    return 1 if counts[1] else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
