"""Gate 4: the modules that the service needs are imported; everything that is missing is found in one go."""

import ast
import importlib
import importlib.util
import sys

from . import errors, requirers, shadows, standin, trace

# What `sglang.launch_server` itself imports only when it starts serving: a failure there would come after the switch.
LATER = {"sglang.launch_server": ["sglang.srt.entrypoints.http_server", "sglang.srt.managers.scheduler"]}
# With these it serves by other modules.
OTHER_WAYS = ("--encoder-only", "--grpc-mode", "--smg-grpc-mode", "--use-ray")
ROUNDS = 60


def source_of(module):
    """The source of a module that is not imported yet, None where there is none. Imports its parents."""
    spec = importlib.util.find_spec(module)
    if spec is None:
        raise ModuleNotFoundError("No module named %r" % module, name=module)
    get = getattr(spec.loader, "get_source", None)
    return get(module) if get else None


def guarded(source):
    """Whether a module does its work only as `__main__`, so that importing it starts nothing."""
    return any(isinstance(node, ast.Constant) and node.value == "__main__" for node in ast.walk(ast.parse(source)))


class Imports:
    """The gate at work: `problems` of this gate and of the origin gate (`hidden`), `notes`."""

    def __init__(self, job, places, tell, gate="imports"):
        self.gate = gate
        self.job = job
        self.places = places
        self.tell = tell
        self.standins = standin.StandIns()
        self.problems = []
        self.hidden = []
        self.notes = []
        self.seen = set()
        self.installed = None

    def run(self):
        self.launch(self.job["module"])
        for item in self.job["patched"]:
            if item.get("module"):
                self.attempt(item["module"], "patches")
        for name in self.job["imports"]:
            self.attempt(name, "the declared imports")

    def launch(self, module):
        """The launch module, without running it: under its own name, and only if that starts nothing."""
        if not self.attempt(module, "the service", self.import_launch):
            return
        if module in LATER and not any(flag in self.job["args"] for flag in OTHER_WAYS):
            for name in LATER[module]:
                if findable(name):
                    self.attempt(name, module)

    def import_launch(self, module):
        found = sys.modules.get(module) or importlib.util.find_spec(module)
        search = getattr(found, "__path__", None) or getattr(found, "submodule_search_locations", None)
        name = module + ".__main__" if search is not None else module
        source = source_of(name)
        if source is None or guarded(source):
            importlib.import_module(name)
        else:
            compile(source, name, "exec")
            self.notes.append("%s starts its work when it is imported, so it was only compiled" % name)

    def attempt(self, name, who, how=importlib.import_module):
        """Imports one module, as often as there are missing ones to stand in for. Whether it ended well."""
        for _ in range(ROUNDS):
            self.tell({"at": self.gate, "what": name})
            try:
                how(name)
                return True
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                if not self.missing(error, who):
                    return False
        return False

    def missing(self, error, who):
        """Records one failure. Whether a stand-in was put in, and it is worth another try."""
        name = errors.missing(error)
        if name is None or name in self.standins.names:
            self.record(errors.describe(error, self.job))
            return False
        hidden = shadows.hidden(name.split(".")[0], self.places)
        if hidden:
            self.record({"text": hidden}, self.hidden)
            return False
        top = name.split(".")[0]
        absent = top if not findable(top) else name
        self.record({"text": self.absence(absent, error, who), "missing": absent})
        self.standins.add(absent)
        return True

    def absence(self, name, error, who):
        places = trace.frames(error)
        where = (
            "%s:%d imports it (%s)" % (trace.short(places[-1][0]), places[-1][1], places[-1][2])
            if places
            else "wanted by " + who
        )
        patched = errors.in_patched(places, self.job)
        if patched:
            where = (
                "the patched " + where
                if patched == places[-1]
                else "%s, reached from the patched %s:%d" % (where, trace.short(patched[0]), patched[1])
            )
        if self.installed is None:
            self.installed = requirers.distributions()
        top = name.split(".")[0]
        if "." in name:
            owner = requirers.owner(top, self.installed)
            holder = "%s %s" % owner[:2] if owner else top
            return "%s is not in %s (%s): %s" % (
                name,
                holder,
                trace.short(getattr(sys.modules.get(top), "__file__", None) or top),
                where,
            )
        found = requirers.wanted(top, self.installed)
        if found["present"]:
            return "%s is missing although %s %s is installed by its metadata: %s" % (
                name,
                found["distribution"],
                found["present"],
                where,
            )
        if found["wants"]:
            text, by = found["wants"][0]
            return "%s is not installed: %s; %s requires %s" % (name, where, by, text)
        return "%s is not installed: %s; nothing that is installed requires a distribution of that name (%s?)" % (
            name,
            where,
            found["distribution"],
        )

    def record(self, problem, into=None):
        if problem["text"] in self.seen:
            return
        self.seen.add(problem["text"])
        if self.standins.names and "missing" not in problem and into is None:
            problem["text"] += " (seen with stand-ins for %s: may follow from it)" % ", ".join(
                sorted(self.standins.names)
            )
        (self.problems if into is None else into).append(problem)


def findable(name):
    """Whether a module of this name is there, without a stand-in's help."""
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:  # loaded, without a spec
        return name in sys.modules
    except Exception:  # its parent does not import: reported where that is the question
        return False
    return spec is not None and not isinstance(spec.loader, standin.StandIns)
