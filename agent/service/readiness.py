"""Waits until a started process serves, and keeps serving."""

import http.client
import threading
import time

from agent.fault import Fault
from agent.service import proc
from agent.service.logs import last_lines
from agent.service.probe import PATIENCE, Probe
from agent.service.progress import stage_of
from agent.service.spec import api_key
from agent.service.state import State

POLL = 0.2
#: Seconds between two questions to the supervisor while the process is alive.
ASK = 1.0
#: Seconds within which the supervisor has to know how a process ended that is no more.
LATE = 5.0


class Readiness:
    """One start of a service, watched.

    spec: the launcher's; ready: {timeout, stable, token, path}; mark: the log's end before the start;
    say(text): where it stands.
    """

    def __init__(self, spec, ready, supervisor, mark, say):
        self.spec = spec
        self.timeout = ready.get("timeout", 1200)
        self.window = ready.get("stable", 10)
        self.wants_token = ready.get("token", True)
        self.probe = Probe(spec["address"], spec["port"], api_key(spec["config"]), ready.get("path"))
        self.supervisor = supervisor
        self.log = supervisor.log(spec)
        self.begin = mark
        self.mark = mark
        self.say = say
        self.stage = "has started"
        self.born = None
        self.asked = 0.0

    def wait(self):
        """Returns the state once the process has said ready and generated one token. Faults: exited, not-ready, no-token."""
        end = time.monotonic() + self.timeout
        while True:
            self.check_alive()
            self.read_log()
            yes, why = self.probe.ready(max(1.0, min(PATIENCE, end - time.monotonic())))
            if yes:
                break
            self.check_time(end, why)
            time.sleep(POLL)
        if self.wants_token:
            self.wait_token(end)
        self.check_alive()
        return self.born

    def wait_token(self, end):
        """A token request blocks while the engine loads, so it waits in a thread and the process is watched meanwhile."""
        self.say("is asked for a token")
        while True:
            outcome = self.attempt(end)
            if outcome is None:
                return
            if isinstance(outcome, Fault):
                raise self.with_log(outcome)
            self.check_time(end, str(outcome))
            time.sleep(POLL)

    def attempt(self, end):
        """One token request: None when it was answered, else the error. Faults: exited, not-ready."""
        outcome = []
        left = max(1.0, end - time.monotonic())
        thread = threading.Thread(target=lambda: outcome.append(error_of(self.probe, left)), daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(POLL)
            self.check_alive()
            self.read_log()
            self.check_time(end, "generates no token")
        return outcome[0]

    def keep(self):
        """Watches for the stable window: same process, no restart, and ready at its end. Faults: exited, not-ready."""
        end = time.monotonic() + self.window
        while time.monotonic() < end:
            self.say("stays up: %d s of %g s" % (self.window - (end - time.monotonic()), self.window))
            self.check_alive()
            time.sleep(POLL)
        yes, why = self.probe.ready(PATIENCE)
        self.check_alive()
        if not yes:
            raise self.with_log(
                Fault("not-ready", "the server was ready and no longer is: %s" % why, found=why, expected="200")
            )

    def expect(self, pid, ticks):
        """Goes on with a process that was seen before: another one is a failure."""
        self.stage = "was ready"
        self.born = State("running", pid, ticks, 0, None)
        self.check_alive()

    def age(self):
        """Seconds since the process was started."""
        return round(time.time() - proc.started(self.born.ticks), 3)

    def check_alive(self):
        """The main process must be the one that was started, from its first sight on."""
        if self.born and proc.alive(self.born.pid, self.born.ticks) and time.monotonic() < self.asked + ASK:
            return
        self.asked = time.monotonic()
        state = self.supervisor.state()
        if state.phase == "running" and state.restarts == 0 and (self.born is None or state.pid == self.born.pid):
            self.born = self.born or state
            return
        if state.phase == "starting" and self.born is None:
            return
        end = time.monotonic() + LATE
        while state.exit is None and time.monotonic() < end:
            # The supervisor sees its end a moment after it is over, on a busy host a longer one.
            time.sleep(POLL)
            state = self.supervisor.state()
        how = state.exit or "is gone"
        after = "" if self.born is None else " after %.1f s" % self.age()
        raise self.with_log(
            Fault(
                "exited",
                "the server %s%s (it %s)" % (how, after, self.stage),
                found=how,
                expected="a process that stays",
            )
        )

    def check_time(self, end, why):
        if time.monotonic() > end:
            raise self.with_log(
                Fault(
                    "not-ready",
                    "the server was not ready within %g s: it %s; %s" % (self.timeout, self.stage, why),
                    found=why,
                    expected="ready within %g s" % self.timeout,
                    remedy="raise `ready.timeout` if it needs longer to load",
                )
            )

    def read_log(self):
        text, self.mark = self.log.since(self.mark)
        stage = stage_of(text)
        if stage and stage != self.stage:
            self.stage = stage
            self.say(stage)

    def with_log(self, fault):
        """The fault with the last lines that this start has logged."""
        lines = last_lines(self.log.since(self.begin)[0])
        return Fault(fault.code, fault.message, **dict(fault.more, where=str(self.log), detail=lines or None))


def error_of(probe, timeout):
    """None for a token, else what kept it away."""
    try:
        probe.token(timeout)
    except (Fault, OSError, http.client.HTTPException) as error:
        return error
    return None
