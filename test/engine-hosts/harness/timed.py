"""Times a server of this machine until it has answered one completion, and prints {"began": clock, "seconds": n}.

after PID PORT    from the exit of this process
start SPEC PORT   from its start by hand: what the launcher's spec says is started, and ended afterwards
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

verb, what, port = sys.argv[1:]
BODY = json.dumps({"model": "default", "prompt": "hello", "max_tokens": 1, "temperature": 0}).encode()


def answers():
    url = "http://127.0.0.1:%s/v1/completions" % port
    request = urllib.request.Request(url, BODY, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status == 200
    except OSError:
        return False


def gone(pid):
    try:
        with open("/proc/%s/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


server = None
if verb == "start":
    with open(what) as file:
        spec = json.load(file)
    begin = time.time()
    with open(os.devnull, "wb") as nothing:
        streams = {"stdin": subprocess.DEVNULL, "stdout": nothing, "stderr": nothing}
        server = subprocess.Popen(spec["argv"], env=spec["environ"], cwd=spec["cwd"], start_new_session=True, **streams)
else:
    while not gone(what):
        time.sleep(0.02)
    begin = time.time()
while not answers():
    if server and server.poll() is not None:
        sys.exit("the server that was started by hand ended: %s" % server.returncode)
    time.sleep(0.1)
print(json.dumps({"began": begin, "seconds": time.time() - begin}))
if server:
    server.send_signal(signal.SIGTERM)
    try:
        server.wait(30)
    finally:
        os.killpg(server.pid, signal.SIGKILL) if server.poll() is None else None
