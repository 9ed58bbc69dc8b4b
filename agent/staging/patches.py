"""`patch.stage`, `patch.remove`: which files of which packages a venv is to get, by the hash of their content."""

from agent.claims import claim
from agent.files import write_json
from agent.lock import locked
from agent.staging import staged
from agent.staging.forget import forget
from agent.store import require


def stage(request):
    """Notes the patches of a venv, in order. Their contents must be in the store already: Fault `missing-content` names all that are not."""
    args, layout = request.args, request.layout
    with locked(request, "staging patches of %s" % args["venv"]):
        claim(layout, args["claim"])
        require(layout, [patch["sha256"] for patch in args["patches"]], "the patches of %s" % args["venv"])
        wish = {"owner": args["claim"]["owner"], "digest": args["digest"], "patches": args["patches"]}
        write_json(layout.venv(args["venv"], "patches.json"), wish)
    return staged.patches(layout, args["venv"])


def remove(request):
    """Forgets the patches of a venv. Releases that were made with them keep them."""
    path = request.layout.venv(request.args["claim"]["name"], "patches.json")
    return forget(request, "patches", path)
