"""Stands in for python3 on a host and notes what the agent is told and what it says: /var/tmp/tap/<pid>.in, .out and .peak."""

import os
import subprocess
import sys
import threading

FOLDER = "/var/tmp/tap"


def pump(source, target, copy):
    while True:
        chunk = source.read1(65536)
        if not chunk:
            break
        copy.write(chunk)
        copy.flush()
        target.write(chunk)
        target.flush()
    target.close()


def peak(pid):
    """Most memory that a process has had, in kB."""
    try:
        with open("/proc/%d/status" % pid) as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0


if sys.argv[1] != "-B":
    os.execv("/usr/bin/python3", ["python3", *sys.argv[1:]])
os.makedirs(FOLDER, exist_ok=True)
place = os.path.join(FOLDER, str(os.getpid()))
agent = subprocess.Popen(["/usr/bin/python3", *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
with open(place + ".in", "wb") as heard, open(place + ".out", "wb") as said:
    threading.Thread(target=pump, args=(sys.stdin.buffer, agent.stdin, heard), daemon=True).start()
    speaker = threading.Thread(target=pump, args=(agent.stdout, sys.stdout.buffer, said))
    speaker.start()
    most = 0
    while speaker.is_alive():
        most = max(most, peak(agent.pid))
        speaker.join(0.02)
with open(place + ".peak", "w") as file:
    file.write(str(most))
sys.exit(agent.wait())
