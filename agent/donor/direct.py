"""`donor.direct`: files of a donor, fetched by this host itself over its own ssh, so that they do not take the way through the control machine."""

from agent import store
from agent.counted import counted
from agent.donor.session import Session
from agent.fault import Fault
from agent.request import Request
from agent.venv import space
from agent.venv.copying import Meter


def direct(request):
    """Brings those of `args["files"]` ([{place, sha256, size, from?}]) that the store lacks from the venv `args["venv"]`; {taken, bytes}.

    args: `ssh`: where the donor is, as this host's ssh takes it; `command`: what starts an agent there, with `python`, if one is named. Faults: `direct-unreachable`, those of
    `donor.get` and of `store.put`.
    """
    args = request.args
    files = list({one["sha256"]: one for one in args["files"]}.values())
    size = sum(one["size"] - one.get("from", 0) for one in files)
    space.require(request.layout.root, size, len(files), "%s of %s" % (counted(len(files), "file"), args["ssh"]))
    meter = Meter("from %s by ssh" % args["ssh"], size, request.progress, request.check)
    wanted = [dict({"place": one["place"], "size": one["size"]}, **_from(one)) for one in files]
    with Session(args["ssh"], args["command"], args.get("python") or "") as session:
        body = _Body(session.get(args["venv"], wanted), meter)
        contents = [dict({"sha256": one["sha256"], "size": one["size"]}, **_from(one)) for one in files]
        put = dict(root=args["root"], contents=contents, lasting=False)
        try:
            store.put(Request(put, body, size, cancelled=_Cancelled(request)))
        except Fault as fault:
            raise _changed(args, fault) or fault
    return {"taken": len(files), "bytes": size}


def _from(one):
    return {"from": one["from"]} if one.get("from") else {}


def _changed(args, fault):
    """The Fault of a file that came with other bytes than the donor's look had; None for any other one."""
    place = next((one["place"] for one in args["files"] if one["sha256"] == fault.more.get("expected")), None)
    if fault.code != "bad-content" or place is None:
        return None
    return Fault(
        "donor-changed",
        "the donor was changed while its files were fetched",
        where="%s:%s: %s" % (args["ssh"], args["venv"], place),
        found=fault.more["found"],
        expected=fault.more["expected"],
        remedy="run the command again: it looks at the donor anew",
    )


class _Cancelled:
    """What the caller of the one request gives up, the other gives up too."""

    def __init__(self, request):
        self._request = request

    def is_set(self):
        return self._request.cancelled()


class _Body:
    """Pieces as a stream of bytes."""

    def __init__(self, pieces, meter):
        self._pieces = pieces
        self._meter = meter
        self._rest = b""

    def read(self, size):
        while not self._rest:
            self._rest = next(self._pieces)
            self._meter.add(len(self._rest))
        part, self._rest = self._rest[:size], self._rest[size:]
        return part
