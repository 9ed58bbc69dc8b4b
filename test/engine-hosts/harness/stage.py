"""Waits until the activation after another one has begun a stage; prints true, or false when it ended without. SERVICE STAGE AFTER SECONDS"""

import json
import os
import sys
import time

service, wanted, after, seconds = sys.argv[1:]
folder = os.path.join(service, "activation")


def read(name):
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read()
    except OSError:
        return ""


def seen():
    """True, False, or None while nothing can be said."""
    job = read("job.json")
    if not job or json.loads(job)["id"] == after:
        return None
    ended = '"%s"' % json.loads(job)["id"] in read("result.json")
    lines = [json.loads(line) for line in read("journal.jsonl").split("\n") if line.endswith("}")]
    if any(line["stage"] == wanted and line["event"] == "begin" for line in lines):
        return True
    return False if ended else None


end = time.monotonic() + float(seconds)
answer = None
while answer is None and time.monotonic() < end:
    answer = seen()
    time.sleep(0.01)
print(json.dumps(bool(answer)))
