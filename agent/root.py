"""The root folder itself: made with the first thing below it, gone with the last."""

import errno
import os
import threading

from agent.files import existing, explained, json_bytes, read_json, remove_file, write_json
from agent.tidy import remove_empty, remove_tree

# Requests of one agent come side by side, and the first ones all make the root.
_turn = threading.Lock()


def prepare_root(layout):
    """Makes the root if need be, and notes which folders did not exist before: they go with it. Fault `newer-format`."""
    with _turn:
        # Another agent may remove the root at any moment: then it is made anew.
        while not _prepared(layout):
            pass


def _prepared(layout):
    """One attempt; False when the root came or went meanwhile."""
    if os.path.exists(layout.format):
        read_json(layout.format)
        return True
    if os.path.isdir(layout.root):
        return _note(layout, [], os.link)
    made, above, stop = [], layout.root, existing(layout.root)
    while above != stop:
        made.append(above)
        above = os.path.dirname(above)
    # In one step: nobody finds a root of which nobody knows yet who made it.
    new = "%s.new.%d.%x" % (layout.root, os.getpid(), threading.get_ident())
    write_json(os.path.join(new, os.path.basename(layout.format)), {"made": made})
    try:
        os.rename(new, layout.root)
        return True
    except OSError as error:
        remove_tree(new)
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    # Another agent was faster, and may have found the folders above that were made here: they are ours to remove all the same.
    noted = read_json(layout.format)
    if noted is None:
        return False
    return len(made) <= len(noted.get("made", [])) or _note(layout, made, os.replace)


def _note(layout, made, put):
    """Notes in a root that is there which folders were made for it; never makes the root again. False when it could not."""
    folder, name = os.path.split(layout.format)
    temporary = os.path.join(folder, ".%s.%d.%x.tmp" % (name, os.getpid(), threading.get_ident()))
    try:
        with open(temporary, "xb") as stream:
            stream.write(json_bytes({"made": made}))
        put(temporary, layout.format)
    except (FileNotFoundError, FileExistsError):
        return False
    except OSError as error:
        raise explained(error, layout.format) from error
    finally:
        remove_file(temporary)
    return True


def leave_unused_root(layout):
    """Removes a root in which nothing is but what looking after it takes: nothing was put there, or nothing was there to remove."""
    if _is_unused(layout):
        leave_root(layout)


def leave_root(layout):
    """Removes what is ours below the root, once nothing there belongs to anyone, and the folders that we made. Call it under the lock."""
    made = (read_json(layout.format) or {}).get("made", [])
    for folder in ("store", "trees"):
        remove_tree(layout.at(folder))
    for folder in ("venvs", "services"):
        remove_empty(layout.at(folder))
    remove_file(layout.claims)
    if layout.root in made and _is_unused(layout):
        # In one step: whoever waits for the lock finds the root as it was, or none, and then makes it, and notes that, anew.
        gone = "%s.gone.%d" % (layout.root, os.getpid())
        os.rename(layout.root, gone)
        remove_tree(gone)
    else:
        remove_file(layout.format)
        remove_file(layout.lock)
    # The longest path comes first. A folder with something of others in it stays, and so does one that was there before us.
    for folder in made[1:]:
        remove_empty(folder)


def _is_unused(layout):
    return os.path.isdir(layout.root) and {layout.at(name) for name in os.listdir(layout.root)} <= {
        layout.lock,
        layout.format,
    }
