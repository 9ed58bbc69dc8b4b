"""Prints what the last activation of a service says about itself: {id, state, stage}, or null. Argument: the service's folder."""

import json
import os
import sys

folder = os.path.join(sys.argv[1], "activation")


def read(name):
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read()
    except OSError:
        return None


def stages():
    lines = [json.loads(line) for line in (read("journal.jsonl") or "").split("\n") if line.endswith("}")]
    return [line["stage"] for line in lines if line["event"] == "begin"]


def activation():
    job = read("job.json")
    if job is None:
        return None
    began, result = json.loads(job)["id"], json.loads(read("result.json") or "{}")
    ended = result.get("id") == began
    return {"id": began, "state": result["state"] if ended else "running", "stage": (["none"] + stages())[-1]}


if __name__ == "__main__":
    print(json.dumps(activation()))
