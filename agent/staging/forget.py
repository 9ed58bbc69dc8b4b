"""How everything staged is forgotten: the file that says what is wished, then what only that wanted, then the claim."""

import os

from agent.claims import owns, release_claim
from agent.files import read_json, remove_file
from agent.lock import locked
from agent.tidy import remove_empty


def forget(request, what, path, drop=lambda: None):
    """Answers a `….remove` of `what` (`patches`), whose wish is the file at `path`; what has another owner stays.

    drop(): takes away what nobody wants once that file is gone.
    """
    layout, wanted = request.layout, request.args["claim"]
    with locked(request, "removing %s of %s" % (what, wanted["name"])):
        if owns(layout, wanted, read_json(path)):
            remove_file(path)
            drop()
            remove_empty(os.path.dirname(path))
            release_claim(layout, wanted)
    return {}
