"""The content store: files by the sha256 of their bytes. What is in it under a name is that content, or is not in it."""

import contextlib
import fcntl
import hashlib
import os

from agent import partial
from agent.counted import counted
from agent.fault import Fault
from agent.files import explained, free_bytes, sha256_file, sync_folder
from agent.root import prepare_root
from agent.tidy import remove_tree

CHUNK = 1 << 20
#: Mode of what may hold a secret.
PRIVATE = 0o400
#: More contents than these are made to outlive a power cut all at once: each by itself would take minutes. Who reads one hashes it anyway.
SEVERAL = 100


def missing(request):
    """`store.missing`: those of `args["sha256"]` that are not there, or no longer hold what their name says; `begun`: bytes of them that came before a cut."""
    wanted, folder = request.args["sha256"], request.layout.at("store", "incoming")
    absent = []
    for number, sha256 in enumerate(wanted):
        request.check()
        if number and not number % 100:
            request.progress("checked %d of %s" % (number, counted(len(wanted), "content")))
        if not has(request.layout, sha256):
            absent.append(sha256)
    begun = {sha256: size for sha256, size in ((one, partial.begun(folder, one)) for one in absent) if size}
    return {"missing": absent, "begun": begun} if begun else {"missing": absent}


def has(layout, sha256):
    """Whether the store holds this content. Its bytes are hashed: a name alone proves nothing."""
    return sha256_file(layout.content(sha256)) == sha256


def require(layout, wanted, whose):
    """Fault `missing-content` with all of `wanted` that the store does not hold; `whose` says for what they are needed."""
    absent = sorted({sha256 for sha256 in wanted if not has(layout, sha256)})
    if absent:
        raise Fault(
            "missing-content",
            "%d content(s) for %s are not in the store" % (len(absent), whose),
            where=layout.at("store"),
            found="not there: " + ", ".join(absent),
            remedy="run the command again: what is missing is sent first",
        )


def seal(layout, sha256):
    """Lets its owner alone read a content that an older version, or another sender, has put there for all."""
    with contextlib.suppress(FileNotFoundError):
        os.chmod(layout.content(sha256), PRIVATE)


def put(request):
    """`store.put`: takes the body apart into `args["contents"]` ([{sha256, size, from?, private?}]). Faults: `no-space`, `bad-content`.

    from: the first bytes of it are here already, as `missing` said, and only the rest is in the body. private: its owner alone may read it.
    """
    layout, contents = request.layout, request.args["contents"]
    place = layout.at("store")
    needed = sum(content["size"] - content.get("from", 0) for content in contents)
    if needed != request.body_size:
        raise Fault("bad-content", "the contents add up to %d bytes, the body has %d" % (needed, request.body_size))
    free = free_bytes(place)
    if needed > free:
        raise Fault(
            "no-space",
            "no space left for %d content(s) in %s" % (len(contents), place),
            where=place,
            found="%d bytes free" % free,
            expected="%d bytes" % needed,
            remedy="free space there, or choose another root",
        )
    try:
        prepare_root(layout)
        with incoming(place) as folder:
            # What goes into a tree at once is hashed there; nobody need wait for the disk.
            lasting = request.args.get("lasting", True)
            several = len(contents) > SEVERAL
            for content in contents:
                request.check()
                _receive(request, folder, content, lasting and not several)
            if lasting and several:
                os.sync()
    except OSError as error:
        raise explained(error, error.filename or place, needed) from error
    return {"stored": len(contents)}


def get(request):
    """`store.get`: the bytes of one content, or of a list of them one after the other, before the result {size}. Fault `missing-content`.

    from: {sha256: byte} of those that are wanted from there on.
    """
    wanted = request.args["sha256"]
    wanted, starts = wanted if isinstance(wanted, list) else [wanted], request.args.get("from", {})
    require(request.layout, wanted, "store.get")
    size = 0
    for sha256 in wanted:
        with open(request.layout.content(sha256), "rb") as stream:
            stream.seek(starts.get(sha256, 0))
            for part in iter(lambda: stream.read(CHUNK), b""):
                request.check()
                request.reply(part)
                size += len(part)
    return {"size": size}


@contextlib.contextmanager
def incoming(place):
    """A folder for files that are not complete yet. What dead writers left in it goes, as soon as nobody is writing."""
    folder = os.path.join(place, "incoming")
    os.makedirs(folder, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for path in (os.path.join(folder, name) for name in os.listdir(folder)):
                if not partial.is_fresh(path) or partial.is_over(path, place):
                    remove_tree(path)
        # Shared among writers: each one keeps the others from being tidied away.
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield folder
    finally:
        os.close(handle)


def _receive(request, folder, content, sync):
    """One content from the body: to a temporary file, hashed on the way, and renamed when it is what it should be."""
    sha256, left = content["sha256"], content["size"] - content.get("from", 0)
    temporary, stream, digest = _begin(request, folder, content)
    try:
        with stream:
            while left:
                part = request.body.read(min(CHUNK, left))
                digest.update(part)
                stream.write(part)
                left -= len(part)
            os.fchmod(stream.fileno(), PRIVATE if content.get("private") else 0o444)
            stream.flush()
            if sync:
                os.fsync(stream.fileno())
            if digest.hexdigest() == sha256:
                keep(request.layout, temporary, sha256)
        if digest.hexdigest() != sha256:
            raise Fault(
                "bad-content",
                "a content arrived with other bytes than announced",
                where=request.layout.content(sha256),
                found=digest.hexdigest(),
                expected=sha256,
                remedy="run the command again: the file changed while it was read",
            )
    except BaseException as error:
        # A full disk needs the room; of a line that was cut the next sender goes on.
        if not left or isinstance(error, OSError) or not partial.is_worth(temporary):
            remove_tree(temporary)
        raise
    if sync:
        sync_folder(os.path.dirname(request.layout.content(sha256)))


def _begin(request, folder, content):
    """(path, stream, digest) of a content that is to be written from its byte `from` on."""
    sha256, start = content["sha256"], content.get("from", 0)
    begun = partial.open_part(folder, sha256, start) if content["size"] >= partial.LEAST else None
    if begun is not None:
        return (partial.path_of(folder, sha256),) + begun
    if start:
        raise Fault(
            "bad-content",
            "what had arrived of a content is gone, or somebody else goes on with it",
            where=partial.path_of(folder, sha256),
            expected="%d bytes" % start,
            remedy="run the command again",
        )
    temporary = os.path.join(folder, "%s.%d.%x" % (sha256, os.getpid(), id(request)))
    return temporary, open(temporary, "xb", opener=partial.private), hashlib.sha256()


def keep(layout, temporary, sha256):
    """Gives a complete file its place in the store, by the hash of its bytes."""
    target = layout.content(sha256)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.replace(temporary, target)
