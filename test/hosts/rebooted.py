"""Run inside a test host: an activation that stops at one point for good, and how its service stands after the reboot.

python3 -m test.hosts.rebooted begin STAGE EVENT     serves r1, begins to activate r2, returns once it has stopped there
python3 -m test.hosts.rebooted end                   waits until the activation has ended; prints how it stands, as JSON
python3 -m test.hosts.rebooted remove
"""

import json
import os
import sys

os.environ["SGLANG_TEST_SUPERVISOR"] = "systemd"

from agent.service import activation, working
from test.agent.service_host import ServiceHost, eventually, in_background

TOP = "/root/rebooted"
PORT = 30500


def begin(stage, event):
    os.mkdir(TOP)
    host = ServiceHost(TOP)
    host.port = PORT
    host.activate("r1")
    with host.cut(stage, event, before=True, pause=True) as mark:
        in_background(lambda: host.activate("r2"))
        if not eventually(lambda: os.path.exists(mark), 30):
            sys.exit("never came to %s of %s" % (event, stage))
    # Without a word to the activation, as if the host had gone.
    os._exit(0)


def end():
    host = ServiceHost.there(TOP, PORT)
    eventually(lambda: activation.status(host.place)[0] not in ("running", "interrupted"), 90)
    eventually(lambda: not working.held(host.place), 30)
    eventually(lambda: host.text() is not None, 30)
    facts = host.look()
    names = {name: facts[name] for name in ("running", "unit")}
    left = sorted(name for name in os.listdir("/etc/systemd/system") if name.startswith("sglang-"))
    print(
        json.dumps(
            dict(
                names,
                release=facts["process"] and facts["process"]["release"],
                current=facts["current"]["release"],
                activation=facts["activation"]["state"],
                text=host.text(),
                units=left,
                link=os.readlink(host.place.link),
            )
        )
    )


def remove():
    ServiceHost.there(TOP, PORT).close()


if __name__ == "__main__":
    {"begin": begin, "end": end, "remove": remove}[sys.argv[1]](*sys.argv[2:])
