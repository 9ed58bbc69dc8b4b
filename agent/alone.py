"""Programs that stand alone on a host: some modules of the agent as one file, which imports nothing of it."""

import re

OURS = re.compile(r"^from agent\.\S+ import [\w, ]+\n", re.MULTILINE)


def assembled(names, source):
    """The text of modules in one; `source(name)` gives the text of each.

    What they import of each other comes before them in `names`, by its own name (`from agent.x import y`, on one line).
    """
    text = "\n".join(OURS.sub("", source(name)) for name in names)
    if re.search(r"^\s*(from|import) agent\b", text, re.MULTILINE):
        raise ValueError("one of %s imports more of the agent" % ", ".join(names))
    return text
