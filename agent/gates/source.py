"""The source of our own modules, for the interpreters that we start: they know nothing of the agent's files."""
import importlib.util


def source(name):
    """The source text of one module of the agent, wherever the agent was loaded from."""
    return importlib.util.find_spec(name).loader.get_source(name)


INSIDE = "agent.gates.inside"
PARTS = (
    "asserts", "environment", "errors", "flags", "flagsource", "imports", "interpreter", "main", "origin", "places", "requirers",
    "shadows", "standin", "trace",
)


def inside():
    """{module name below `agent.gates.inside`: source}, with "" for the package itself."""
    return dict({part: source(INSIDE + "." + part) for part in PARTS}, **{"": source(INSIDE)})
