"""What lies beside a folder of ours and tells of it. The only place that knows these names.

`manifest`: each file by stat; `sums`: each file's sha256, as `sha256sum` writes it; `watched`: those whose content each look
compares; `stamps`: a cache of hashes, the one thing that a look may write.
"""

import os

from agent.files import remove_file

ENDINGS = (".manifest", ".sums", ".watched", ".stamps")


def manifest(top):
    return _beside(top, ".manifest")


def sums(top):
    return _beside(top, ".sums")


def watched(top):
    return _beside(top, ".watched")


def stamps(top):
    return _beside(top, ".stamps")


def facts(top):
    """The folder's own JSON file; without it the folder does not count."""
    return _beside(top, ".json")


def remove(top):
    """Removes all of it but the facts."""
    for ending in ENDINGS:
        remove_file(_beside(top, ending))


def _beside(top, ending):
    return os.path.normpath(top) + ending
