"""The activation: from the old process to the new one, proven, or back. It runs on the host and needs nobody."""

import os
import traceback

from agent.fault import Fault
from agent.files import read_json, write_json
from agent.service import decision, outcome, recover
from agent.service.comeback import Comeback
from agent.service.committed import committed
from agent.service.found import found, members
from agent.service.hook import run_hook
from agent.service.ports import port_free
from agent.service.preflight import preflight
from agent.service.previous import Previous
from agent.service.proof import prove
from agent.service.readiness import Readiness
from agent.service.redact import redact
from agent.service.rollback import Rollback
from agent.service.supervisors import standing, supervisor
from agent.service.switch import switch


class Activation:
    """One activation. `place`, and `job` as `activate` wrote it; every stage is in the journal before and after."""

    def __init__(self, place, job, journal):
        self.place = place
        self.job = job
        self.spec = job["spec"]
        self.journal = journal
        self.previous = Previous(place)
        self.found = Comeback(place)
        self.supervisor = supervisor(place, self.spec["supervisor"])
        self.stage = None
        self.told = None
        self.cancelled = False

    def run(self):
        """Does what the journal says is to be done; returns when the activation has its result."""
        lines = self.journal.lines()
        what = decision.decide(lines, self.journal.boot)
        if lines:
            self.record(what.stage, "resume", action=what.action)
        if what.action == "run":
            self.forward(decision.FORWARD[0])
        elif what.action == "wait":
            self.forward("wait")
        elif what.action == "finish":
            self.forward("commit")
        elif what.action == "nothing":
            outcome.clean(self.place)
        else:
            fault = (
                decision.cause_of(lines)
                or Fault("interrupted", "the activation was cut in stage %s" % what.stage).report()
            )
            self.back(what, dict(fault, stage=fault.get("stage", what.stage)))

    def forward(self, first):
        stages = decision.FORWARD[decision.FORWARD.index(first) :]
        for stage in stages:
            fault = self.attempt(stage, getattr(self, stage))
            if fault is not None:
                self.back(decision.decide(self.journal.lines(), self.journal.boot), fault)
                return
        facts = self.facts()
        outcome.conclude(
            self,
            "committed",
            release=self.spec["release"],
            pid=facts["pid"],
            readyAfter=facts["readyAfter"],
            proof=facts["proof"],
        )

    def attempt(self, stage, act):
        """Runs one stage between its lines in the journal; the report of its fault, or None."""
        self.stage = stage
        try:
            self.record(stage, "begin")
            act()
        except Fault as fault:
            report = fault.report()
        except OSError as error:
            report = Fault("os-error", "%s: %s" % (error.filename or stage, error.strerror or error)).report()
        except Exception as error:
            report = Fault("bug", "%s: %s" % (type(error).__name__, error), detail=traceback.format_exc()).report()
        else:
            self.record(stage, "end")
            return None
        report = self.safe(dict(report, stage=stage))
        self.record(stage, "failed", fault=report)
        return report

    def record(self, stage, event, **more):
        """A line of the journal. On a full disk only the way forward ends: what the way back cannot note it does all the same."""
        try:
            self.journal.write(stage, event, **more)
        except OSError:
            if event == "begin" and stage in decision.FORWARD:
                raise

    def back(self, what, fault):
        """Ends in the old state: by leaving it alone, or by putting it back."""
        if what.action == "abort":
            restored = Rollback(self).leave(what)
            outcome.conclude(self, "failed", restored=restored, **fault)
        else:
            restored, whole = Rollback(self).run(what)
            outcome.conclude(self, "rolled-back" if whole else "failed", restored=restored, **fault)

    def preflight(self):
        self.check_cancel()
        ours = self.old_members()
        preflight(self.place, self.spec, ours + members(found(self.spec, ours)))

    def save(self):
        self.check_cancel()
        self.previous.save()
        taken = found(self.spec, self.old_members())
        if taken is not None:
            self.found.save(taken)
        recover.enable(self.place, self.job)

    def drain(self):
        self.check_cancel()
        drain = self.job["drain"]
        if drain and (self.previous.facts()["running"] or self.found.facts()):
            self.say("drains: %s" % drain["argv"][0])
            run_hook("drain", drain["argv"], drain.get("timeout", 60), self.place.dir, self.check_cancel)
            self.check_cancel()

    def stop(self):
        keeper, timeout = standing(self.place)
        if keeper is not None:
            self.say("stops the old server")
            keeper.stop(timeout)
            if self.previous.facts()["supervisor"] is None:
                # Its spec was lost: nobody can start it again, and what kept it must not.
                keeper.uninstall()
        taken = self.found.facts()
        if taken is not None:
            self.say("stops the server that was found there: %s" % taken["said"])
            self.found.stop(self.spec["stopTimeout"])
        # What stopped may not be all: a server that nobody kept any more would still hold the port.
        port_free(self.place, self.spec)

    def switch(self):
        switch(self.place, self.spec, self.previous.facts()["supervisor"])

    def start(self):
        mark = self.supervisor.log(self.spec).mark()
        self.note(mark=mark)
        self.say("starts")
        try:
            self.supervisor.start()
        except Fault as fault:
            raise self.readiness().with_log(fault)

    def wait(self):
        readiness = self.readiness()
        state = readiness.wait()
        self.note(pid=state.pid, ticks=state.ticks, readyAfter=readiness.age())

    def stable(self):
        self.born().keep()

    def prove(self):
        state = self.born().born
        self.note(proof=prove(self.place, self.spec, state, self.job["patched"]))

    def commit(self):
        write_json(self.place.current, committed(self.place, self.job, self.facts()["proof"]), 0o600)

    def old_members(self):
        keeper, _ = standing(self.place)
        return keeper.members() if keeper else []

    def readiness(self):
        return Readiness(self.spec, self.job["ready"], self.supervisor, self.facts()["mark"], self.say)

    def born(self):
        """The readiness of the process that `wait` saw: the same one, or Fault `exited`."""
        readiness, facts = self.readiness(), self.facts()
        readiness.expect(facts["pid"], facts["ticks"])
        return readiness

    def facts(self):
        """What earlier stages noted, also those of a run that was cut."""
        return read_json(self.place.activation("facts.json")) or {}

    def note(self, **facts):
        write_json(self.place.activation("facts.json"), dict(self.facts(), **facts), 0o600)

    def check_cancel(self):
        if os.path.exists(self.place.activation("cancel")):
            raise Fault("cancelled", "cancelled before anything that runs was touched")

    def say(self, text):
        text = self.safe(text)
        if text != self.told:
            self.told = text
            self.record(self.stage, "says", text=text)

    def safe(self, value):
        """Without the secrets of this service, whatever the value holds."""
        if isinstance(value, str):
            return redact(value, self.job["hide"])
        if isinstance(value, dict):
            return {key: self.safe(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.safe(item) for item in value]
        return value
